import type { FastifyRequest } from "fastify";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { findKey } from "../../src/access/find-key.ts";
import { findSignedIn } from "../../src/access/find-signed-in.ts";
import { signIn } from "../../src/access/sign-in.ts";
import { claimJobFor } from "../../src/asks/jobs/claim-job.ts";
import { heartbeat } from "../../src/asks/jobs/hold-job.ts";
import { makeJob } from "../../src/asks/jobs/make-job.ts";
import { type KeyLabel, openKeyring } from "../../src/lib/secrets/keyring.ts";
import { readCursor, writeCursor } from "../../src/protocols/ask-a-human/cursor.ts";
import type { DoorContext } from "../../src/protocols/http/door.ts";
import { participantToken, presentedParticipant } from "../../src/protocols/http/principals.ts";
import { openedCookie, openedProblem } from "../../src/protocols/web/links/cookie.ts";
import { Refusal } from "../../src/refusals.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { readLink } from "../../src/requests/links/open-link.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { askPeople, enrol, providerOf, toPerson, until } from "../support/addressed.ts";
import { ROOMY } from "../support/contract.ts";
import { openWorld, type World } from "../support/world.ts";
import type { Dice } from "./sim-dice.ts";
import { otherText, type Scheme, type Signed } from "./sign-forge.ts";

let opened: Promise<World> | undefined;
const world = (): Promise<World> =>
  (opened ??= openWorld({ on: "sqlite", env: ROOMY, channels: [providerOf("email")] }));

/** Stops the server that credentials are tried at, where there is one. */
export async function closeTokenWorld(): Promise<void> {
  await (await opened)?.[Symbol.asyncDispose]();
  opened = undefined;
}

/** A session's cookie: a random text, of which the store has the hash. */
export const sessions: Scheme<string> = {
  name: "sessions",
  share: 40,
  async make(dice) {
    const { ctx } = (await world()).server;
    const { code } = await createSignInLink(ctx, undefined);
    const { token } = await signIn(ctx, { code });
    return tokenOf(token, async (text) => (await findSignedIn(ctx, text))?.person.id ?? null, [
      // The code is spent, and never was a session.
      () => code,
      () => Buffer.from(dice.bytes(32)).toString("base64url"),
    ]);
  },
};

/** A key of a program, in each scope. */
export const keys: Scheme<string> = {
  name: "keys",
  share: 40,
  async make(dice) {
    const { ctx } = (await world()).server;
    const scope = dice.pick(["agent", "executor", "assign", "admin"] as const);
    const { text } = await createKey(ctx, { name: `bot-${dice.int(1e9)}`, scope });
    const others = ["agent", "executor", "answer", "assign", "admin"].filter((one) => one !== scope);
    return tokenOf(text, async (one) => (await findKey(ctx, one))?.principal ?? null, [
      () => text.replace(`_${scope}_`, `_${dice.pick(others)}_`),
      () => `Bearer ${text}`,
    ]);
  },
};

/** The one-time link of a message. */
export const links: Scheme<string> = {
  name: "links",
  share: 40,
  async make(dice) {
    const { ctx } = (await world()).server;
    const value = `ana-${dice.int(1e9)}@people.example`;
    const ana = await enrol(ctx, value, [{ channel: "email", target: { to: value } }], {
      identities: [{ kind: "email", value }],
    });
    const { id } = await askPeople(ctx, { audience: toPerson(ana) });
    await until(async () => (await listDeliveries(ctx.db, id)).length > 0);
    const [delivery] = await listDeliveries(ctx.db, id);
    const tokens = tokensOf(ctx, delivery?.id ?? "");
    const foreign = { keyring: openKeyring(dice.bytes(32), dice.bytes) };
    return tokenOf(tokens.link, async (text) => refusedIsNull(async () => (await readLink(ctx, text)).request.id), [
      () => tokens.reply,
      () => tokens.code,
      () => tokensOf(foreign, delivery?.id ?? "").link,
      () => ctx.keyring.mac("cursor", `link ${delivery?.id ?? ""}`),
    ]);
  },
};

/** The lease of a claimed job. The lease of an earlier claim is no longer valid. */
export const leases: Scheme<string> = {
  name: "leases",
  share: 20,
  async make(dice) {
    const { ctx } = (await world()).server;
    const [owner, kind] = [`executor:bot-${dice.int(1e9)}`, `kind-${dice.int(1e9)}`];
    const common = { external: false, spec: null, env: null, repo: null, labels: {}, maxAttempts: 3 };
    await makeJob(ctx, { ...common, kind, owner, priority: "P1", ttlS: 3600 } as never);
    const input = { kinds: [kind], holder: owner, worker: "w", leaseS: 60 };
    const claimed = await claimJobFor(ctx, input, { waitMs: 0, signal: new AbortController().signal });
    const { job, lease } = claimed ?? fail("no job was given");
    const read = (text: string) =>
      refusedIsNull(async () => (await heartbeat(ctx, job.id, { principal: owner, lease: text })).id);
    return tokenOf(lease.token, read, [() => `lease_${job.id}`, () => "lease_", () => String(lease.epoch)]);
  },
};

/** Where a list goes on: good for that list of this server alone. */
export const cursors: Scheme<string> = {
  name: "cursors",
  share: 40,
  async make(dice) {
    const keyring = keyringOf(dice);
    const [list, place] = [`questions ${dice.int(100)}`, { at: dice.int(1e9), id: `q_${dice.int(1e9)}` }];
    const cursor = writeCursor(keyring, list, place);
    const read = (text: string) => refusedIsNull(() => JSON.stringify(readCursor<object>(keyring, list, text)));
    const [body = ""] = cursor.split(".");
    const labels: readonly KeyLabel[] = ["participant", "feed", "delivery", "secrets", "trace"];
    return tokenOf(cursor, read, [
      () => writeCursor(keyring, `${list}0`, place),
      () => writeCursor(keyringOf(dice), list, place),
      () => `${body}.${keyring.mac(dice.pick(labels), `${list} ${body}`)}`,
      () => `${Buffer.from(JSON.stringify({ ...place, at: 0 })).toString("base64url")}.${cursor.split(".")[1]}`,
    ]);
  },
};

/** The credential of one of the crowd, in a header or a cookie. */
export const participants: Scheme<string> = {
  name: "participants",
  share: 40,
  async make(dice) {
    const [door, foreign] = [doorOf(dice), doorOf(dice)];
    const id = `p_${dice.int(1e9)}`;
    const token = participantToken(door, id);
    const header = dice.pick(["x-participant-token", "cookie"]);
    const asShown = (text: string) => (header === "cookie" ? `parley_p=${text}` : text);
    const read = (text: string) => presentedParticipant(door, requestWith({ [header]: asShown(text) })) ?? null;
    return tokenOf(token, read, [
      () => participantToken(foreign, id),
      () => token.replace(id, `p_${dice.int(1e9) + 1e9}`),
      () => token.replace("pt1.", "pt2."),
    ]);
  },
};

/** That the page of a link was opened, and when: a cookie together with the nonce of its form. */
export const openedPages: Scheme<string> = {
  name: "opened pages",
  share: 40,
  async make(dice) {
    const [token, nonce] = [Buffer.from(dice.bytes(32)).toString("base64url"), `n${dice.int(1e9)}`];
    const openedAt = Date.UTC(2026, 10, 20, 12);
    const keyring = keyringOf(dice);
    const doorAt = (now: number): DoorContext => doorOf(dice, { keyring, now });
    const cookie = openedCookie(doorAt(openedAt), token, nonce).split(";")[0] ?? "";
    const name = cookie.slice(0, cookie.indexOf("=") + 1);
    const cookieOfOther = (one: string, at = openedAt) => openedCookie(doorAt(at), one, nonce).split(";")[0] ?? "";
    const after = openedAt + dice.between(1000, 15 * 60_000);
    const read = (text: string) =>
      openedProblem(doorAt(after), requestWith({ cookie: name + text }), token, nonce) === null ? nonce : null;
    const valueOf = (one: string) => one.slice(one.indexOf("=") + 1);
    return tokenOf(valueOf(cookie), read, [
      () => valueOf(cookieOfOther(`${token}x`)),
      () => valueOf(cookieOfOther(token, after - 15 * 60_000 - 1 - dice.int(1e6))),
      () => valueOf(cookieOfOther(token, after - dice.int(1000))),
      () => valueOf(openedCookie(doorOf(dice), token, nonce).split(";")[0] ?? ""),
      () => valueOf(openedCookie(doorAt(openedAt), token, `${nonce}x`).split(";")[0] ?? ""),
    ]);
  },
};

function tokenOf(form: string, read: Signed<string>["read"], special: readonly (() => string)[]): Signed<string> {
  return {
    form,
    read,
    forge(dice) {
      if (dice.chance(0.2)) return { says: "made in another way", form: dice.pick(special)(), mayMeanTheSame: false };
      const text = otherText(dice, form);
      // Space around it, and what follows a whole one, is nothing that it says.
      return { says: "the text differs", form: text, mayMeanTheSame: text.includes(form) };
    },
  };
}

async function refusedIsNull(read: () => Promise<string> | string): Promise<string | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

const keyringOf = (dice: Dice) => openKeyring(dice.bytes(32), dice.bytes);

/** Returns the part of an endpoint's context that reads credentials without a store. */
function doorOf(dice: Dice, { keyring = keyringOf(dice), now = 0 } = {}): DoorContext {
  const ctx = { keyring, clock: { now: () => now } };
  return { ctx, config: { publicUrl: "http://127.0.0.1:3415" } } as unknown as DoorContext;
}

function requestWith(headers: Record<string, string>): FastifyRequest {
  return { headers } as unknown as FastifyRequest;
}

function fail(says: string): never {
  throw new Error(says);
}
