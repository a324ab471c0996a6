import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../support/contract.ts";
import { newFolder, post, serve, stop, until as untilFound } from "../support/program.ts";
import { APP_TOKEN, controlIn, openSlackDouble, shownIn, type SlackDouble } from "./slack-double.ts";
import {
  aPress,
  aReply,
  aSubmission,
  bodyFor,
  BOT_TOKEN,
  OTHER_TOKEN,
  PRESSED,
  SECRET,
  signedHeaders,
} from "./slack-scene.ts";

const INTERACTIONS = "/humanlayer/v1/slack/interactions";
const EVENTS = "/hooks/slack/events";

interface Call {
  call_id: string;
  status: {
    approved?: boolean;
    comment?: string;
    response?: string;
    reject_option_name?: string;
    user_info?: { via: string };
    deliveries: { via: string; state: string }[];
    failed_validation_details?: { reason: string; input?: string; attempts: number };
  };
}

interface Whole extends AsyncDisposable {
  slack: SlackDouble;
  url: string;
  ask(path: string, spec: object): Promise<Call>;
  read(path: string, id: string): Promise<Call>;
  /** Posts what Slack sends, signed now by default. */
  hook(path: string, payload: unknown, headers?: Record<string, string>): Promise<number>;
  /** Everything the program printed. */
  printed(): string;
}

/** Starts the program as it ships, with Slack configured by its environment. */
async function openWhole(env: Record<string, string> = { PARLEY_SLACK_SIGNING_SECRET: SECRET }): Promise<Whole> {
  const slack = await openSlackDouble();
  const run = await serve(newFolder(), {
    PARLEY_SLACK_BOT_TOKEN: BOT_TOKEN,
    PARLEY_SLACK_API_URL: slack.url,
    PARLEY_LOG_LEVEL: "debug",
    ...env,
  });
  const key = await untilFound(() => /PARLEY_KEY=(parley_agent_\w+)/.exec(run.err())?.[1], "the first key");
  const headers = { authorization: `Bearer ${key}` };
  let asked = 0;
  return {
    slack,
    url: run.url,
    async ask(path, spec) {
      asked += 1;
      const reply = await post(run.url, path, { run_id: "run_9", call_id: `call_${asked}`, spec }, headers);
      const text = await reply.text();
      assert.equal(reply.status, 200, text);
      return JSON.parse(text) as Call;
    },
    read: async (path, id) => (await (await fetch(`${run.url}${path}/${id}`, { headers })).json()) as Call,
    async hook(path, payload, signature) {
      const body = bodyFor(path, payload);
      const type = path.endsWith("events") ? "application/json" : "application/x-www-form-urlencoded";
      const headers = { ...(signature ?? signedHeaders(body, SECRET, Date.now())), "content-type": type };
      return (await fetch(`${run.url}${path}`, { method: "POST", body, headers })).status;
    },
    printed: () => run.out() + run.err(),
    async [Symbol.asyncDispose]() {
      await stop(run);
      await slack[Symbol.asyncDispose]();
      const withoutKey = (run.out() + run.err()).replaceAll(key, "");
      assert.doesNotMatch(withoutKey, /canary/);
    },
  };
}

const CALL = {
  fn: "issue_refund",
  kwargs: { order: "A-1007", amount: 49.9 },
  reject_options: [{ name: "wrong_account", title: "Wrong account" }],
  channel: { slack: { channel_or_user_id: "C024BE91L", allowed_responder_ids: ["U0ANA"] } },
};
const QUESTION = { msg: "Which region?", channel: { slack: { channel_or_user_id: "U0ANA" } } };
const CALLS = "/humanlayer/v1/function_calls";
const CONTACTS = "/humanlayer/v1/human_contacts";

/** Waits for the next message and returns the delivery its buttons carry, and its blocks. */
async function nextMessage({ slack }: Whole) {
  const posted = await slack.next("chat.postMessage");
  const blocks = posted.json("blocks");
  const { event_payload: payload } = posted.json("metadata") as { event_payload: { delivery: string } };
  return { delivery: payload.delivery, blocks, posted };
}

/** Waits until a call's message has come to a state, by asking again. */
async function delivered(whole: Whole, id: string, state: string, path = CALLS): Promise<void> {
  await until(async () => (await whole.read(path, id)).status.deliveries[0]?.state === state);
}

describe("Parley with Slack, whole", () => {
  it("has a call approved by a press, once, by who is allowed, and closes the message", async () => {
    await using whole = await openWhole();
    const { call_id: id } = await whole.ask(CALLS, CALL);
    const { delivery, blocks } = await nextMessage(whole);
    assert.equal(controlIn(blocks, "parley:approve")["value"], delivery);
    assert.match(shownIn(blocks), /"amount": 49\.9/);
    await delivered(whole, id, "sent");

    const press = (more: object) => aPress("parley:approve", { value: delivery, ...more });
    const forged = signedHeaders(bodyFor(INTERACTIONS, press({})), "guessed", Date.now());
    assert.equal(await whole.hook(INTERACTIONS, press({}), forged), 401);
    for (const user of ["U0BO", "U0GUEST", "U0ELSEWHERE"]) {
      assert.equal(await whole.hook(INTERACTIONS, press({ user })), 200);
      const note = await whole.slack.next("chat.postEphemeral");
      assert.deepEqual([note.form["user"], note.form["text"]], [user, "You were not asked."]);
    }
    const before = await whole.read(CALLS, id);
    assert.equal(before.status.approved, undefined);
    assert.equal(before.status.failed_validation_details?.reason, "responder_not_allowed");

    const good = press({});
    assert.equal(await whole.hook(INTERACTIONS, good), 200);
    const closed = await whole.slack.next("chat.update");
    assert.match(shownIn(closed.json("blocks")), /Approved/);
    assert.doesNotMatch(JSON.stringify(closed.form), /parley:/);
    const after = await whole.read(CALLS, id);
    assert.deepEqual([after.status.approved, after.status.user_info?.via], [true, "slack"]);
    assert.match((await whole.slack.next("chat.postEphemeral")).form["text"] ?? "", /^Recorded: approved\./);

    assert.equal(await whole.hook(INTERACTIONS, good), 200);
    assert.equal(await whole.hook(INTERACTIONS, aPress("parley:reject", { value: delivery })), 200);
    assert.match((await whole.slack.next("chat.postEphemeral")).form["text"] ?? "", /^This is over: approved/);
    // When the message was closed may have been noted meanwhile.
    const { deliveries: _, ...decided } = after.status;
    const { deliveries: __, ...stillDecided } = (await whole.read(CALLS, id)).status;
    assert.deepEqual(stillDecided, decided);
  });

  it("has a call rejected in an editor, by an option, and in the thread, where words never approve", async () => {
    await using whole = await openWhole();
    const first = await whole.ask(CALLS, CALL);
    const { delivery } = await nextMessage(whole);
    await delivered(whole, first.call_id, "sent");
    await whole.hook(INTERACTIONS, aPress("parley:reject", { value: delivery }));
    const modal = (await whole.slack.next("views.open")).json("view") as Record<string, unknown>;
    assert.equal(modal["private_metadata"], `${delivery} ${PRESSED}`);
    await whole.hook(INTERACTIONS, aSubmission(modal, "Not theirs"));
    await whole.slack.next("chat.update");
    const { status } = await whole.read(CALLS, first.call_id);
    assert.deepEqual([status.approved, status.comment], [false, "Not theirs"]);
    await whole.slack.next("chat.postEphemeral");

    const second = await whole.ask(CALLS, CALL);
    const other = await nextMessage(whole);
    await delivered(whole, second.call_id, "sent");
    await whole.hook(INTERACTIONS, aPress("parley:opt:0", { value: other.delivery, ts: "1763632800.000002" }));
    await whole.slack.next("chat.update");
    assert.equal((await whole.read(CALLS, second.call_id)).status.reject_option_name, "wrong_account");
    await whole.slack.next("chat.postEphemeral");

    const third = await whole.ask(CALLS, CALL);
    await nextMessage(whole);
    await delivered(whole, third.call_id, "sent");
    const thread = { thread_ts: "1763632800.000003" };
    await whole.hook(EVENTS, aReply("approve", thread));
    assert.match((await whole.slack.next("chat.postEphemeral")).form["text"] ?? "", /press the button/);
    assert.equal((await whole.read(CALLS, third.call_id)).status.approved, undefined);
    await whole.hook(EVENTS, aReply("reject: too much", thread));
    await whole.slack.next("chat.update");
    const rejected = (await whole.read(CALLS, third.call_id)).status;
    assert.deepEqual([rejected.approved, rejected.comment], [false, "too much"]);
  });

  it("has a question answered by Socket Mode, and finds no door for signed requests", async () => {
    await using whole = await openWhole({ PARLEY_SLACK_APP_TOKEN: APP_TOKEN });
    const socket = await whole.slack.nextSocket();
    const { call_id: id } = await whole.ask(CONTACTS, QUESTION);
    const { delivery } = await nextMessage(whole);
    await delivered(whole, id, "sent", CONTACTS);
    assert.equal(await whole.hook(INTERACTIONS, aPress("parley:approve", { value: delivery })), 404);
    const pressed = aPress("parley:answer", { value: delivery, channel: "D0ANA" });
    await socket.send({ envelope_id: "e1", type: "interactive", payload: pressed });
    const modal = (await whole.slack.next("views.open")).json("view") as Record<string, unknown>;
    await socket.send({ envelope_id: "e2", type: "interactive", payload: aSubmission(modal, "eu-west") });
    await whole.slack.next("chat.update");
    assert.equal((await whole.read(CONTACTS, id)).status.response, "eu-west");
  });

  it("lets nothing be decided on Slack that is too long to be shown there", async () => {
    await using whole = await openWhole();
    const { call_id: id } = await whole.ask(CALLS, { ...CALL, kwargs: { body: "x".repeat(3000) } });
    const { delivery, blocks } = await nextMessage(whole);
    assert.doesNotMatch(JSON.stringify(blocks), /parley:/);
    await delivered(whole, id, "sent");
    // Even a press that Slack would sign.
    await whole.hook(INTERACTIONS, aPress("parley:approve", { value: delivery }));
    assert.match((await whole.slack.next("chat.postEphemeral")).form["text"] ?? "", /Confirm on the page/);
    assert.equal((await whole.read(CALLS, id)).status.approved, undefined);
  });

  it("speaks with an agent's own token, which nobody sees again, and names the inbox alone", async () => {
    await using whole = await openWhole();
    const slack = { channel_or_user_id: "C024BE91L", bot_token: OTHER_TOKEN };
    const asked = await whole.ask(CALLS, { ...CALL, channel: { slack } });
    const { posted, blocks } = await nextMessage(whole);
    assert.equal(posted.token, OTHER_TOKEN);
    assert.equal(blocks, null);
    const { text = "" } = posted.form;
    assert.match(text, /^Decide on the page: <http\S+\/inbox\/ask_\w+>$/m);
    assert.doesNotMatch(JSON.stringify(posted.form), /\/r\/|\(code /);
    await delivered(whole, asked.call_id, "sent");
    assert.doesNotMatch(JSON.stringify([asked, await whole.read(CALLS, asked.call_id)]), /canary/);
  });

  it("tells the agent that Slack cannot reach anybody, and not whom", async () => {
    await using whole = await openWhole();
    whole.slack.answer("chat.postMessage", () => ({ body: { ok: false, error: "channel_not_found" } }));
    const { call_id: id } = await whole.ask(CALLS, CALL);
    await delivered(whole, id, "failed");
    assert.doesNotMatch(JSON.stringify((await whole.read(CALLS, id)).status), /C024BE91L|channel_not_found/);
  });
});
