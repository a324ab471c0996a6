import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DeliveryError } from "../../src/channels/channel.ts";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { decideByLink, readLink } from "../../src/requests/links/open-link.ts";
import { readChannels } from "../../src/requests/read/figures.ts";
import { handOn } from "../../src/requests/inbox/hand-on.ts";
import { snoozeRequest } from "../../src/requests/inbox/snooze.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, enrol, leaf, providerOf, toPerson, until, type Provider } from "../support/addressed.ts";
import { DATABASES, openWorld, type DatabaseName, type World, onOneDatabase } from "../support/world.ts";

const EMAIL = { channel: "email", target: { to: "ana@example.com", informed: false, settings: {} } } as const;
const SLACK = { channel: "slack", target: { to: "U1", settings: {} } } as const;
const IDENTITIES = [
  { kind: "email", value: "ana@example.com" },
  { kind: "slack", value: "U1" },
] as const;
const MINUTE_MS = 60_000;
interface Scene extends AsyncDisposable {
  world: World;
  slack: Provider;
  email: Provider;
  /** Lets loops look until something holds. */
  settle(holds: () => boolean | Promise<boolean>): Promise<unknown>;
}

async function openScene(on: DatabaseName): Promise<Scene> {
  const [slack, email] = [providerOf("slack"), providerOf("email")];
  const world = await openWorld({ on, channels: [slack, email] });
  return {
    world,
    slack,
    email,
    settle: (holds) =>
      until(async () => {
        await world.advance(500);
        return holds();
      }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const states = async ({ world }: Scene, requestId: string) =>
  (await listDeliveries(world.server.ctx.db, requestId)).map(({ channel, state }) => `${channel} ${state}`);

for (const on of DATABASES) {
  describe(`messages on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    itOnOne("walk a person's channels when one fails for good, or nobody answers in time", async () => {
      await using scene = await openScene(on);
      const { world, slack, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK, EMAIL], { identities: IDENTITIES });

      slack.failing.push(new DeliveryError("no such user", { retry: false, providerCode: "user_not_found" }));
      const failed = await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await scene.settle(async () => (await states(scene, failed.id)).includes("email sent"));
      assert.deepEqual(await states(scene, failed.id), ["slack failed", "email sent"]);

      const silent = await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await scene.settle(async () => (await states(scene, silent.id)).includes("slack sent"));
      assert.equal(email.sent.length, 1);
      await world.advance(15 * MINUTE_MS);
      await scene.settle(async () => (await states(scene, silent.id)).includes("email sent"));
      assert.equal(email.sent.at(-1)?.view.requestId, silent.id);
      assert.deepEqual((await states(scene, silent.id)).sort(), ["email sent", "slack sent"]);
    });

    it("leave as soon as their request is there, and are closed as soon as it is over, while the clock stands", async () => {
      await using scene = await openScene(on);
      const { world, slack } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK], { identities: IDENTITIES });
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await until(async () => (await states(scene, ask.id)).includes("slack sent"));
      await decideRequest(ctx, {
        requestId: ask.id,
        responder: await responderOf(ctx.db, ana, "web"),
        decision: { kind: "approve" },
      });
      await until(async () => (await states(scene, ask.id)).includes("slack closed"));
      assert.equal(slack.sent.length, 1);
    });

    it("show a channel that fails, also after the request of an older mail has ended", async () => {
      await using scene = await openScene(on);
      const { world, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [EMAIL], { identities: IDENTITIES });
      const old = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(async () => (await states(scene, old.id)).includes("email sent"));
      email.failing.push(new DeliveryError("no such mailbox", { retry: false, providerCode: "550" }));
      const lost = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(async () => (await states(scene, lost.id)).includes("email failed"));
      const [before] = await readChannels(ctx);
      assert.deepEqual([before?.failed, before?.failingSince, before?.error], [1, before?.failedAt, "550"]);

      const responder = await responderOf(ctx.db, ana, "web");
      for (const { id } of [old, lost]) {
        await world.advance(MINUTE_MS);
        await decideRequest(ctx, { requestId: id, responder, decision: { kind: "approve" } });
      }
      await scene.settle(async () => (await states(scene, old.id)).includes("email closed"));
      assert.deepEqual(await readChannels(ctx), [before]);
    });

    itOnOne("leave at once while the provider of another channel hangs", async () => {
      await using scene = await openScene(on);
      const { world, slack, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK], { identities: IDENTITIES });
      const ben = await enrol(ctx, "Ben Okafor", [{ ...EMAIL, target: { ...EMAIL.target, to: "ben@example.com" } }], {
        identities: [{ kind: "email", value: "ben@example.com" }],
      });
      let isHanging = false;
      slack.send = (_notice, signal) => {
        isHanging = true;
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
      };
      await askPeople(ctx, { audience: toPerson(ana) });
      await until(() => isHanging);
      await askPeople(ctx, { audience: toPerson(ben) });
      await until(() => email.sent.length === 1);
    });

    it("are tried six times, and then the next channel is", async () => {
      await using scene = await openScene(on);
      const { world, slack } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK, EMAIL], { identities: IDENTITIES });
      slack.failing.push(...Array.from({ length: 6 }, () => new DeliveryError("down", { retry: true })));
      const ask = await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await scene.settle(async () => {
        await world.advance(MINUTE_MS);
        return (await states(scene, ask.id)).includes("email sent");
      });
      assert.deepEqual([slack.failing.length, slack.sent.length], [0, 0]);
      assert.deepEqual(await states(scene, ask.id), ["slack failed", "email sent"]);
    });

    it("are closed wherever they were sent, once somebody has decided, and go nowhere else", async () => {
      await using scene = await openScene(on);
      const { world, slack, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK, EMAIL], { identities: IDENTITIES });
      const audience = {
        kind: "any",
        of: [
          { afterMs: 0, node: toPerson(ana) },
          {
            afterMs: 30 * MINUTE_MS,
            node: leaf({ via: "email", to: "boss@example.com", informed: false, settings: {} }),
          },
        ],
      } as const;
      const ask = await askPeople(ctx, { audience, timeoutSeconds: 86_400 });
      await scene.settle(() => slack.sent.length === 1);
      await decideRequest(ctx, {
        requestId: ask.id,
        responder: await responderOf(ctx.db, ana, "web"),
        decision: { kind: "approve" },
      });
      await scene.settle(() => slack.closed.length === 1);
      assert.equal(slack.closed[0]?.closing.says, "approved by Ana Ruiz.");
      await world.advance(60 * MINUTE_MS);
      await scene.settle(async () => (await states(scene, ask.id)).every((one) => /closed|skipped/.test(one)));
      assert.equal(email.sent.length, 0);
    });

    itOnOne("remind on the newest channel, once", async () => {
      await using scene = await openScene(on);
      const { world, slack } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK], { identities: IDENTITIES });
      await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 3600, remindAfterMs: 48 * MINUTE_MS });
      await scene.settle(() => slack.sent.length === 1);
      await world.advance(48 * MINUTE_MS);
      await scene.settle(() => slack.sent.length === 2);
      await world.advance(10 * MINUTE_MS);
      assert.deepEqual(
        slack.sent.map(({ reminder }) => reminder),
        [false, true],
      );
      const { link = "" } = slack.sent[1] ?? {};
      assert.equal((await readLink(ctx, link.split("/r/")[1] ?? "")).request.id, slack.sent[0]?.view.requestId);
    });

    itOnOne("remind a person who has put the request aside once that ends", async () => {
      await using scene = await openScene(on);
      const { world, slack } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK], { identities: IDENTITIES });
      const of = { audience: toPerson(ana), timeoutSeconds: 86_400, remindAfterMs: 10 * MINUTE_MS };
      const { id } = await askPeople(ctx, of);
      await scene.settle(() => slack.sent.length === 1);
      await snoozeRequest(ctx, { requestId: id, person: ana }, world.clock.now() + 60 * MINUTE_MS);
      await world.advance(10 * MINUTE_MS);
      await scene.settle(async () => (await states(scene, id)).includes("slack queued"));
      await world.advance(40 * MINUTE_MS);
      assert.equal(slack.sent.length, 1);
      await world.advance(10 * MINUTE_MS);
      await scene.settle(() => slack.sent.length === 2);
      assert.equal(slack.sent[1]?.reminder, true);
    });

    itOnOne("hand a request on with a note that comes first, on the next channel where one fails", async () => {
      await using scene = await openScene(on);
      const { world, slack, email } = scene;
      const { ctx } = world.server;
      const bo = await enrol(ctx, "Bo Lind", [], { seesAll: true });
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK, EMAIL], { identities: IDENTITIES, seesAll: true });
      const { id } = await askPeople(ctx, { audience: leaf({ via: "inbox" }) });
      slack.failing.push(new DeliveryError("no such user", { retry: false, providerCode: "user_not_found" }));
      await handOn(ctx, { requestId: id, person: bo }, { to: { person: ana }, note: "Yours?" });
      await scene.settle(async () => (await states(scene, id)).includes("email sent"));
      const [notice] = email.sent;
      assert.deepEqual([notice?.opening, notice?.informsOnly], ["Bo Lind hands you this: Yours?", false]);
      const { link = "", code = "" } = notice ?? {};
      const decided = await decideByLink(ctx, link.split("/r/")[1] ?? "", { decision: { kind: "reject" }, code });
      assert.equal(decided.request.outcome?.by?.id, ana);
    });

    for (const [what, kwargs, showsWhole] of [
      ["of the arguments fit", { text: "x".repeat(20_000) }, undefined],
      ["fits beside the rest of the message", { text: "x" }, () => false],
    ] as const) {
      itOnOne(`offer no approval where not all ${what}`, async () => {
        await using scene = await openScene(on);
        const { world, slack } = scene;
        Object.assign(slack, { showsWhole });
        const { ctx } = world.server;
        const ana = await enrol(ctx, "Ana Ruiz", [SLACK], { identities: IDENTITIES });
        const ask = await askPeople(ctx, { audience: toPerson(ana), kwargs });
        await scene.settle(() => slack.sent.length === 1);
        assert.equal(slack.sent[0]?.whole, false);
        await scene.settle(async () => (await states(scene, ask.id))[0] === "slack sent");
        const pressed = await handleInbound(ctx, "http://parley.test", press(slack, "approve"));
        assert.deepEqual([pressed.kind, (await readRequest(ctx, ask.id)).state], ["needs_page", "open"]);
      });
    }

    it("are answered by a press, once, and only by whom they were sent to", async () => {
      await using scene = await openScene(on);
      const { world, slack } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [SLACK], { identities: IDENTITIES });
      await enrol(ctx, "Mallory", [], { identities: [{ kind: "slack", value: "U9" }] });
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(async () => (await states(scene, ask.id))[0] === "slack sent");

      const say = (more: Partial<InboundMessage>) =>
        handleInbound(ctx, "http://parley.test", { ...press(slack, "approve"), ...more });
      const from = (id: string, member = true) =>
        ({ sender: { kind: "slack", id, team: "T1", member, channel: "D1" } }) as const;
      assert.equal((await say({ id: "1", ...from("U9") })).kind, "not_allowed");
      assert.equal((await say({ id: "2", ...from("U1", false) })).kind, "not_allowed");
      assert.equal((await readRequest(ctx, ask.id)).refused?.attempts, 2);
      // A stranger's reply cannot be understood, and reaches nobody.
      const { thread = "" } = (await listDeliveries(ctx.db, ask.id))[0]?.externalIds ?? {};
      const words = await say({
        id: "5",
        ...from("U9"),
        match: { thread },
        content: { text: "the vault's code is 4711" },
      });
      assert.equal(words.kind, "not_allowed");
      const { refused } = await readRequest(ctx, ask.id);
      assert.deepEqual(
        [refused?.reason, refused?.responder, refused?.input],
        ["responder_not_allowed", "unknown", undefined],
      );
      const told = await Promise.all([say({ id: "3" }), say({ id: "3" }), say({ id: "3" })]);
      assert.deepEqual(told.map(({ kind }) => kind).sort(), ["accepted", "repeated", "repeated"]);
      assert.equal(
        (await say({ id: "4", content: { choice: { kind: "reject" } } })).says,
        "This is over: approved by Ana Ruiz.",
      );
    });

    itOnOne("are answered by mail only from their address, and approved only by mail that was verified", async () => {
      await using scene = await openScene(on);
      const { world, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [EMAIL], { identities: IDENTITIES });
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(async () => (await states(scene, ask.id))[0] === "email sent");
      const { replyToken = "" } = email.sent[0] ?? {};
      const say = (id: string, text: string, more: Partial<InboundMessage> = {}) =>
        handleInbound(ctx, "http://parley.test", {
          provider: "email",
          id,
          at: 0,
          match: { token: replyToken },
          trust: "weak",
          content: { text },
          sender: { kind: "email", id: "ana@example.com" },
          ...more,
        });

      assert.equal(
        (await say("1", "approve", { sender: { kind: "email", id: "mallory@example.com" } })).kind,
        "not_allowed",
      );
      assert.equal((await say("2", "ok but only in the EU", { trust: "verified" })).kind, "not_understood");
      assert.equal((await say("3", "approve")).kind, "needs_page");
      assert.equal((await readRequest(ctx, ask.id)).refused?.reason, "sender_unverified");
      await scene.settle(() => email.told.length === 3);
      assert.ok(email.told.every((words) => !words.includes("not asked")));
      assert.equal(email.told.filter((words) => words.includes("another address than this one")).length, 1);
      assert.equal((await say("4", "approve", { trust: "verified" })).kind, "accepted");
      assert.equal((await readRequest(ctx, ask.id)).outcome?.approved, true);

      const other = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(async () => (await states(scene, other.id))[0] === "email sent");
      const match = { token: email.sent.at(-1)?.replyToken ?? "" };
      assert.equal((await say("5", "Reject: the limit is 4999", { match })).kind, "accepted");
      assert.equal((await readRequest(ctx, other.id)).outcome?.comment, "the limit is 4999");
    });
  });

  describe(`a one-time link on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    itOnOne("shows without deciding, decides with the code of its message, and shows the outcome after", async () => {
      await using scene = await openScene(on);
      const { world, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [EMAIL], { identities: IDENTITIES });
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(() => email.sent.length === 1);
      const { link = "", code = "" } = email.sent[0] ?? {};
      const token = link.split("/r/")[1] ?? "";
      const approve = { kind: "approve" } as const;

      assert.equal((await readLink(ctx, token)).request.state, "open");
      await assert.rejects(decideByLink(ctx, token, { decision: approve }), { code: "code_missing" });
      await assert.rejects(readLink(ctx, "x".repeat(43)), { code: "link_dead" });
      const decided = await decideByLink(ctx, token, { decision: approve, code: code.toLowerCase() });
      assert.deepEqual(decided.request.outcome?.by, { kind: "person", id: ana, via: "email" });
      assert.equal((await decideByLink(ctx, token, { decision: approve, code })).repeated, true);
      assert.equal((await readLink(ctx, token)).request.id, ask.id);
      await world.advance(8 * 24 * 60 * MINUTE_MS);
      await assert.rejects(readLink(ctx, token));
    });

    it("lets five codes be tried, however many are sent at once", async () => {
      await using scene = await openScene(on);
      const { world, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [EMAIL], { identities: IDENTITIES });
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(() => email.sent.length === 1);
      const { link = "" } = email.sent[0] ?? {};
      const token = link.split("/r/")[1] ?? "";
      const guesses = await Promise.allSettled(
        Array.from({ length: 20 }, () => decideByLink(ctx, token, { decision: { kind: "approve" }, code: "ZZZZ" })),
      );
      const said = guesses.map((guess) => (guess.status === "rejected" ? String(guess.reason) : "decided"));
      assert.equal(said.filter((words) => words.includes("Too many wrong codes")).length, 15);
      assert.equal((await readRequest(ctx, ask.id)).state, "open");
    });

    it("is locked by five wrong codes, also for the right one", async () => {
      await using scene = await openScene(on);
      const { world, email } = scene;
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [EMAIL], { identities: IDENTITIES });
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await scene.settle(() => email.sent.length === 1);
      const { link = "", code = "" } = email.sent[0] ?? {};
      const token = link.split("/r/")[1] ?? "";
      const decision = { kind: "approve" } as const;
      for (let i = 0; i < 5; i += 1) await assert.rejects(decideByLink(ctx, token, { decision, code: "ZZZZ" }));
      await assert.rejects(decideByLink(ctx, token, { decision, code }), { code: "code_missing" });
      assert.equal((await readLink(ctx, token)).locked, true);
      assert.equal((await readRequest(ctx, ask.id)).state, "open");
      // The inbox is another way.
      const responder = await responderOf(ctx.db, ana, "web");
      assert.equal((await decideRequest(ctx, { requestId: ask.id, responder, decision })).request.state, "answered");
    });
  });
}

/** A press of a button under the first message, by the person it was sent to. */
function press(slack: Provider, kind: "approve" | "reject"): InboundMessage {
  const { delivery = "" } = slack.sent[0] ?? {};
  return {
    provider: "slack",
    id: "press",
    at: 0,
    match: { delivery, ts: delivery },
    sender: { kind: "slack", id: "U1", team: "T1", member: true, channel: "D1" },
    trust: "signed",
    content: { choice: { kind } },
  };
}
