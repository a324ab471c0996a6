import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import { Inbox } from "@parley/sdk/inbox";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";

const PAY = { fn: "pay_out", args: { amount: 1 } };

describe("a question back to a program that asks by the SDK", () => {
  let scene: Scene;
  let parley: Parley;
  before(async () => {
    scene = await openScene("sqlite", { at: Date.now() });
    parley = new Parley({ url: scene.world.url, key: scene.agent.key });
  });
  after(() => scene[Symbol.asyncDispose]());

  async function somebody() {
    const name = fresh("Ana Ruiz");
    const { answer } = await scene.human(name);
    const inbox = new Inbox({ url: scene.world.url, key: answer.key });
    const waiting = () => until(async () => (await inbox.asks()).asks[0]);
    return {
      name,
      inbox,
      waiting,
      askBack: async (question: string) => inbox.askBack((await waiting()).id, question),
      answered: async (place: number) => {
        const { id } = await waiting();
        return until(async () => (await inbox.ask(id)).inquiries[place]?.answer ?? undefined);
      },
      decide: async (decision: object) => {
        const { digest, id } = await inbox.ask((await waiting()).id);
        await inbox.decide(id, { ...(digest !== null && { digest }), ...decision });
      },
    };
  }

  it("is answered once, and the approval is waited for meanwhile", async () => {
    const ana = await somebody();
    const asked: string[] = [];
    const decision = parley.approve({
      ...PAY,
      to: ana.name,
      onInquiry: ({ text, by }) => {
        asked.push(`${by.name}: ${text}`);
        return text === "Say nothing" ? undefined : `You asked: ${text}`;
      },
    });
    await ana.askBack("Why?");
    assert.equal(await ana.answered(0), "You asked: Why?");
    await ana.askBack("Say nothing");
    await ana.askBack("For whom?");
    assert.equal(await ana.answered(2), "You asked: For whom?");
    await ana.decide({ approved: true });
    assert.equal((await decision).approved, true);
    assert.deepEqual(
      asked,
      ["Why?", "Say nothing", "For whom?"].map((text) => `${ana.name}: ${text}`),
    );
  });

  it("does not hold up a decision that comes before the answer", async () => {
    const ana = await somebody();
    const late = Promise.withResolvers<string>();
    const asked = Promise.withResolvers<void>();
    const decision = parley.approve({ ...PAY, to: ana.name, onInquiry: () => (asked.resolve(), late.promise) });
    await ana.askBack("Why?");
    await asked.promise;
    await ana.decide({ approved: true });
    assert.equal((await decision).approved, true);
    late.resolve("Too late");
  });

  it("ends the wait by an error of the program, and the request stays", async () => {
    const ana = await somebody();
    const wrong = new Error("no model");
    const key = fresh("key");
    const decision = parley.approve({
      ...PAY,
      to: ana.name,
      idempotencyKey: key,
      onInquiry: () => Promise.reject(wrong),
    });
    const rejected = assert.rejects(decision, wrong);
    await ana.askBack("Why?");
    await rejected;
    const again = parley.decision(key, { onInquiry: () => "Because" });
    assert.equal(await ana.answered(0), "Because");
    await ana.decide({ approved: true });
    assert.equal((await again).approved, true);
  });

  it("is answered for a plan, for a question to a person, and refused where the program cannot", async () => {
    const ana = await somebody();
    const onInquiry = () => "Because";
    const plan = parley.approveAll([PAY], { to: ana.name, onInquiry });
    await ana.askBack("Why?");
    assert.equal(await ana.answered(0), "Because");
    await ana.decide({ approved: true });
    assert.equal((await plan).approved, true);
    const reply = parley.askPerson({ to: ana.name, message: "Which day?", onInquiry });
    await ana.askBack("For what?");
    assert.equal(await ana.answered(0), "Because");
    await ana.decide({ text: "Friday" });
    assert.equal((await reply).value, "Friday");
    const silent = parley.approve({ ...PAY, to: ana.name });
    await assert.rejects(ana.askBack("Why?"), { code: "CANNOT_ASK_BACK" });
    await ana.decide({ approved: true });
    await silent;
  });
});
