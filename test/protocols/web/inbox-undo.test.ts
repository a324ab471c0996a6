import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endSessions } from "../../../src/access/end-sessions.ts";
import { readAudit } from "../../../src/core/read-audit.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { canonicalExact } from "../../../src/lib/json/exact-json.ts";
import { cancelRequest, expireRequest } from "../../../src/requests/end/end.ts";
import { expireDueRequests } from "../../../src/requests/loops/expire.ts";
import type { Audience, Request } from "../../../src/requests/model/request.ts";
import { readRequest } from "../../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { anyOf, signedIn } from "../../support/signed-in.ts";
import { DATABASES, onOneDatabase, openWorld } from "../../support/world.ts";

const SECOND = 1000;
const UNDO_MS = 5 * SECOND;

for (const on of DATABASES) {
  describe(`a decision that is pressed in the app, on ${on}`, () => {
    const world = sharedWorld({ on, env: { PARLEY_INBOX_UNDO_SECONDS: "5" } });
    const itOnOne = onOneDatabase(on);
    const ctx = () => world().server.ctx;
    const ask = (audience: Audience, more: Parameters<typeof askPeople>[1] = {}) =>
      askPeople(ctx(), { ref: fresh("call"), asker: `agent:${fresh("bot")}`, audience, ...more });
    const stateOf = async ({ id }: Request) => {
      const { state, outcome } = await readRequest(ctx(), id);
      return outcome?.approved === undefined ? state : `${state} ${outcome.approved}`;
    };
    /** Lets time pass, and does what is due then. */
    const passes = async (ms: number) => {
      await world().advance(ms);
      while (await expireDueRequests(ctx(), AbortSignal.timeout(10_000)));
    };
    const record = async (one: Request) =>
      (await readAudit(ctx(), { subjectId: one.id, afterSeq: 0, limit: 50 })).items.map(({ action, data }) => {
        const { reason } = (data ?? {}) as { reason?: string };
        return action.replace("function_call.", "") + (reason === undefined ? "" : ` ${reason}`);
      });

    it("is stored at the press, leaves five seconds later, and the record has both", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const one = await ask(anyOf(ana, bo));
      const pressed = (await ana.approve(one)).body;
      assert.equal(pressed.state, "open");
      const [{ name, mine, approved, at, until }] = pressed.presses;
      assert.deepEqual([name, mine, approved], ["Ana Ruiz", true, true]);
      assert.equal(Date.parse(until) - Date.parse(at), UNDO_MS);

      // Others see that, and not which; it waits for her no longer.
      const others = await bo.whole(one);
      assert.deepEqual([others.presses[0].name, others.presses[0].approved], ["Ana Ruiz", null]);
      assert.deepEqual([(await bo.list()).asks[0]?.being_decided, (await bo.list()).counts.all], [true, 1]);
      assert.deepEqual([(await ana.list()).asks, (await ana.list()).counts.all], [[], 0]);

      await passes(UNDO_MS - 1);
      assert.equal(await stateOf(one), "open");
      await passes(1);
      assert.equal(await stateOf(one), "answered true");
      assert.deepEqual(await record(one), ["created", "pressed", "approved"]);
      assert.deepEqual((await ana.approve(one)).status, 200);
      assert.deepEqual((await ana.whole(one)).presses, []);
    });

    it("can be undone until it leaves, and pressed again", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const one = await ask(toPerson(ana.id));
      await ana.approve(one);
      await passes(UNDO_MS - 1);
      assert.deepEqual((await ana.undo(one)).asks, [{ id: one.id, undone: true, state: "open" }]);
      await passes(UNDO_MS);
      assert.deepEqual([await stateOf(one), (await ana.list()).counts.all], ["open", 1]);
      assert.deepEqual((await ana.undo(one)).asks, [{ id: one.id, undone: false, state: "open" }]);

      await ana.reject(one);
      await passes(UNDO_MS);
      assert.deepEqual((await ana.undo(one)).asks, [{ id: one.id, undone: false, state: "answered" }]);
      assert.equal(await stateOf(one), "answered false");
      assert.deepEqual(await record(one), ["created", "pressed", "press_undone", "pressed", "rejected"]);
    });

    itOnOne("is the last one that its person pressed; the same again changes nothing", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const one = await ask(toPerson(ana.id));
      await ana.approve(one);
      await passes(3 * SECOND);
      await ana.approve(one);
      assert.equal((await record(one)).length, 2);
      await passes(SECOND);
      await ana.reject(one);
      await passes(UNDO_MS - 1);
      assert.equal(await stateOf(one), "open");
      await passes(1);
      assert.equal(await stateOf(one), "answered false");
    });

    it("of another person does not stand in the way, and a rejection voids what they approved", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const [contested, first, byKey] = [
        await ask(anyOf(ana, bo)),
        await ask(anyOf(ana, bo)),
        await ask(anyOf(ana, bo)),
      ];
      for (const one of [contested, first, byKey]) await ana.approve(one);
      await passes(SECOND);
      await bo.approve(first);
      await bo.reject(contested);
      await bo.byKey(byKey);
      assert.equal(await stateOf(byKey), "answered true");
      assert.equal((await readRequest(ctx(), byKey.id)).outcome?.by?.id, bo.id);
      await bo.undo(contested);
      await passes(UNDO_MS - SECOND);
      assert.deepEqual([await stateOf(contested), await stateOf(first)], ["open", "answered true"]);
      assert.equal((await readRequest(ctx(), first.id)).outcome?.by?.id, ana.id);
      assert.deepEqual(await record(contested), [
        "created",
        "pressed",
        "press_voided rejected",
        "pressed",
        "press_undone",
      ]);
      assert.deepEqual(await record(first), ["created", "pressed", "pressed", "press_voided approved", "approved"]);
      assert.deepEqual(await record(byKey), ["created", "pressed", "press_voided approved", "approved"]);
    });

    it("is void once it is withdrawn, or its session has ended", async () => {
      const [ana, bo, cy] = [
        await signedIn(world(), "Ana Ruiz"),
        await signedIn(world(), "Bo Lind"),
        await signedIn(world(), "Cy Moss"),
      ];
      const [withdrawn, left, ended] = [
        await ask(toPerson(ana.id)),
        await ask(toPerson(bo.id)),
        await ask(toPerson(cy.id)),
      ];
      for (const [who, one] of [
        [ana, withdrawn],
        [bo, left],
        [cy, ended],
      ] as const) {
        await who.approve(one);
      }
      await cancelRequest(ctx(), withdrawn.id, { kind: "agent", id: withdrawn.asker });
      await bo.signOut();
      await endSessions(ctx(), cy.id, { kind: "admin", id: "admin:test" });
      await passes(UNDO_MS);
      assert.deepEqual(
        [await stateOf(withdrawn), await stateOf(left), await stateOf(ended)],
        ["cancelled false", "open", "open"],
      );
      assert.deepEqual(await record(withdrawn), ["created", "pressed", "press_voided cancelled", "cancelled"]);
      for (const one of [left, ended]) {
        assert.deepEqual(await record(one), ["created", "pressed", "press_voided session_ended"]);
      }
    });

    it("is made by the deadline that comes first, also where nothing ran then, and silence approves nothing", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const short = { timeoutSeconds: 3 };
      const [swept, read, undone] = [
        await ask(toPerson(ana.id), short),
        await ask(toPerson(ana.id), short),
        await ask(toPerson(ana.id), short),
      ];
      for (const one of [swept, read, undone]) await ana.approve(one);
      await ana.undo(undone);
      await world().advance(60 * SECOND);
      assert.equal(await stateOf(read), "answered true");
      await expireRequest(ctx(), swept.id);
      for (const one of [swept, read]) {
        const { outcome, settledAt, expiresAt } = await readRequest(ctx(), one.id);
        assert.deepEqual([outcome?.approved, (settledAt ?? 0) < expiresAt], [true, true]);
      }
      assert.equal(await stateOf(undone), "expired false");
    });

    itOnOne("is made at once by a key, and where the risk is high", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const one = await ask(toPerson(ana.id));
      assert.equal((await ana.byKey(one)).body.state, "answered");
      const kwargs = canonicalExact({ command: "rm -rf /srv/data" });
      const form = { kind: "approval" as const, fn: "Bash", kwargs, rejectOptions: [], editable: false };
      const bo = await signedIn(world(), "Bo Lind");
      const joint: Audience = { kind: "all", of: [toPerson(ana.id), toPerson(bo.id)] };
      for (const more of [{ form }, { audience: joint }]) {
        const grave = await ask(toPerson(ana.id), more);
        assert.equal((await ana.whole(grave)).risk, "high");
        assert.deepEqual((await ana.approve(grave)).body.presses, []);
        assert.equal((await ana.whole(grave)).decisions.length, 1);
      }
    });

    itOnOne("is refused at the press for what would not count", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const one = await ask(anyOf(ana, bo));
      const reply = await ana.decide(one, { approved: true, digest: "sha256:other" });
      assert.deepEqual([reply.status, reply.body.error.code], [409, "DIGEST_MISMATCH"]);
      assert.deepEqual((await ana.whole(one)).presses, []);
    });

    it("covers many calls at once, each of which leaves by itself", async () => {
      const ana = await signedIn(world(), "Ana Ruiz");
      const asker = `agent:${fresh("bot")}`;
      const calls = [];
      for (let i = 0; i < 3; i += 1) calls.push(await ask(toPerson(ana.id), { asker, kwargs: { order: `A-${i}` } }));
      const { calls: pressed } = (await ana.approveAll(calls)).body;
      assert.ok(
        pressed.every(({ state, until }: { state: string; until: string | null }) => state === "open" && until),
      );
      const [first, ...rest] = calls as [Request, ...Request[]];
      assert.equal((await ana.undo(first)).asks[0].undone, true);
      await passes(UNDO_MS);
      assert.deepEqual(await Promise.all(calls.map(stateOf)), ["open", "answered true", "answered true"]);
      const late = await ana.undo(...rest, first);
      assert.deepEqual(
        late.asks.map(({ undone, state }: { undone: boolean; state: string }) => [undone, state]),
        [
          [false, "answered"],
          [false, "answered"],
          [false, "open"],
        ],
      );
    });

    it("is undone once its person hands the request on", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const one = await ask(anyOf(ana, bo));
      await ana.approve(one);
      await ana.handOn(one, bo);
      await ana.reject(one);
      await ana.handOn(one, bo);
      await passes(2 * UNDO_MS);
      assert.equal(await stateOf(one), "open");
      const presses = ["pressed", "press_undone"];
      assert.deepEqual(await record(one), ["created", ...presses, "handed_on", ...presses]);
    });

    itOnOne("of somebody who may not decide any more is void", async () => {
      const [ana, bo] = [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")];
      const one = await ask(toPerson(ana.id));
      await ana.approve(one);
      await transact(ctx(), (tx) =>
        tx.all(sql`UPDATE requests SET audience = ${JSON.stringify(toPerson(bo.id))} WHERE ask_id = ${one.id}`),
      );
      await passes(UNDO_MS);
      assert.equal(await stateOf(one), "open");
      assert.deepEqual(await record(one), ["created", "pressed", "press_voided not_asked"]);
    });
  });
}

describe("a server that lets nobody undo", () => {
  it("makes what is pressed at once", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_INBOX_UNDO_SECONDS: "0" } });
    const ana = await signedIn(world, "Ana Ruiz");
    const one = await askPeople(world.server.ctx, { audience: toPerson(ana.id) });
    assert.equal((await ana.approve(one)).body.state, "answered");
  });
});
