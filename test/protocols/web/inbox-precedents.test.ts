import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSignInLink } from "../../../src/access/create-sign-in-link.ts";
import { canonicalExact, sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { parsePolicy } from "../../../src/policy/model/text.ts";
import { requestCall } from "../../../src/requests/create/request-call.ts";
import { bindCall } from "../../../src/requests/model/bound-call.ts";
import { consentText } from "../../../src/requests/model/consent.ts";
import type { Audience, Request } from "../../../src/requests/model/request.ts";
import { askPeople, enrol, leaf, newCallRequest, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { saidOf, type Shown } from "../../support/identities.ts";
import { DATABASES, type World } from "../../support/world.ts";
import type { WirePrecedents } from "../../../src/wire/precedent.ts";

const TOKENS = ["Zq7Xk2Lm", "Yb3Wn8Rt"].map((part) => `gh${"p_"}${part.repeat(4)}0042`);

async function signedIn(world: World, name: string, more: Parameters<typeof enrol>[3] = {}) {
  const { ctx } = world.server;
  const id = await enrol(ctx, name, [], more);
  const { code } = await createSignInLink(ctx, id);
  const reply = await world.call("POST", "/session", { body: { code } });
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { id, shown: { cookie, "sec-fetch-site": "same-origin" } as Shown };
}
type Person = Awaited<ReturnType<typeof signedIn>>;

interface MoreOfCall {
  audience: Audience;
  asker?: string;
  fn?: string;
  wire?: Request["wire"];
  editable?: boolean;
}

for (const on of DATABASES) {
  describe(`earlier decisions on the function of a call on ${on}`, () => {
    const world = sharedWorld({ on });
    const inputOf = (args: object, { fn = "refund", editable = false, ...rest }: MoreOfCall) => {
      const kwargs = canonicalExact(args);
      const form = { kind: "approval" as const, fn, kwargs, rejectOptions: [], editable };
      return newCallRequest({ ref: fresh("call"), form, digest: sha256Digest(consentText(fn, kwargs)), ...rest });
    };
    const call = (args: object, more: MoreOfCall) => askPeople(world().server.ctx, inputOf(args, more));
    const decide = async (who: Person, { id, digest }: Request, approved: boolean, more: object = {}) => {
      const body = { approved, digest, ...more };
      const reply = await world().call("POST", `/people/me/asks/${id}/decision`, { headers: who.shown, body });
      assert.equal(reply.status, 200);
      await world().advance(1000);
    };
    const read = async (who: Person, { id }: Request, language = "en") => {
      const headers = { ...who.shown, "accept-language": language };
      const { status, body } = await world().call("GET", `/people/me/asks/${id}/precedents`, { headers });
      assert.equal(status, 200);
      return (body as WirePrecedents).precedents;
    };

    it("are the newest three, with who, when and why, and the arguments that differ word by word", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const both: Audience = { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      const of = { asker: fresh("agent:bot"), audience: both };
      const all = [];
      for (const amount of [10, 20, 30, 40]) {
        all.push(await call({ amount, note: "Thanks to Bo", lines: [1, 2], currency: "EUR" }, of));
      }
      const [first, second, third, fourth] = all as [Request, Request, Request, Request];
      for (const one of [first, third]) await decide(ana, one, true);
      await decide(bo, fourth, false, { comment: "Too\u202e much" });
      await decide(ana, second, true);
      const now = await call({ amount: 40, note: "Thanks to Cy", lines: [1, 3], order: "A-1", currency: "EUR" }, of);
      const others = [{ fn: "charge" }, { asker: fresh("agent:other") }];
      for (const more of others) assert.deepEqual(await read(ana, await call({ amount: 1 }, { ...of, ...more })), []);

      const precedents = await read(ana, now, "de");
      assert.deepEqual(
        precedents.map(({ id }) => id),
        [second.id, fourth.id, third.id],
      );
      const { changes, at, ...rejected } = precedents[1] ?? assert.fail();
      assert.match(at, /^\d{4}-/);
      assert.deepEqual(rejected, {
        id: fourth.id,
        sentence: "Refund 40 EUR, lines: 1 und 1 weitere: “Thanks to Bo”",
        approved: false,
        edited: false,
        by: { kind: "person", name: "Bo Lind", via: "web" },
        mine: false,
        comment: "Too\\u202e much",
        more: 0,
      });
      const kept = { hidden: null };
      const words = (...parts: [kind: string, text: string][]) => parts.map(([kind, text]) => ({ kind, text }));
      assert.deepEqual(changes, [
        {
          name: "lines",
          kind: "changed",
          before: "[\n  1,\n  2\n]",
          now: "[\n  1,\n  3\n]",
          words: words(["same", "[\n  1,\n  "], ["before", "2"], ["now", "3"], ["same", "\n]"]),
          ...kept,
        },
        { name: "order", kind: "added", before: null, now: '"A-1"', words: null, ...kept },
        {
          name: "note",
          kind: "changed",
          before: '"Thanks to Bo"',
          now: '"Thanks to Cy"',
          words: words(["same", "Thanks to "], ["before", "Bo"], ["now", "Cy"]),
          ...kept,
        },
      ]);
      assert.deepEqual([precedents[0]?.mine, precedents[0]?.approved], [true, true]);
      assert.deepEqual(
        precedents[0]?.changes.find(({ name }) => name === "amount"),
        { name: "amount", kind: "changed", before: "20", now: "40", words: null, hidden: null },
      );
      await decide(ana, now, true);
      assert.equal((await read(ana, first)).length, 0, "the first has none before it");
      assert.deepEqual(
        (await read(bo, second)).map(({ id }) => id),
        [fourth.id, third.id, first.id],
      );
    });

    it("are those of people alone, and those that this person may read", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const admin = await signedIn(world(), "Ada Admin", { seesAll: true });
      const asker = fresh("agent:bot");
      const of = (...people: Person[]) => ({
        asker,
        audience: { kind: "any" as const, of: people.map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) },
      });
      const rules = parsePolicy("version: 1\nrules: [{ id: small, when: { fn: refund }, decision: DENY }]\n");
      const ruled = { ...inputOf({ amount: 1 }, of(ana)), bound: bindCall("refund", { amount: 1 }), rejectOptions: [] };
      const byRule = await requestCall(world().server.ctx, rules, { ...ruled, editable: false });
      assert.equal(byRule.request.outcome?.approved, false);
      const [hers, his] = [await call({ amount: 2 }, of(ana)), await call({ amount: 3 }, of(bo))];
      await decide(ana, hers, true);
      await decide(bo, his, false);
      const now = await call({ amount: 4 }, of(ana, bo, admin));
      const idsFor = async (who: Person) => (await read(who, now)).map(({ id }) => id);
      assert.deepEqual(
        [await idsFor(ana), await idsFor(bo), await idsFor(admin)],
        [[hers.id], [his.id], [his.id, hers.id]],
      );
      const foreign = await world().call("GET", `/people/me/asks/${his.id}/precedents`, { headers: ana.shown });
      assert.deepEqual(saidOf(foreign), { status: 404, code: "NOT_FOUND" });
      const question = await askPeople(world().server.ctx, {
        ref: fresh("ask"),
        asker,
        audience: leaf({ via: "person", person: ana.id }),
        digest: null,
        form: { kind: "reply", options: [] },
      });
      assert.deepEqual(await read(ana, question), []);
    });

    it("never show a secret, nor a long value, and compare what ran where the approval changed it", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const of = { asker: fresh("agent:bot"), audience: toPerson(ana.id), editable: true };
      const guarded = (token: string, masked: string | null) => ({
        login: `user ana token ${token}`,
        wire: { guarded: ["login"], masked: masked === null ? {} : { login: JSON.stringify(masked) } },
      });
      const [known, unknown] = [
        guarded(TOKENS[0] ?? "", "user ana token [secret:github-token]"),
        guarded(TOKENS[1] ?? "", null),
      ];
      const add = ({ login, wire }: { login: string; wire?: Request["wire"] }, more: object = {}) =>
        call({ login, text: "x".repeat(3000), amount: 5, ...more }, { ...of, ...(wire && { wire }) });
      const changesOf = async (now: Request) =>
        (await read(ana, now)).map(({ changes }) =>
          changes.map(({ name, before, now: is, hidden }) => ({ name, before, now: is, hidden })),
        );
      for (const one of [known, unknown]) await decide(ana, await add(one), true);
      const edited = await add({ login: "user ana" });
      await decide(ana, edited, true, { kwargs: { login: `user bo token ${TOKENS[0]}`, amount: 7 } });

      const now = await add({ login: "user cy" }, { text: "y".repeat(3000) });
      const said = await changesOf(now);
      assert.doesNotMatch(JSON.stringify(said), /Zq7Xk2Lm|Yb3Wn8Rt|xxx|yyy/);
      const long = { name: "text", before: null, now: null, hidden: "long" };
      const login = { name: "login", now: '"user cy"', hidden: "secret" };
      assert.deepEqual(said, [
        [
          { name: "amount", before: "7", now: "5", hidden: null },
          { ...login, before: '"user bo token [secret:github-token]"' },
          long,
        ],
        [{ ...login, before: null }, long],
        [{ ...login, before: '"user ana token [secret:github-token]"' }, long],
      ]);
      const [first] = await read(ana, now);
      assert.deepEqual([first?.id, first?.edited], [edited.id, true]);
      assert.match(first?.sentence ?? "", /Refund.* 7/);
      const open = await read(ana, await add(known, { text: "y".repeat(3000) }));
      assert.doesNotMatch(JSON.stringify(open), /Zq7Xk2Lm|Yb3Wn8Rt/);
    });
  });
}
