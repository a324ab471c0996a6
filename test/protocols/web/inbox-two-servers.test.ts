import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { readAudit } from "../../../src/core/read-audit.ts";
import { cancelRequest } from "../../../src/requests/end/end.ts";
import { followInbox } from "../../../src/requests/inbox/follow-inbox.ts";
import { expireDueRequests } from "../../../src/requests/loops/expire.ts";
import { answerInquiry, noteInquiriesTold } from "../../../src/requests/inbox/inquire.ts";
import { ANSWERS_INQUIRIES } from "../../../src/requests/model/inquiry.ts";
import type { Audience, Request } from "../../../src/requests/model/request.ts";
import { readRequest, waitForRequest } from "../../../src/requests/read/read-request.ts";
import { askPeople, providerOf, toPerson } from "../../support/addressed.ts";
import { advanceUntil, DAY, fresh, HOUR, sharedWorld, wireNow } from "../../support/contract.ts";
import { anyOf, signedIn } from "../../support/signed-in.ts";
import type { Node } from "../../support/world.ts";

const SECOND = 1000;
const UNDO_MS = 5 * SECOND;
const ROUNDS = 12;

describe("the inbox at two servers of one database", () => {
  const slack = providerOf("slack");
  const world = sharedWorld({ on: "postgres", channels: [slack], env: { PARLEY_INBOX_UNDO_SECONDS: "5" } });
  let other: Node;
  before(async () => {
    other = await world().addNode();
  });

  const ctx = () => world().server.ctx;
  const ask = (audience: Audience, more: Parameters<typeof askPeople>[1] = {}) =>
    askPeople(ctx(), { ref: fresh("call"), asker: `agent:${fresh("bot")}`, audience, ...more });
  const many = async (audience: Audience) => {
    const asks: Request[] = [];
    while (asks.length < ROUNDS) asks.push(await ask(audience));
    return asks;
  };
  const two = async () => [await signedIn(world(), "Ana Ruiz"), await signedIn(world(), "Bo Lind")] as const;
  /** Both servers look at once for what is due. */
  const due = () =>
    Promise.all(
      [world().server, other.server].map(async (server) => {
        while (await expireDueRequests(server.ctx, AbortSignal.timeout(10_000)));
      }),
    );
  const passes = async (ms: number) => {
    await world().advance(ms);
    await due();
  };
  const stateOf = async ({ id }: Request) => {
    const { state, outcome } = await readRequest(other.server.ctx, id);
    return outcome?.by ? `${outcome.approved ? "approved" : "rejected"} by ${outcome.by.id}` : state;
  };
  const record = async (one: Request) =>
    (await readAudit(ctx(), { subjectId: one.id, afterSeq: 0, limit: 50 })).items.map(({ action, data }) => {
      const { reason } = (data ?? {}) as { reason?: string };
      return action.replace("function_call.", "") + (reason === undefined ? "" : ` ${reason}`);
    });

  describe("has a decision that is pressed on one of them", () => {
    it("undone on the other, pressed there, and made once", async () => {
      const [ana, bo] = await two();
      const one = await ask(anyOf(ana, bo));
      await ana.approve(one);
      assert.equal((await ana.at(other).whole(one)).presses[0].mine, true);
      assert.deepEqual((await ana.at(other).list()).asks, []);
      assert.equal((await bo.at(other).list()).asks[0]?.being_decided, true);
      assert.deepEqual((await ana.at(other).undo(one)).asks, [{ id: one.id, undone: true, state: "open" }]);
      await passes(2 * UNDO_MS);
      assert.equal(await stateOf(one), "open");
      assert.deepEqual([(await ana.list()).counts.all, (await bo.list()).asks[0]?.being_decided], [1, false]);

      await ana.at(other).reject(one);
      await ana.reject(one);
      await passes(UNDO_MS);
      assert.equal(await stateOf(one), `rejected by ${ana.id}`);
      assert.deepEqual((await ana.at(other).undo(one)).asks, [{ id: one.id, undone: false, state: "answered" }]);
      assert.deepEqual(await record(one), ["created", "pressed", "press_undone", "pressed", "rejected"]);
    });

    it("void by what ends it on the other", async () => {
      const [ana, bo] = await two();
      const left = await signedIn(world(), "Cy Moss");
      const [rejected, decided, withdrawn] = [
        await ask(anyOf(ana, bo)),
        await ask(anyOf(ana, bo)),
        await ask(anyOf(ana, bo)),
      ];
      for (const one of [rejected, decided, withdrawn]) await ana.approve(one);
      const ended = await ask(toPerson(left.id));
      await left.approve(ended);
      await bo.at(other).reject(rejected);
      assert.equal((await bo.at(other).byKey(decided)).body.state, "answered");
      await cancelRequest(other.server.ctx, withdrawn.id, { kind: "agent", id: withdrawn.asker });
      await left.at(other).signOut();
      await passes(UNDO_MS);
      assert.deepEqual(await Promise.all([rejected, decided, withdrawn, ended].map(stateOf)), [
        `rejected by ${bo.id}`,
        `approved by ${bo.id}`,
        "cancelled",
        "open",
      ]);
      const pressed = ["created", "pressed"];
      assert.deepEqual(await record(rejected), [...pressed, "press_voided rejected", "pressed", "rejected"]);
      assert.deepEqual(await record(decided), [...pressed, "press_voided approved", "approved"]);
      assert.deepEqual(await record(withdrawn), [...pressed, "press_voided cancelled", "cancelled"]);
      assert.deepEqual(await record(ended), [...pressed, "press_voided session_ended"]);
    });

    it("made by the other, where that one is gone, also by the deadline", async () => {
      const [ana] = await two();
      const gone = await world().addNode();
      const [usual, short] = [await ask(toPerson(ana.id)), await ask(toPerson(ana.id), { timeoutSeconds: 3 })];
      for (const one of [usual, short]) await ana.at(gone).approve(one);
      await gone.server.stop();
      await passes(60 * SECOND);
      for (const one of [usual, short]) {
        assert.equal(await stateOf(one), `approved by ${ana.id}`);
        assert.deepEqual(await record(one), ["created", "pressed", "approved"]);
        const { settledAt, expiresAt } = await readRequest(ctx(), one.id);
        assert.ok((settledAt ?? Infinity) < expiresAt);
      }
    });

    it("made once, however many servers find it due", async () => {
      const [ana] = await two();
      const asks = await many(toPerson(ana.id));
      await Promise.all(asks.map((one, i) => (i % 2 === 0 ? ana : ana.at(other)).approve(one)));
      await world().advance(UNDO_MS);
      await Promise.all([due(), due(), ...asks.map((one) => readRequest(other.server.ctx, one.id))]);
      for (const one of asks) {
        assert.equal(await stateOf(one), `approved by ${ana.id}`);
        assert.deepEqual(await record(one), ["created", "pressed", "approved"]);
      }
    });

    it("undone or made, and never both, where its undo meets its end", async () => {
      const [ana] = await two();
      const asks = await many(toPerson(ana.id));
      for (const one of asks) await ana.approve(one);
      await world().advance(UNDO_MS);
      const [replies] = await Promise.all([Promise.all(asks.map((one) => ana.at(other).undo(one))), due()]);
      await passes(UNDO_MS);
      for (const [i, one] of asks.entries()) {
        const { undone, state } = replies[i].asks[0];
        assert.deepEqual(
          [state, await stateOf(one), await record(one)],
          undone
            ? ["open", "open", ["created", "pressed", "press_undone"]]
            : ["answered", `approved by ${ana.id}`, ["created", "pressed", "approved"]],
        );
      }
    });

    it("rejected, where another rejects on the other at the same moment", async () => {
      const [ana, bo] = await two();
      const asks = await many(anyOf(ana, bo));
      await Promise.all(asks.flatMap((one) => [ana.approve(one), bo.at(other).reject(one)]));
      await passes(UNDO_MS);
      for (const one of asks) {
        assert.equal(await stateOf(one), `rejected by ${bo.id}`);
        const noted = await record(one);
        assert.equal(noted.filter((action) => /^(approved|rejected)$/.test(action)).length, 1, noted.join());
        assert.ok(noted.includes("press_voided rejected"), noted.join());
      }
    });
  });

  it("tells on the one what is pressed, undone, put aside and handed on at the other", async () => {
    const [ana, bo] = await two();
    const one = await ask(anyOf(ana, bo));
    const stop = new AbortController();
    const told = followInbox(other.server.ctx, bo.id, stop.signal);
    const next = async () => {
      for (;;) {
        let found: readonly (string | null)[] | undefined;
        const looking = told.next().then(({ value }) => (found = value as typeof found));
        await advanceUntil(world(), 20, () => found !== undefined);
        await looking;
        if (found?.length !== 0) return found;
      }
    };
    assert.deepEqual(await next(), [null]);
    for (const act of [
      () => ana.approve(one),
      () => ana.undo(one),
      () => bo.snooze(one, wireNow(world(), HOUR / 2)),
      () => bo.wake(one),
      () => ana.handOn(one, bo),
    ]) {
      await act();
      assert.deepEqual(await next(), [one.id]);
    }
    stop.abort();
    await told.return?.(undefined);
  });

  it("has a request put aside on the one put aside on the other", async () => {
    const [ana] = await two();
    const one = await ask(toPerson(ana.id), { timeoutSeconds: 86_400 });
    await ana.snooze(one, wireNow(world(), HOUR));
    const { asks, counts } = await ana.at(other).list();
    assert.deepEqual([asks, counts.all, counts.snoozed], [[], 0, 1]);
    await ana.at(other).wake(one);
    assert.deepEqual([(await ana.list()).counts.all, (await ana.list()).counts.snoozed], [1, 0]);

    const times = [wireNow(world(), HOUR), wireNow(world(), 2 * HOUR)] as const;
    const both = await Promise.all([ana.snooze(one, times[0]), ana.at(other).snooze(one, times[1])]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [200, 200],
    );
    const until = (await ana.whole(one)).snoozed_until;
    assert.ok(times.includes(until), until);
    assert.equal((await ana.at(other).whole(one)).snoozed_until, until);
    await world().advance(Date.parse(until) - world().clock.now());
    assert.equal((await ana.at(other).list()).counts.all, 1);
  });

  it("has a request handed on once, by the last who did, and a press of its person undone", async () => {
    const [ana, bo] = await two();
    const cy = await signedIn(world(), "Cy Moss");
    const asks = await many(anyOf(ana, bo, cy));
    const [first] = asks as [Request, ...Request[]];
    await ana.approve(first);
    assert.equal((await ana.at(other).handOn(first, bo)).status, 200);
    assert.deepEqual(
      (await bo.list()).asks.filter(({ handed_by: by }) => by).map(({ id }) => id),
      [first.id],
    );
    await ana.at(other).takeBack(first);
    assert.deepEqual(
      (await ana.list()).asks.some(({ id }) => id === first.id),
      true,
    );

    const handed = await Promise.all(
      asks.flatMap((one) => [ana.handOn(one, bo), ana.at(other).handOn(one, cy), ana.approve(one)]),
    );
    assert.ok(handed.every(({ status }) => status === 200));
    const toBo = (await bo.list()).asks.filter(({ handed_by: by }) => by?.id === ana.id).map(({ id }) => id);
    const toCy = (await cy.at(other).list()).asks.filter(({ handed_by: by }) => by?.id === ana.id).map(({ id }) => id);
    assert.deepEqual([...toBo, ...toCy].toSorted(), asks.map(({ id }) => id).toSorted(), "each to one of them");

    await passes(UNDO_MS);
    for (const one of asks) {
      const noted = await record(one);
      const last = noted.findLast((action) => /^(pressed|press_undone)$/.test(action));
      assert.equal(await stateOf(one), last === "pressed" ? `approved by ${ana.id}` : "open", noted.join());
    }
  });

  it("has its agent asked back on the one while it waits at the other, and answered once", async () => {
    const [ana, bo] = await two();
    const one = await ask(anyOf(ana, bo), { wire: ANSWERS_INQUIRIES });
    const { signal } = new AbortController();
    const waiting = waitForRequest(ctx(), one.id, { waitMs: HOUR, signal, untilAskedBack: true });
    const questions = [ana.at(other).askBack(one, "Why?"), bo.askBack(one, "For whom?")];
    assert.deepEqual(
      (await Promise.all(questions)).map(({ status }) => status),
      [200, 200],
    );
    assert.ok((await waiting).inquiries);
    const told = await noteInquiriesTold(ctx(), await readRequest(ctx(), one.id));
    assert.ok(told.inquiries?.every(({ toldAt }) => toldAt !== undefined));

    const answer = (server: Node, text: string) =>
      answerInquiry(server.server.ctx, { asker: one.asker, id: `${one.id}.1` }, text);
    const answers = await Promise.allSettled([answer(world(), "Here"), answer(other, "There")]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    const [shown] = (await bo.at(other).whole(one)).inquiries;
    assert.equal(shown.answer, answers[0].status === "fulfilled" ? "Here" : "There");
    assert.deepEqual((await record(one)).toSorted(), ["asked_back", "asked_back", "created", "inquiry_answered"]);
  });

  it("sends to the stand-in of somebody who is away on the one what is asked at the other, once", async () => {
    const ana = await signedIn(world(), "Ana Ruiz", { slack: "UANA" });
    const bo = await signedIn(world(), "Bo Lind", { slack: "UBO" });
    const sentTo = (one: Request) =>
      slack.sent.filter(({ view }) => view.requestId === one.id).map(({ target }) => (target as { to: string }).to);
    const asked = async () => {
      const one = await askPeople(other.server.ctx, { ref: fresh("call"), audience: anyOf(ana, bo) });
      await advanceUntil(world(), 100, () => sentTo(one).length > 0);
      return one;
    };
    await ana.goAway(wireNow(world(), DAY), bo);
    const away = await asked();
    const line = (await bo.at(other).list()).asks.find(({ id }) => id === away.id);
    assert.deepEqual([line?.handed_by?.id, line?.handed_by?.away_until !== null], [ana.id, true]);
    await ana.at(other).comeBack();
    const back = await asked();
    await advanceUntil(world(), 100, () => sentTo(back).length === 2);
    assert.deepEqual([sentTo(away), sentTo(back).toSorted()], [["UBO"], ["UANA", "UBO"]]);
  });
});
