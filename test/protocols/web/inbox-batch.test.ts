import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSignInLink } from "../../../src/access/create-sign-in-link.ts";
import { canonicalExact, sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { consentText } from "../../../src/requests/model/consent.ts";
import { batchId } from "../../../src/requests/model/inbox.ts";
import type { Audience, Request } from "../../../src/requests/model/request.ts";
import { askPeople, enrol, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { saidOf, type Shown } from "../../support/identities.ts";
import { DATABASES, onOneDatabase, type World } from "../../support/world.ts";

async function signedIn(world: World, name: string) {
  const { ctx } = world.server;
  const id = await enrol(ctx, name, []);
  const { code } = await createSignInLink(ctx, id);
  const reply = await world.call("POST", "/session", { body: { code } });
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { id, shown: { cookie, "sec-fetch-site": "same-origin" } as Shown };
}
type Person = Awaited<ReturnType<typeof signedIn>>;

for (const on of DATABASES) {
  describe(`several calls at once on ${on}`, () => {
    const world = sharedWorld({ on });
    const call = (asker: string, args: object, more: { fn?: string; audience: Audience; wire?: Request["wire"] }) => {
      const { fn = "refund", ...rest } = more;
      const kwargs = canonicalExact(args);
      return askPeople(world().server.ctx, {
        ref: fresh("call"),
        asker,
        form: { kind: "approval", fn, kwargs, rejectOptions: [], editable: false },
        digest: sha256Digest(consentText(fn, kwargs)),
        ...rest,
      });
    };
    const batch = async (who: Person, { asker, form }: Request) => {
      const id = batchId(asker, form.kind === "approval" ? form.fn : "");
      return world().call("GET", `/people/me/batches/${id}`, { headers: who.shown });
    };
    const list = async (who: Person) => (await world().call("GET", "/people/me/asks", { headers: who.shown })).body;
    const decide = (who: Person, approved: boolean, calls: readonly Request[], more: object = {}) =>
      world().call("POST", "/people/me/decisions", {
        headers: who.shown,
        body: { approved, calls: calls.map(({ id, digest }) => ({ id, digest })), ...more },
      });
    const stateOf = async (who: Person, { id }: Request) =>
      (await world().call("GET", `/people/me/asks/${id}`, { headers: who.shown })).body.state as string;

    it("counts and shows the calls of one agent and function, and no other's", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const [asker, audience] = [`agent:${fresh("bot")}`, toPerson(ana.id)];
      const calls = [];
      for (const [at, amount] of [20, 30, 25, 28, 9000].entries()) {
        calls.push(await call(asker, { amount, currency: "EUR", order: `A-${at}` }, { audience }));
        world().clock.advance(5);
      }
      const others = [
        await call(asker, { amount: 5 }, { audience, fn: "charge" }),
        await call(`agent:${fresh("bot")}`, { amount: 5 }, { audience }),
        await call(asker, { amount: 5 }, { audience: toPerson(bo.id) }),
      ];
      const { asks } = await list(ana);
      const alikeOf = ({ id }: Request) => asks.find((one: { id: string }) => one.id === id)?.alike;
      assert.deepEqual(
        calls.map((one) => alikeOf(one)?.count),
        [5, 5, 5, 5, 5],
      );
      assert.equal(new Set(calls.map((one) => alikeOf(one)?.id)).size, 1);
      assert.deepEqual([alikeOf(others[0] as Request), alikeOf(others[1] as Request)], [null, null]);

      const { body } = await batch(ana, calls[1] as Request);
      assert.deepEqual([body.fn, body.more, body.differing], ["refund", false, ["amount", "order"]]);
      assert.deepEqual(
        body.arguments.map(({ name, text }: Record<string, string>) => `${name} ${text}`),
        ['currency "EUR"'],
      );
      assert.deepEqual(
        body.calls.map(({ id, digest, alone }: Record<string, unknown>) => ({ id, digest, alone })),
        calls.map(({ id, digest }) => ({ id, digest, alone: null })),
      );
      assert.deepEqual(
        body.calls[0].arguments.map(({ text }: { text: string }) => text),
        ["20", '"A-0"'],
      );
      assert.deepEqual(
        body.calls.map(({ marks }: { marks: { kind: string }[] }) => marks.map(({ kind }) => kind).join()),
        ["", "", "", "", "amount"],
      );
      assert.deepEqual(saidOf(await batch(bo, others[1] as Request)), { status: 404, code: "NOT_FOUND" });
    });

    onOneDatabase(on)("names a column as the rows name their arguments, whatever the name", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const [asker, audience] = [`agent:${fresh("bot")}`, toPerson(ana.id)];
      const names = ["a\u200b", "a\\u200b", '"a"', "", " a", "a", "__proto__", "\n", "<b>"];
      const calls = [];
      for (const at of [1, 2, 3]) {
        const args = Object.fromEntries(names.map((name, i) => [name, `${i} of ${at}`]));
        calls.push(await call(asker, args, { audience }));
      }
      const { body } = await batch(ana, calls[0] as Request);
      assert.equal(new Set(body.differing).size, names.length);
      for (const { arguments: rows } of body.calls) {
        const shown = rows.map(({ name }: { name: string }) => name);
        assert.deepEqual(shown.toSorted(), body.differing.toSorted());
      }
    });

    it("decides each by its own digest, with its own record, and the same again changes nothing", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const [asker, audience] = [`agent:${fresh("bot")}`, toPerson(ana.id)];
      const calls = [];
      for (const order of ["A", "B", "C"]) calls.push(await call(asker, { order }, { audience }));
      const [first, second, third] = calls as [Request, Request, Request];
      for (let time = 0; time < 2; time += 1) {
        const { status, body } = await decide(ana, true, [third, first], { comment: "as agreed" });
        assert.deepEqual(
          [status, body.calls],
          [
            200,
            [
              { id: third.id, state: "answered", until: null },
              { id: first.id, state: "answered", until: null },
            ],
          ],
        );
      }
      assert.equal(await stateOf(ana, second), "open");
      for (const { id, digest } of [first, third]) {
        const { body } = await world().call("GET", `/people/me/asks/${id}`, { headers: ana.shown });
        assert.deepEqual(
          [body.outcome.approved, body.outcome.comment, body.outcome.digest],
          [true, "as agreed", digest],
        );
        const receipt = await world().call("GET", `/receipts/${id}`, { headers: ana.shown });
        const claims = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString()) as Record<
          string,
          unknown
        >;
        assert.deepEqual([claims["jti"], claims["consent_digest"], claims["outcome"]], [id, digest, "approved"]);
      }
      assert.equal((await decide(ana, false, [second])).status, 200);
      assert.equal(saidOf(await batch(ana, second)).status, 404);
    });

    it("decides none where one of them cannot be decided so", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const asker = `agent:${fresh("bot")}`;
      const audience: Audience = { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      const calls = [];
      for (const order of ["A", "B", "C", "D"]) calls.push(await call(asker, { order }, { audience }));
      const [first, second, third, fourth] = calls as [Request, Request, Request, Request];
      const changed = { ...second, digest: first.digest };
      const refused = await decide(ana, true, [first, changed, third]);
      assert.deepEqual(saidOf(refused), { status: 409, code: "DIGEST_MISMATCH" });
      assert.equal(refused.body.error.details.ask_id, second.id);
      assert.equal((await decide(bo, false, [third])).status, 200);
      const late = await decide(ana, true, [fourth, third, first]);
      assert.deepEqual(saidOf(late), { status: 409, code: "ALREADY_DECIDED" });
      assert.equal(late.body.error.details.ask_id, third.id);
      for (const one of [first, second, fourth]) assert.equal(await stateOf(ana, one), "open");
      const others = await call(asker, { order: "E" }, { audience: toPerson(bo.id) });
      assert.deepEqual(saidOf(await decide(ana, true, [first, others])), { status: 404, code: "NOT_FOUND" });
      assert.deepEqual(saidOf(await decide(ana, true, [first, first])), { status: 400, code: "VALIDATION_ERROR" });
      const many = Array.from({ length: 201 }, () => first);
      assert.deepEqual(saidOf(await decide(ana, true, many)), { status: 400, code: "VALIDATION_ERROR" });
      assert.equal(await stateOf(ana, first), "open");
    });

    it("lets two people who decide the same calls at once each have all or none", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const asker = `agent:${fresh("bot")}`;
      const audience: Audience = { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      const calls = [];
      for (let at = 0; at < 12; at += 1) calls.push(await call(asker, { at }, { audience }));
      const replies = await Promise.all([decide(ana, true, calls), decide(bo, false, calls.toReversed())]);
      assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409]);
      const approved = await Promise.all(
        calls.map(
          async ({ id }) =>
            (await world().call("GET", `/people/me/asks/${id}`, { headers: ana.shown })).body.outcome.approved,
        ),
      );
      assert.equal(new Set(approved).size, 1);
    });

    it("counts an approval of each where several must agree, and leaves alone what has to be opened", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const asker = `agent:${fresh("bot")}`;
      const both: Audience = { kind: "all", of: [toPerson(ana.id), toPerson(bo.id)] };
      const calls = [
        await call(asker, { at: 1 }, { audience: both }),
        await call(asker, { at: 2 }, { audience: both }),
      ];
      const guarded = await call(
        asker,
        { at: 3 },
        { audience: both, wire: { guarded: ["at"], masked: { at: '"[secret:x]"' } } },
      );
      const long = await call(asker, { at: "x".repeat(30_000) }, { audience: both });
      assert.equal((await decide(ana, true, calls)).status, 200);
      const { body } = await batch(ana, guarded);
      const alone = new Map(body.calls.map((one: { id: string; alone: string | null }) => [one.id, one.alone]));
      assert.deepEqual(
        [...calls, guarded, long].map(({ id }) => alone.get(id)),
        ["decided", "decided", "secret", "long"],
      );
      for (const one of [guarded, long]) {
        assert.deepEqual(saidOf(await decide(bo, true, [one])), { status: 400, code: "VALIDATION_ERROR" });
      }
      assert.equal((await decide(bo, true, calls)).status, 200);
      assert.deepEqual(await Promise.all(calls.map((one) => stateOf(ana, one))), ["answered", "answered"]);
    });
  });
}
