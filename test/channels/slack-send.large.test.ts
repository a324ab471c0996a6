import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { pino } from "pino";
import { slackChannel } from "../../src/channels/slack/slack.ts";
import type { RequestView } from "../../src/requests/model/view.ts";
import type { SlackTarget } from "../../src/channels/slack/target.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { controlIn, elementsOf, shownIn } from "./slack-double.ts";
import {
  aNotice,
  aQuestion,
  aView,
  BOT_TOKEN,
  DELIVERY,
  LINK,
  never,
  openSlackScene,
  OTHER_SECRET,
  OTHER_TOKEN,
  type SlackScene,
} from "./slack-scene.ts";

const SLACK = new URL("../../src/channels/slack/slack.ts", import.meta.url).href;

const target = (settings: SlackTarget["settings"] = {}, to = "C024BE91L"): SlackTarget => ({
  via: "slack",
  to,
  settings,
});

async function blocksOf(scene: SlackScene, more: Parameters<typeof aNotice>[0] = {}) {
  await scene.channel.send(aNotice(more), never());
  const [posted] = scene.slack.of("chat.postMessage").slice(-1);
  assert.ok(posted);
  return posted.json("blocks");
}

const actionsIn = (blocks: Parameters<typeof elementsOf>[0]) =>
  elementsOf(blocks).flatMap(({ action_id: id }) => (typeof id === "string" ? [id] : []));

const OPTION = { name: "eu", title: "EU", interactive: false };

describe("an approval on Slack", () => {
  it("is one form-encoded call with the token in a header and JSON in its fields", async () => {
    await using scene = await openSlackScene();
    const { externalIds } = await scene.channel.send(aNotice(), never());
    const [call] = scene.slack.of("chat.postMessage");
    assert.ok(call);
    assert.equal(scene.slack.calls.length, 1);
    assert.equal(call.contentType, "application/x-www-form-urlencoded");
    assert.equal(call.token, BOT_TOKEN);
    assert.equal(call.form["token"], undefined);
    assert.equal(call.form["unfurl_links"], "false");
    assert.equal(call.form["unfurl_media"], "false");
    assert.equal(call.form["thread_ts"], undefined);
    assert.equal(call.form["text"], "The agent support asks for a decision: issue_refund");
    assert.deepEqual(call.json("metadata"), { event_type: "parley_ask", event_payload: { delivery: DELIVERY } });
    assert.deepEqual(externalIds, {
      channel: "C024BE91L",
      ts: "1763632800.000001",
      team: "T0PARLEY",
      thread: "C024BE91L/1763632800.000001",
    });
  });

  it("shows the sentence, who asks and until when, the function, every argument as it is, and the agent's words last", async () => {
    await using scene = await openSlackScene();
    const sentence = "Refund 240 EUR, order A-1007";
    const blocks = await blocksOf(scene, { view: aView({ sentence }) });
    assert.ok(Array.isArray(blocks));
    assert.deepEqual(blocks[0], { type: "header", text: { type: "plain_text", text: sentence, emoji: false } });
    assert.deepEqual(blocks[2], {
      type: "section",
      text: { type: "plain_text", text: "Function: issue_refund", emoji: false },
    });
    const shown = shownIn(blocks);
    assert.match(shown, /Asked by the agent support, a program · run run_9/);
    assert.match(shown, /until <!date\^1795428000\^\{date_short_pretty\} \{time\}\|2026-11-23 10:00 UTC>/);
    assert.match(shown, /digest e64dd4d7/);
    assert.deepEqual(blocks[3], {
      type: "rich_text",
      elements: [{ type: "rich_text_preformatted", elements: [{ type: "text", text: aView().argumentsText }] }],
    });
    assert.ok(shown.indexOf("The agent's own words:") > shown.indexOf('"order"'));
    assert.ok(shown.indexOf("nine days") > shown.indexOf("The agent's own words:"));
  });

  it("offers buttons that carry the delivery's id and nothing else", async () => {
    await using scene = await openSlackScene();
    const options = [OPTION, { name: "wrong", title: "Wrong account", interactive: true, description: "Not theirs" }];
    const blocks = await blocksOf(scene, { view: aView({ options }) });
    assert.deepEqual(actionsIn(blocks), ["parley:approve", "parley:opt:0", "parley:opt:1", "parley:reject"]);
    for (const action of actionsIn(blocks)) assert.equal(controlIn(blocks, action)["value"], DELIVERY);
    assert.match(shownIn(blocks), /Wrong account: Not theirs/);
    assert.doesNotMatch(JSON.stringify(blocks), /canary/);
  });

  it("makes a menu of more than five options, and has a choice in it confirmed", async () => {
    await using scene = await openSlackScene();
    const five = Array.from({ length: 5 }, (_, i) => ({ ...OPTION, name: `o${i}`, title: `Option ${i}` }));
    assert.equal(actionsIn(await blocksOf(scene, { view: aView({ options: five }) })).length, 7);

    const options = [...five, OPTION];
    const blocks = await blocksOf(scene, { view: aView({ options }) });
    assert.deepEqual(actionsIn(blocks), ["parley:approve", "parley:options", "parley:reject"]);
    const menu = controlIn(blocks, "parley:options") as { options: { value: string }[]; confirm: object };
    assert.deepEqual(
      menu.options.map(({ value }) => value),
      options.map((_, i) => `${DELIVERY}:${i}`),
    );
    assert.ok(menu.confirm);
  });

  it("offers nothing to decide where the arguments are too long: function, names, how much, and the link", async () => {
    await using scene = await openSlackScene();
    const argumentsText = `{\n  "body": "${"x".repeat(5000)}"\n}`;
    const view = aView({ argumentsText, argumentsLength: 5012, argumentNames: ["body"] });
    const blocks = await blocksOf(scene, { view, whole: false });
    assert.deepEqual(actionsIn(blocks), []);
    const shown = shownIn(blocks);
    assert.match(shown, /Arguments: body\n5012 characters are on the page\./);
    assert.doesNotMatch(shown, /xxxx|nine days/);
    assert.match(shown, /code 7KQ2/);
    assert.deepEqual(
      elementsOf(blocks).flatMap(({ type, url }) => (type === "link" ? [url] : [])),
      [LINK],
    );
  });

  it("shows a name that is too long for a header in full", async () => {
    await using scene = await openSlackScene();
    const fn = `${"safe_".repeat(40)}delete_everything`;
    assert.ok(shownIn(await blocksOf(scene, { view: aView({ fn, title: fn }) })).includes(fn));
  });

  it("offers the link instead of buttons where no press could be heard", async () => {
    await using scene = await openSlackScene({ signingSecret: undefined });
    const blocks = await blocksOf(scene);
    assert.deepEqual(actionsIn(blocks), []);
    assert.match(shownIn(blocks), /"order": "A-1007"/);
    assert.match(JSON.stringify(blocks), /canary-link-token/);
  });

  it("says that it is a reminder, and puts the words of an escalation first", async () => {
    await using scene = await openSlackScene();
    const shown = shownIn(await blocksOf(scene, { reminder: true, opening: "Please <b>hurry</b>" }));
    assert.match(shown, /^Reminder: .*\nThe agent says, in its own words:\nPlease <b>hurry<\/b>\n/);
    assert.ok(shown.indexOf("Please") < shown.indexOf("issue_refund"));
  });

  it("fits into what Slack takes, whatever an agent writes", async () => {
    await using scene = await openSlackScene();
    const long = (length: number) => "\\u200b*_`<!channel>&".repeat(length / 10).slice(0, length);
    const options = Array.from({ length: 25 }, (_, i) => ({
      name: `o${i}`,
      title: i === 3 ? " " : long(400),
      description: long(500),
      interactive: i % 2 === 0,
    }));
    const most = { words: long(40_000), sentence: long(200), title: long(998), run: long(2000), agent: long(500) };
    const argumentsText = long(2800);
    for (const count of [0, 5, 25]) {
      const shown = { ...most, options: options.slice(0, count) };
      await blocksOf(scene, { view: aView({ ...shown, fn: long(2560), argumentsText }), opening: long(5000) });
      await blocksOf(scene, { view: aView({ ...shown, argumentsText: long(9000) }), whole: false });
      await blocksOf(scene, { view: aQuestion(shown), opening: long(5000) });
      const schema = { type: "object", description: long(30_000) };
      await blocksOf(scene, { view: aQuestion({ ...most, kind: "value", schema }) });
    }
    assert.equal(scene.slack.of("chat.postMessage").length, 12);
  });

  it("asks in the thread that the agent names", async () => {
    await using scene = await openSlackScene();
    const threadTs = "1763000000.000100";
    const { externalIds } = await scene.channel.send(aNotice({ target: target({ threadTs }) }), never());
    assert.equal(scene.slack.of("chat.postMessage")[0]?.form["thread_ts"], threadTs);
    assert.equal(externalIds["thread"], `C024BE91L/${threadTs}`);
  });

  it("opens a conversation with a user first", async () => {
    await using scene = await openSlackScene();
    const { externalIds } = await scene.channel.send(aNotice({ target: target({}, "U0ANA") }), never());
    assert.deepEqual(
      scene.slack.calls.map(({ method }) => method),
      ["conversations.open", "chat.postMessage"],
    );
    assert.equal(scene.slack.of("conversations.open")[0]?.form["users"], "U0ANA");
    assert.equal(externalIds["channel"], "D0ANA");
  });
});

describe("a question on Slack", () => {
  it("offers its answers, room for another, and the thread", async () => {
    await using scene = await openSlackScene();
    const blocks = await blocksOf(scene, { view: aQuestion({ options: [OPTION] }) });
    assert.deepEqual(actionsIn(blocks), ["parley:opt:0", "parley:answer"]);
    assert.match(shownIn(blocks), /Or answer in the thread of this message\./);
    assert.match(shownIn(blocks), /Which region shall I deploy to\?/);
    assert.doesNotMatch(JSON.stringify(blocks), /canary|7KQ2/);
  });

  it("shows the schema of a value that no form can be drawn for, and links to the page", async () => {
    await using scene = await openSlackScene();
    const blocks = await blocksOf(scene, { view: aQuestion({ kind: "value", schema: { type: "array" } }) });
    assert.match(shownIn(blocks), /"array"/);
    assert.match(JSON.stringify(blocks), /canary-link-token/);
  });
});

describe("a Slack message in plain text", () => {
  it("holds the same without blocks: nothing in it is markup, and it decides by the link", async () => {
    await using scene = await openSlackScene();
    const view = aView({
      argumentsText: '{\n  "to": "<!channel> ```&amp;"\n}',
      words: "*Trust* <https://evil.example|me>",
    });
    await scene.channel.send(aNotice({ target: target({ plain: true }), view }), never());
    const { form = {} } = scene.slack.of("chat.postMessage")[0] ?? {};
    assert.equal(form["blocks"], undefined);
    assert.equal(form["mrkdwn"], "false");
    assert.equal(form["parse"], "none");
    assert.match(form["text"] ?? "", /decision: issue_refund/);
    assert.match(form["text"] ?? "", /"to": "&lt;!channel&gt; ```&amp;amp;"/);
    assert.match(form["text"] ?? "", /The agent's own words:\n> \*Trust\* &lt;https:\/\/evil\.example\|me&gt;/);
    assert.match(form["text"] ?? "", /Decide on the page: <http:[^>]*canary-link-token> \(code 7KQ2\)$/);
  });

  it("invites to the thread for a question, and holds back arguments that are too long", async () => {
    await using scene = await openSlackScene();
    await scene.channel.send(aNotice({ target: target({ plain: true }), view: aQuestion() }), never());
    const long = aView({ argumentsText: "y".repeat(3000), argumentsLength: 3000, argumentNames: ["body"] });
    await scene.channel.send(aNotice({ target: target({ plain: true }), view: long, whole: false }), never());
    const [question, approval] = scene.slack.of("chat.postMessage").map(({ form }) => form["text"] ?? "");
    assert.match(question ?? "", /Answer in the thread of this message, or on the page: </);
    assert.match(approval ?? "", /Arguments: body\n3000 characters are on the page/);
    assert.doesNotMatch(approval ?? "", /yyy|nine days/);
  });
});

describe("what may be answered to a Slack message in plain text", () => {
  it("stands in it: ready-made answers and ways to reject by number, or what a value has to be", async () => {
    await using scene = await openSlackScene();
    const value = (shape: RequestView["shape"], schema: object | null = {}) =>
      aQuestion({ kind: "value", schema: schema as RequestView["schema"], shape });
    const field = { name: "n", label: "How <many>", required: true, nullable: false } as const;
    const number = { kind: "number", says: "a whole number, at least 3" } as const;
    const yesOrNo = [
      { name: "yes", title: "Approve", interactive: false },
      { name: "no", title: "Reject", description: "It <stops>", interactive: false },
    ];
    for (const [view, says] of [
      [aQuestion({ options: yesOrNo }), "Answers, by name or number:\n> #1 Approve\n> #2 Reject (It &lt;stops&gt;)\n"],
      [aView({ options: [OPTION] }), "Ways to reject:\n> #1 EU\n"],
      [
        { ...value({ kind: "decision", comment: "optional" }), options: yesOrNo },
        "Answers, by name or number, and a comment after a comma:\n> #1 Approve\n",
      ],
      [value(number), "The answer is:\n> a whole number, at least 3\n"],
      [value({ kind: "object", fields: [{ ...field, of: number }] }), "has these fields:\n> How &lt;many&gt;\n"],
      [value({ kind: "json" }, { type: "array" }), 'has to fit this schema:\n> {\n>   "type": "array"\n> }\n'],
    ] as const) {
      await scene.channel.send(aNotice({ target: target({ plain: true }), view }), never());
      const text = scene.slack.of("chat.postMessage").at(-1)?.form["text"] ?? "";
      assert.ok(text.includes(says), `${JSON.stringify(text)} holds ${JSON.stringify(says)}`);
    }
  });
});

describe("a Slack message that is over", () => {
  const sent = { externalIds: { channel: "C024BE91L", ts: "1763632800.000001" } };
  const closing = { says: "approved by Ana Ruiz.", at: Date.UTC(2026, 10, 20, 12, 30), view: aView() };

  it("keeps what was asked and shows the outcome in place of its buttons", async () => {
    await using scene = await openSlackScene();
    await scene.channel.close?.(target(), sent, closing, never());
    const [call] = scene.slack.of("chat.update");
    assert.ok(call);
    const blocks = call.json("blocks");
    assert.deepEqual([call.form["channel"], call.form["ts"]], ["C024BE91L", "1763632800.000001"]);
    assert.deepEqual(actionsIn(blocks), []);
    assert.match(shownIn(blocks), /"order": "A-1007"[^]*Approved by Ana Ruiz\.\n<!date\^1795177800\^/);
    assert.equal(call.form["text"], "The agent support asks for a decision: issue_refund: Approved by Ana Ruiz.");
  });

  it("does so in plain text too", async () => {
    await using scene = await openSlackScene();
    await scene.channel.close?.(target({ plain: true }), sent, { ...closing, says: "approved by <A>." }, never());
    const [call] = scene.slack.of("chat.update");
    assert.equal(call?.form["blocks"], undefined);
    assert.match(call?.form["text"] ?? "", /Approved by &lt;A&gt;\. 2026-11-20 12:30 UTC$/);
  });

  it("gets words to whoever it was sent to in its thread", async () => {
    await using scene = await openSlackScene();
    await scene.channel.tell?.(target(), sent, "It was <over>.", never());
    const { form = {} } = scene.slack.of("chat.postMessage")[0] ?? {};
    assert.deepEqual([form["thread_ts"], form["text"]], ["1763632800.000001", "It was &lt;over&gt;."]);
    assert.equal(form["mrkdwn"], "false");
  });

  it("cannot be closed when it is gone, and trying again does not help", async () => {
    await using scene = await openSlackScene();
    scene.slack.answer("chat.update", () => ({ body: { ok: false, error: "message_not_found" } }));
    await assert.rejects(async () => scene.channel.close?.(target(), sent, closing, never()), { retry: false });
  });
});

describe("an app of the agent's own", () => {
  const settings = { botToken: "token_1" };
  const openToken = async (reference: string) => (reference === "token_1" ? OTHER_TOKEN : undefined);

  it("speaks with its own token, and has no buttons until an admin registers it", async () => {
    await using scene = await openSlackScene({}, { openToken });
    const blocks = await blocksOf(scene, { target: target(settings) });
    assert.equal(scene.slack.of("chat.postMessage")[0]?.token, OTHER_TOKEN);
    assert.deepEqual(actionsIn(blocks), []);
  });

  it("has buttons once it is registered", async () => {
    const apps = [{ appId: "A0OTHER", botToken: OTHER_TOKEN, signingSecret: OTHER_SECRET }];
    await using scene = await openSlackScene({ apps }, { openToken });
    assert.ok(actionsIn(await blocksOf(scene, { target: target(settings) })).includes("parley:approve"));
  });

  it("says for good that a token is gone", async () => {
    await using scene = await openSlackScene({}, { openToken });
    const notice = aNotice({ target: target({ botToken: "token_2" }) });
    await assert.rejects(scene.channel.send(notice, never()), { retry: false, providerCode: "no_token" });
  });
});

describe("the Slack channel", () => {
  const settings = { apps: [], apiUrl: "http://127.0.0.1:9/api/" };

  it("is not there without a token", () => {
    const outside = { clock: systemClock, fetch, log: pino({ level: "silent" }), openFor: async () => assert.fail() };
    assert.equal(slackChannel({ ...settings, signingSecret: "s", appToken: "xapp-1" }, outside), undefined);
  });

  it("loads Slack's libraries when it sends, and not before", async () => {
    const program = `
      import { createRequire } from "node:module";
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes("@slack"));
      const { slackChannel } = await import(${JSON.stringify(SLACK)});
      const channel = slackChannel(${JSON.stringify({ ...settings, botToken: "xoxb-1" })}, { fetch, clock: {}, log: {} });
      const before = loaded();
      const sent = { externalIds: { channel: "C1", ts: "1" } };
      await channel.tell({ to: "C1", settings: {} }, sent, "x", new AbortController().signal).catch(() => undefined);
      console.log(before, loaded());`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    assert.equal(stdout, "false true\n");
  });
});
