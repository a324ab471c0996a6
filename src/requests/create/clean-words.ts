import type { RequestId } from "../../core/model/ids.ts";
import type { Identity } from "../../access/model/identity.ts";
import type { Context } from "../../context.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { aboutRequest } from "./create-request.ts";
import { tokenHashes, tokensOf } from "../links/delivery-tokens.ts";
import {
  beginningsIn,
  candidatesIn,
  codesIn,
  isPlainWord,
  readParts,
  withPlaces,
  type Candidate,
  type TextRange,
  type ReadText,
} from "../model/find-credentials.ts";
import { FIRST_RENEWAL } from "../model/renewal.ts";
import { insertDelivery } from "../store/deliveries.ts";
import {
  exposeIfOpen,
  findNamedDeliveries,
  listAnswerable,
  listAnswerableBy,
  type ExposedDelivery,
} from "../store/exposed.ts";
import { findRequest } from "../store/requests.ts";

/** Somebody whose words are to be stored, as far as it was proved. */
export interface WordsAuthor {
  person: string | null;
  identities: readonly Identity[];
  /** The request that the words answer, where they answer one. */
  requestId: RequestId | null;
}

declare const cleaned: unique symbol;

/** A person's words in which nothing is left that answers a request. Only `cleanWords` makes them. */
export interface CleanWords<T> {
  readonly words: T;
  /** The messages whose tokens stood in them, for `exposeIn`. */
  readonly exposed: readonly string[];
  readonly [cleaned]: true;
}

/** The newest messages to one person, at most so many, whose codes are looked for. */
const CODES_MOST = 200;
const RENEWALS_PER_HOUR = 3;
const IN_PLACE_OF = { link: "[token]", reply: "[token]", delivery: "[delivery]" } as const;
const NO_CODE = "[code]";

/**
 * Returns a person's words without anything that lets its reader answer a request in the person's name: tokens of
 * one-time links and reply addresses, codes and ids of messages, however they are encoded or wrapped in it. Strings are
 * looked at wherever they stand in it. Every word of a person that a program may read passes here before it is stored
 * (spec/channels 3.3).
 */
export async function cleanWords<T>(
  { db, keyring }: Pick<Context, "db" | "keyring">,
  words: T,
  speaker: WordsAuthor,
): Promise<CleanWords<T>> {
  const parts: Part[] = [];
  for (const written of new Set(stringsIn(words))) {
    if (isPlainWord(written)) continue;
    for (const read of readParts(written)) {
      parts.push({ ...read, written, candidates: candidatesIn(read) });
      await yieldAfterLarge(written);
    }
  }
  if (parts.length === 0) return { words, exposed: [] } as unknown as CleanWords<T>;
  const named = await findNamed(
    db,
    parts.flatMap(({ candidates }) => candidates),
  );
  const own = await listAnswerableBy(db, speaker, CODES_MOST);
  if (speaker.requestId !== null) own.push(...(await listAnswerable(db, speaker.requestId)));
  const known = [...new Set([...own, ...named.values()])].map((id) => ({ id, ...tokensOf({ keyring }, id) }));
  const codes = known.map(({ code }) => code);
  const exposed = new Set<string>();
  const places = new Map<string, Replaced[]>();
  for (const part of parts) {
    const found = places.get(part.written) ?? [];
    if (found.length === 0) places.set(part.written, found);
    found.push(...codesIn(part, codes).map((place) => ({ ...place, by: NO_CODE })));
    for (const { id, link, reply } of known) {
      const begun = [...beginningsIn(part, link), ...beginningsIn(part, reply)];
      found.push(...begun.map((place) => ({ ...place, by: IN_PLACE_OF.link })));
      if (begun.length > 0) exposed.add(id);
    }
    for (const { kind, text, from, to } of part.candidates) {
      const id = named.get(keyOf(kind, text));
      if (id === undefined) continue;
      found.push({ from, to, by: IN_PLACE_OF[kind] });
      if (kind !== "delivery") exposed.add(id);
    }
  }
  const isClean = [...places.values()].every((found) => found.length === 0);
  const clean = (text: string) => withPlaces(text, places.get(text) ?? []);
  const result = isClean ? words : (withStrings(words, clean) as T);
  return { words: result, exposed: [...exposed] } as unknown as CleanWords<T>;
}

/** A part of somebody's text that may hold a token. */
interface Part extends ReadText {
  written: string;
  candidates: readonly Candidate[];
}

type Replaced = TextRange & { by: string };

/** Returns which messages some candidates are of, by `keyOf`. */
async function findNamed(on: Queryable, candidates: readonly Candidate[]): Promise<Map<string, string>> {
  const ids = new Set(candidates.filter(({ kind }) => kind === "delivery").map(({ text }) => text));
  const tokens = candidates.filter(({ kind }) => kind !== "delivery");
  const hashes = new Set(tokens.map(({ kind, text }) => keyOf(kind, text)));
  const named = new Map<string, string>();
  if (hashes.size + ids.size === 0) return named;
  for (const { id, linkHash, replyHash } of await findNamedDeliveries(on, { hashes: [...hashes], ids: [...ids] })) {
    for (const key of [id, linkHash, replyHash]) if (key !== null) named.set(key, id);
  }
  return named;
}

/** Returns under what the store knows it: an id is itself, a token its hash. */
function keyOf(kind: Candidate["kind"], text: string): string {
  return kind === "delivery" ? text : sha256Hex(text);
}

/**
 * Makes the tokens that appeared in somebody's words invalid. The recipients of their messages get new ones while the
 * request is open. The audit record shows this (spec/channels 3.3).
 */
export async function exposeIn(
  ctx: Pick<Context, "newId" | "keyring">,
  tx: Tx,
  words: Pick<CleanWords<unknown>, "exposed">,
): Promise<void> {
  const renewed = new Set<string>();
  for (const one of await exposeIfOpen(tx, words.exposed)) {
    const found = await findRequest(tx, one.requestId);
    if (!found) continue;
    await appendAudit(tx, {
      actor: { kind: "server", id: "parley" },
      ...aboutRequest(found.request, "message_exposed"),
      via: one.channel,
      data: { delivery: one.id },
    });
    const whom = JSON.stringify([one.requestId, one.channel, one.target]);
    if (renewed.has(whom)) continue;
    renewed.add(whom);
    await renew(ctx, tx, one, found.now);
  }
}

/** Plans another message to the same address, with a link and a code of its own: three an hour, and no more. */
async function renew(
  ctx: Pick<Context, "newId" | "keyring">,
  tx: Tx,
  { requestId, channel, target, person }: ExposedDelivery,
  now: number,
): Promise<void> {
  const first = FIRST_RENEWAL + Math.floor(now / 3_600_000) * RENEWALS_PER_HOUR;
  for (let step = first; step < first + RENEWALS_PER_HOUR; step += 1) {
    const id = ctx.newId("dlv");
    const hashes = tokenHashes(tokensOf(ctx, id));
    const input = { id, ...hashes, requestId, kind: "remind", channel, target, person, step, inMs: 0 } as const;
    if (await insertDelivery(tx, input)) break;
  }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const one of value) yield* stringsIn(one);
  else if (isPlain(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield name;
      yield* stringsIn(member);
    }
  }
}

function withStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => withStrings(one, change));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [change(name), withStrings(member, change)]));
}

/** Numbers that keep their digits are objects of their own kind, and hold no words. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
