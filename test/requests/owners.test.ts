import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Context } from "../../src/context.ts";
import { Refusal } from "../../src/refusals.ts";
import { answerQuestion } from "../../src/questions/answer.ts";
import { createQuestion } from "../../src/questions/create.ts";
import { decideRequest, type Decided } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { readBesidePolicy } from "../../src/policy/list.ts";
import { readTaskOfAsk } from "../../src/tasks/read-task-of-ask.ts";
import { createEndpoint, listWebhookEvents } from "../../src/notices/webhook-endpoints.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES, openWorld } from "../support/world.ts";

const AGENT = "agent:ana-bot";
const SECRET = `ghp_${"aB3dE6gH9".repeat(4)}`;
const refusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

/** Asks the operator through a door whether a call may run for good. */
async function askAt(ctx: Context, door: string) {
  const wire = { standing: true, repo: "shop", id: "t1", attempt: 1, job_id: "job_1" };
  return askPeople(ctx, { door, asker: AGENT, audience: toPerson(OPERATOR), wire });
}

async function allow(ctx: Context, requestId: string, comment: string): Promise<Decided> {
  const responder = await responderOf(ctx.db, OPERATOR, "web");
  return decideRequest(ctx, { requestId, responder, decision: { kind: "approve", withGrant: true, comment } });
}

async function askCrowdAt(ctx: Context, door: string): Promise<string> {
  const audience = ["general"] as const;
  const asked = { door, asker: AGENT, prompt: "Which?", audience, need: 1, timeoutSeconds: 3600, wire: {} };
  return (await createQuestion(ctx, { ...asked, form: { kind: "text" } })).question.id;
}

async function answer(ctx: Context, questionId: string, text: string): Promise<void> {
  const caller = { network: "mac", fingerprint: "bo" };
  await answerQuestion(ctx, { questionId, caller, given: { answer: text }, asAgent: { withKey: false, names: [] } });
}

for (const on of DATABASES) {
  describe(`who owns what is asked on ${on}`, () => {
    it("is the agent itself behind a door that nobody has registered, and no webhook is planned for it", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const input = {
        url: "https://ana.example/hook",
        format: "a2h",
        events: [],
        description: "",
        enabled: true,
      } as const;
      const { endpoint } = await createEndpoint(ctx, AGENT, input, { kind: "agent", id: AGENT });
      const told = async () =>
        (await listWebhookEvents(ctx, endpoint, { limit: 10 })).map(({ requestId }) => requestId);

      const later = await askAt(ctx, "of-a-later-version");
      const { request } = await allow(ctx, later.id, `It is ${SECRET}`);
      assert.deepEqual([request.state, request.outcome?.approved], ["answered", true]);
      assert.deepEqual(await told(), []);
      assert.equal(await readTaskOfAsk(ctx, request), null);

      const known = await askAt(ctx, "a2h");
      await allow(ctx, known.id, "Fine.");
      assert.deepEqual(await told(), [known.id]);
      const { grants } = await readBesidePolicy(ctx);
      assert.deepEqual(grants.map(({ approvalId: requestId }) => requestId).sort(), [later.id, known.id].sort());
    });

    it("is the executor's job or the task, without which a decision finds nothing that waits for it", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      for (const door of ["relay", "assignment"]) {
        const { id } = await askAt(ctx, door);
        await assert.rejects(allow(ctx, id, "Fine."), refusal("request_cancelled"), door);
      }
      assert.deepEqual((await readBesidePolicy(ctx)).grants, []);
    });

    it("is nobody for a question to the crowd that stands for nothing else", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      await answer(ctx, await askCrowdAt(ctx, "of-a-later-version"), `It is ${SECRET}`);

      const standsFor = await askCrowdAt(ctx, "relay");
      await assert.rejects(answer(ctx, standsFor, `It is ${SECRET}`), refusal("invalid_input"));
      await assert.rejects(answer(ctx, standsFor, "The first."), refusal("question_closed"));
    });
  });
}
