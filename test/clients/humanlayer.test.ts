import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as sdk from "@humanlayer/sdk";
import * as classic from "humanlayer";
import { openScene, type KeyHolder, type Scene } from "../support/a2h.ts";
import { advanceUntil, until } from "../support/contract.ts";
import { ONE_DATABASE } from "../support/world.ts";

type Client = ReturnType<typeof classic.humanlayer>;

/** The two packages as they are published; only their own pause between two polls is made short. */
const PACKAGES = [
  { name: "humanlayer 0.7.5", open: classic.humanlayer },
  { name: "@humanlayer/sdk 0.7.9", open: sdk.humanlayer as unknown as typeof classic.humanlayer },
] as const;

/** They ask again in the next turn. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function clientOf(scene: Scene, open: typeof classic.humanlayer, path = "/humanlayer/v1"): Client {
  return open({ apiKey: scene.agent.key, apiBaseUrl: `${scene.world.url}${path}`, sleep: nextTurn });
}

/** The packages want the time of the request too, which is the server's to say and is passed over. */
const YES = { approved: true, requested_at: new Date(0) };

/** Answers the one request that is pending, once there is one. */
async function answerNext(
  { agent }: Scene,
  by: KeyHolder,
  kind: "function_calls" | "human_contacts",
  body: Record<string, unknown>,
): Promise<void> {
  const pending = await until(async () => (await agent.get(`/agent/${kind}/pending`)).body.items[0]);
  const reply = await by.post(`/agent/${kind}/${pending.call_id}/respond`, body);
  assert.equal(reply.status, 200, reply.text);
}

for (const on of ONE_DATABASE) {
  for (const { name, open } of PACKAGES) {
    describe(`${name} on ${on}`, () => {
      it("runs a function once it is approved, and hears why it is not", async () => {
        await using scene = await openScene(on);
        const ana = await scene.human("Ana Ruiz");
        const hl = clientOf(scene, open);
        const runs: unknown[] = [];
        const refund = (kwargs: { order: string }) => {
          runs.push(kwargs);
          return `refunded ${kwargs.order}`;
        };
        const channel = { human: { id: ana.id } } as never;
        const guarded = hl.requireApproval(channel)(refund);

        const [approved] = await Promise.all([
          guarded({ order: "A-1007" }),
          answerNext(scene, ana.answer, "function_calls", { approved: true }),
        ]);
        assert.equal(approved, "refunded A-1007");

        const [rejected] = await Promise.all([
          guarded({ order: "A-1008" }),
          answerNext(scene, ana.answer, "function_calls", { approved: false, comment: "Already refunded" }),
        ]);
        assert.equal(rejected, "User denied function refund with comment: Already refunded");

        const [bare] = await Promise.all([
          guarded({ order: "A-1009" }),
          answerNext(scene, ana.answer, "function_calls", { approved: false }),
        ]);
        assert.equal(bare, "User denied function refund with comment: Rejected without a comment");
        assert.deepEqual(runs, [{ order: "A-1007" }]);
      });

      it("hears which way to reject was chosen", async () => {
        await using scene = await openScene(on);
        const ana = await scene.human("Ana Ruiz");
        const hl = clientOf(scene, open);
        const spec = {
          fn: "refund",
          kwargs: { order: "A-1007" },
          channel: { human: { id: ana.id } } as never,
          reject_options: [{ name: "later", title: "Not today", prompt_fill: "Ask me tomorrow" }],
        };
        const [status] = await Promise.all([
          hl.fetchHumanApproval({ spec: spec as never }),
          answerNext(scene, ana.answer, "function_calls", { approved: false, reject_option_name: "later" }),
        ]);
        const told = status as { approved?: boolean; comment?: string; reject_option_name?: string };
        assert.deepEqual([told.approved, told.comment, told.reject_option_name], [false, "Ask me tomorrow", "later"]);
      });

      it("asks a person as a tool, and takes an option for an answer", async () => {
        await using scene = await openScene(on);
        const ana = await scene.human("Ana Ruiz");
        const hl = clientOf(scene, open, "/humanlayer/v1/");
        const ask = hl.humanAsTool({ human: { id: ana.id } } as never);
        const [words] = await Promise.all([
          ask({ message: "Which day suits you?" }),
          answerNext(scene, ana.answer, "human_contacts", { response: "Tuesday" }),
        ]);
        assert.equal(words, "Tuesday");

        const spec = { msg: "Ship it?", response_options: [{ name: "yes", title: "Ship it" }, { name: "no" }] };
        const [chosen] = await Promise.all([
          hl.fetchHumanResponse({ spec: { ...spec, channel: { human: { id: ana.id } } } as never }),
          answerNext(scene, ana.answer, "human_contacts", { response_option_name: "yes" }),
        ]);
        assert.equal(chosen, "Ship it");
      });

      it("creates and reads calls and contacts, escalates them, and is told what is wrong", async () => {
        await using scene = await openScene(on);
        const hl = clientOf(scene, open);
        const call = await hl.createFunctionCall({ spec: { fn: "refund", kwargs: { amount: 49.9 } } });
        assert.deepEqual(call.spec, { fn: "refund", kwargs: { amount: 49.9 } });
        const read = await hl.getFunctionCall(call.call_id);
        assert.deepEqual([read.call_id, read.run_id, read.status?.approved], [call.call_id, call.run_id, undefined]);
        const contact = await hl.createHumanContact({ spec: { msg: "Hello?" } });
        assert.equal((await hl.getHumanContact(contact.call_id)).spec.msg, "Hello?");

        const escalation = {
          escalation_msg: "Nobody has looked yet",
          channel: { email: { address: "ana@example.com", context_about_user: "lead" } },
        };
        const escalated = await hl.escalateEmailFunctionCall(call.call_id, escalation as never);
        assert.equal(escalated.status?.approved, undefined);
        await advanceUntil(scene.world, 500, () => scene.email.sent.length > 0);
        assert.equal(scene.email.sent[0]?.opening, "Nobody has looked yet");

        await assert.rejects(
          hl.getFunctionCall("nothing"),
          /GET \/function_calls\/nothing 404: .*There is no such call/,
        );
        await assert.rejects(
          hl.createHumanContact({ spec: { msg: "" } }),
          /POST \/contact_requests 422: .*"loc":\["body","spec","msg"\]/,
        );
      });

      it("answers its own call only with a key that an admin let do so", async () => {
        await using scene = await openScene(on);
        const hl = clientOf(scene, open);
        const backend = hl.backend ?? assert.fail("no backend");
        const call = await hl.createFunctionCall({ spec: { fn: "refund", kwargs: {} } });
        await assert.rejects(backend.functions().respond(call.call_id, YES), /403: .*its own request/);

        const own = await scene.holder({ name: "support", scope: "agent", selfRespond: true });
        const free = open({ apiKey: own.key, apiBaseUrl: `${scene.world.url}/humanlayer/v1`, sleep: nextTurn });
        const answered = await free.backend?.functions().respond(call.call_id, YES);
        assert.equal(answered?.status?.approved, true);
      });
    });
  }
}
