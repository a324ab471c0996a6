import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accepted, freshId, openScene, type KeyHolder, type Scene } from "../support/a2h.ts";
import type { Reply } from "../support/world.ts";

/** Every optional field of every model is sent, as null where nothing was given: that is how pydantic writes a model. */
const NO_SLACK = {
  context_about_channel_or_user: null,
  allowed_responder_ids: null,
  bot_token: null,
  experimental_slack_blocks: null,
  thread_ts: null,
};
const NO_EMAIL = {
  context_about_user: null,
  additional_recipients: null,
  subject: null,
  experimental_subject_line: null,
  references_message_id: null,
  in_reply_to_message_id: null,
  experimental_in_reply_to_message_id: null,
  experimental_references_message_id: null,
  template: null,
};
const NO_CHANNEL = { slack: null, sms: null, whatsapp: null, email: null };
const NO_OPTION = { title: null, description: null, prompt_fill: null, interactive: false };
const NO_SPEC = { channel: null, state: null };

const functionCall = (spec: object) => ({
  run_id: "run_9",
  call_id: freshId(),
  spec: { fn: "multiply", kwargs: { x: 2, y: null }, reject_options: null, ...NO_SPEC, ...spec },
  status: null,
});
const humanContact = (spec: object) => ({
  run_id: "run_9",
  call_id: freshId(),
  spec: { msg: "Which day?", subject: null, response_options: null, ...NO_SPEC, ...spec },
  status: null,
});

/** Reads a reply as the client does: it parses JSON before it looks at the status, and checks the types it knows. */
function read(reply: Reply): Record<string, unknown> {
  assert.match(reply.headers.get("content-type") ?? "", /^application\/json/);
  const { run_id, call_id, spec, status } = accepted(reply);
  for (const text of [run_id, call_id]) assert.equal(typeof text, "string");
  assert.equal(typeof spec, "object");
  for (const time of ["requested_at", "responded_at"])
    if (status[time] !== undefined) assert.ok(Number.isFinite(Date.parse(status[time])), time);
  for (const words of ["comment", "response"]) assert.match(typeof status[words], /^(string|undefined)$/);
  return status;
}

const answerOf = async (ana: { answer: KeyHolder }, kind: string, id: string, body: object) =>
  accepted(await ana.answer.post(`/agent/${kind}/${id}/respond`, body));

async function openPython(): Promise<{ scene: Scene; ana: { id: string; answer: KeyHolder } }> {
  const scene = await openScene("sqlite");
  const ana = await scene.human("Ana Ruiz", {
    prioritizedContactChannels: [
      { slack: { channelOrUserId: "U2147483697" } },
      { email: { address: "ana@example.com" } },
    ],
  });
  return { scene, ana };
}

describe("requests as HumanLayer's Python SDK writes them", () => {
  it("are approved, and rejected with a comment that is never missing", async () => {
    const { scene, ana } = await openPython();
    await using _ = scene;
    const channels = [
      { ...NO_CHANNEL, slack: { channel_or_user_id: "U2147483697", ...NO_SLACK } },
      { ...NO_CHANNEL, email: { address: "ana@example.com", ...NO_EMAIL } },
    ];
    for (const [i, channel] of channels.entries()) {
      const call = functionCall({ channel, reject_options: [{ name: "no", ...NO_OPTION }] });
      const posted = read(await scene.agent.post("/function_calls", call));
      assert.equal(posted["approved"], undefined, "it waits");
      const answer = i === 0 ? { approved: true } : { approved: false };
      await answerOf(ana, "function_calls", call.call_id, answer);
      const { approved, comment } = read(await scene.agent.get(`/function_calls/${call.call_id}`));
      assert.deepEqual([approved, comment], i === 0 ? [true, undefined] : [false, "Rejected without a comment"]);
    }
    // A whole status may be posted back, nulls and all.
    const call = functionCall({ channel: channels[0] });
    read(await scene.agent.post("/function_calls", call));
    const status = { requested_at: null, responded_at: null, approved: false, comment: "no", user_info: null };
    await answerOf(ana, "function_calls", call.call_id, { ...status, reject_option_name: null, slack_context: null });
    assert.equal(read(await scene.agent.get(`/function_calls/${call.call_id}`))["comment"], "no");
  });

  it("ask a person at the address that the SDK has for it, with options or words", async () => {
    const { scene, ana } = await openPython();
    await using _ = scene;
    const channel = { ...NO_CHANNEL, slack: { channel_or_user_id: "U2147483697", ...NO_SLACK } };
    for (const [options, said, wanted] of [
      [null, { response: "Tuesday" }, "Tuesday"],
      [[{ name: "mon", ...NO_OPTION, title: "Monday" }], { response_option_name: "mon", response: null }, "Monday"],
    ] as const) {
      const contact = humanContact({ channel, response_options: options });
      assert.equal(read(await scene.agent.post("/contact_requests", contact))["response"], undefined);
      await answerOf(ana, "human_contacts", contact.call_id, said);
      assert.equal(read(await scene.agent.get(`/contact_requests/${contact.call_id}`))["response"], wanted);
    }
  });

  it("go to whoever sees all where no channel is given, or one without a member", async () => {
    const { scene } = await openPython();
    await using _ = scene;
    for (const channel of [null, NO_CHANNEL]) {
      const call = functionCall({ channel });
      const posted = read(await scene.agent.post("/function_calls", call));
      assert.equal(posted["approved"], undefined);
      const again = await scene.agent.post("/function_calls", call);
      assert.equal(again.headers.get("idempotency-replayed"), "true");
    }
  });
});
