import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import type { PermissionDecision } from "../../src/workshop/agents/agent.ts";
import { Asking } from "../../src/workshop/asking.ts";
import { openPendingDecisions } from "../../src/workshop/pending-decisions.ts";
import type { SupervisorFact } from "../../src/workshop/supervisor/lines.ts";
import { heldClock } from "../support/held-clock.ts";

const MIGRATE = { tool: "Bash", input: {}, action: "execute", resource: "npm run migrate" } as const;

describe("a request that the agent withdraws", () => {
  it("is canceled, and written down as withdrawn", async () => {
    const facts: SupervisorFact[] = [];
    const counts: number[] = [];
    const pending = openPendingDecisions({
      append: (fact) => facts.push(fact),
      nextRef: () => `1:${facts.length}`,
      onCount: (count) => counts.push(count),
    });
    const leaving = new AbortController();
    const permission = pending.permission(MIGRATE, leaving.signal);
    const question = pending.question({ text: "Which?", options: [] }, leaving.signal);
    leaving.abort();
    assert.deepEqual(await permission, { allow: false, why: "the agent withdrew it", canceled: true });
    assert.deepEqual(await question, { none: true, why: "the agent withdrew it" });
    pending.decide("1:0", { allow: true });
    assert.deepEqual(
      facts.map((fact) => [fact.type, "ref" in fact && fact.ref]),
      [
        ["permission", "1:0"],
        ["question", "1:1"],
        ["withdrawn", "1:0"],
        ["withdrawn", "1:1"],
      ],
    );
    assert.deepEqual([counts.at(-1), (await pending.permission(MIGRATE, leaving.signal)).allow], [0, false]);
  });

  it("is taken back from people, also by a workshop that takes the attempt up later", async () => {
    const line = { seq: 1, at: 1, type: "permission", ref: "1:p", wish: MIGRATE } as const;
    const withdrawn = { seq: 2, at: 2, type: "withdrawn", ref: "1:p" } as const;
    for (const isLater of [false, true]) {
      const decision = Promise.withResolvers<PermissionDecision>();
      const taken = Promise.withResolvers<string>();
      const client = {
        permission: () => decision.promise,
        question: () => Promise.reject(new Error("nothing is asked")),
        withdraw: (ref: string) => {
          decision.resolve({ allow: false, why: "withdrawn", canceled: true });
          taken.resolve(ref);
          return Promise.resolve();
        },
        waiting: () => Promise.resolve(),
        note: () => Promise.resolve(),
      };
      const leave = new AbortController();
      const asking = new Asking({ decide: () => undefined }, client, { leave: leave.signal, clock: systemClock });
      if (isLater) {
        asking.remember(line);
        asking.remember(withdrawn);
        await asking.rememberedAll();
      } else {
        await asking.accept(line);
        await asking.accept(withdrawn);
      }
      assert.equal(await taken.promise, "1:p");
      leave.abort();
    }
  });

  it("is taken back once the store is there again, where it was away", async () => {
    const clock = heldClock();
    const leave = new AbortController();
    const nothing = () => Promise.reject(new Error("nothing is asked"));
    const taken = Promise.withResolvers<string>();
    let isAway = true;
    const withdraw = (ref: string) => {
      if (isAway) return Promise.reject(new Error("the store is away"));
      taken.resolve(ref);
      return Promise.resolve();
    };
    const client = { permission: nothing, question: nothing, withdraw, waiting: async () => {}, note: async () => {} };
    const asking = new Asking({ decide: () => undefined }, client, { leave: leave.signal, clock });
    asking.remember({ seq: 2, at: 2, type: "withdrawn", ref: "1:p" });
    await asking.rememberedAll();
    while (!clock.isAwaited(2000)) await new Promise(setImmediate);
    isAway = false;
    clock.advance(2000);
    assert.equal(await taken.promise, "1:p");
    leave.abort();
  });
});
