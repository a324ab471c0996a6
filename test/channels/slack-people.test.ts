import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InboundMessage } from "../../src/channels/channel.ts";
import type { HeldClock } from "../support/held-clock.ts";
import { TEAM } from "./slack-double.ts";
import {
  aNotice,
  aPress,
  aQuestion,
  aReply,
  aSubmission,
  aView,
  DELIVERY,
  openSlackScene,
  PRESSED,
  say,
  toldTo,
} from "./slack-scene.ts";

const EVENTS = "/hooks/slack/events";
const OPTIONS = [
  { name: "wrong", title: "Wrong account", interactive: false },
  { name: "less", title: "Less", interactive: true, promptFill: "At most 20 EUR" },
];

describe("a press on Slack", () => {
  it("to approve is heard as whose it is, of which delivery, and nothing else", async () => {
    await using scene = await openSlackScene();
    const press = aPress("parley:approve");
    assert.deepEqual(await say(scene, press), {
      provider: "slack",
      id: `action ${press.actions[0]?.action_ts} U0ANA`,
      at: scene.clock.now(),
      match: { delivery: DELIVERY, ts: PRESSED },
      sender: { kind: "slack", id: "U0ANA", team: TEAM, member: true, channel: "C024BE91L" },
      trust: "signed",
      content: { choice: { kind: "approve" } },
    });
    assert.deepEqual(toldTo(scene), ["U0ANA: Recorded: approved."]);
  });

  it("on an option answers at once, by button or by menu", async () => {
    await using scene = await openSlackScene();
    scene.opened = { view: aView({ options: OPTIONS }) };
    const byButton = await say(scene, aPress("parley:opt:0"));
    const byMenu = await say(scene, aPress("parley:options", { value: `${DELIVERY}:0` }));
    for (const message of [byButton, byMenu]) {
      assert.deepEqual(
        [message?.match, message?.content],
        [{ delivery: DELIVERY, ts: PRESSED }, { choice: { kind: "option", index: 0 } }],
      );
    }
    assert.deepEqual(scene.slack.of("views.open"), []);
  });

  const EDITED: readonly [
    action: string,
    view: ReturnType<typeof aView>,
    fill: string | undefined,
    text: string | null,
    said: InboundMessage["content"],
  ][] = [
    ["parley:reject", aView(), undefined, "Too much", { choice: { kind: "reject", comment: "Too much" } }],
    ["parley:reject", aView(), undefined, null, { choice: { kind: "reject" } }],
    [
      "parley:opt:1",
      aView({ options: OPTIONS }),
      "At most 20 EUR",
      "At most 30 EUR",
      { choice: { kind: "option", index: 1, text: "At most 30 EUR" } },
    ],
    [
      "parley:opt:1",
      aQuestion({ options: OPTIONS }),
      "At most 20 EUR",
      " as is ",
      { choice: { kind: "option", index: 1, text: "as is" } },
    ],
    ["parley:answer", aQuestion(), undefined, "eu-west", { text: "eu-west" }],
  ];
  for (const [action, view, fill, text, content] of EDITED) {
    it(`on ${action} of a ${view.kind} opens an editor, and ${JSON.stringify(text)} there is the answer`, async () => {
      await using scene = await openSlackScene();
      scene.opened = { view };
      const press = aPress(action);
      assert.equal(await say(scene, press), undefined);
      const [open] = scene.slack.of("views.open");
      assert.equal(open?.form["trigger_id"], press.trigger_id);
      const modal = open?.json("view") as {
        private_metadata: string;
        blocks: [unknown, { element: { initial_value?: string }; optional: boolean }];
      };
      assert.equal(modal.private_metadata, `${DELIVERY} ${PRESSED}`);
      assert.equal(modal.blocks[1].element.initial_value, fill);
      assert.equal(modal.blocks[1].optional, action === "parley:reject");

      const message = await say(scene, aSubmission(modal, text));
      assert.deepEqual(message?.match, { delivery: DELIVERY, ts: PRESSED });
      assert.deepEqual(message?.content, content);
      assert.deepEqual(message?.sender, { kind: "slack", id: "U0ANA", team: TEAM, member: true, channel: "C024BE91L" });
      assert.match(message?.id ?? "", /^view V0/);
    });
  }

  it("is checked again when an editor is sent off by somebody else", async () => {
    await using scene = await openSlackScene();
    await say(scene, aPress("parley:reject"));
    const modal = scene.slack.of("views.open")[0]?.json("view") as Record<string, unknown>;
    const message = await say(scene, aSubmission(modal, "No", "U0GUEST"));
    assert.deepEqual(message?.sender, {
      kind: "slack",
      id: "U0GUEST",
      team: TEAM,
      member: false,
      channel: "C024BE91L",
    });
  });

  it("opens no editor for somebody who was not asked, or of an ask that is over", async () => {
    const asked: unknown[] = [];
    await using scene = await openSlackScene(
      {},
      {
        openFor: async (delivery, presser) => {
          asked.push([delivery, presser]);
          return { refused: "You were not asked." };
        },
      },
    );
    assert.equal(await say(scene, aPress("parley:reject", { user: "U0GUEST" })), undefined);
    assert.deepEqual(asked, [[DELIVERY, { id: "U0GUEST", channel: "C024BE91L", ts: PRESSED, member: false }]]);
    assert.deepEqual(scene.slack.of("views.open"), []);
    assert.deepEqual(toldTo(scene), ["U0GUEST: You were not asked."]);
  });
});

describe("who speaks on Slack", () => {
  for (const user of [
    "U0GUEST",
    "U0ONECHANNEL",
    "U0BOT",
    "U0LEFT",
    "U0STRANGER",
    "U0ELSEWHERE",
    "U0NOBODY",
    "USLACKBOT",
  ]) {
    it(`is no full member if it is ${user}, and is told so alone`, async () => {
      await using scene = await openSlackScene();
      scene.verdict = { kind: "not_allowed", says: "You were not asked." };
      const message = await say(scene, aPress("parley:approve", { user }));
      assert.ok(message?.sender.kind === "slack" && !message.sender.member);
      const reply = await say(scene, aReply("reject", { user }));
      assert.ok(reply?.sender.kind === "slack" && !reply.sender.member);
      assert.deepEqual(toldTo(scene), [`${user}: You were not asked.`, `${user}: You were not asked.`]);
    });
  }

  it("is nobody that a payload calls a member of another workspace, or of ours without being one", async () => {
    await using scene = await openSlackScene();
    const message = [
      await say(scene, aPress("parley:approve", { team: "T0OTHER" })),
      await say(scene, aReply("reject", { team: "T0OTHER" })),
      await say(scene, aReply("reject", { user_team: "T0OTHER" })),
      await say(scene, aPress("parley:approve", { user: "U0ELSEWHERE", team: TEAM })),
    ];
    assert.deepEqual(
      message.map((one) => one?.sender.kind === "slack" && one.sender.member),
      [false, false, false, false],
    );
  });

  it("is a member of each workspace of a company that Slack lists, whichever Slack counts them to", async () => {
    await using scene = await openSlackScene();
    const message = [
      await say(scene, aPress("parley:approve", { user: "U0BOTH", team: "T0OTHER" })),
      await say(scene, aReply("reject", { user: "U0BOTH", user_team: "T0OTHER" })),
      await say(scene, aPress("parley:approve", { user: "U0BOTH", team: "T0ELSE" })),
      await say(scene, aPress("parley:approve", { user: "U0GRID", team: "T0OTHER" })),
      await say(scene, aPress("parley:approve", { user: "U0GRID" })),
    ];
    assert.deepEqual(
      message.map((one) => one?.sender.kind === "slack" && one.sender.member),
      [true, true, false, false, false],
    );
  });

  it("is no member while Slack does not say so, and is asked about again", async () => {
    await using scene = await openSlackScene();
    scene.slack.answer("users.info", () => ({ status: 503, body: "away" }));
    const during = await say(scene, aPress("parley:approve"));
    scene.slack.answer("users.info", () => undefined);
    const after = await say(scene, aPress("parley:approve"));
    assert.deepEqual(
      [during, after].map((one) => one?.sender.kind === "slack" && one.sender.member),
      [false, true],
    );
    assert.match(scene.logged.join(""), /"code":"http_503"/);
  });

  it("is remembered for ten minutes and no longer", async () => {
    await using scene = await openSlackScene();
    const clock = scene.clock as HeldClock;
    const memberNow = async () => {
      const message = await say(scene, aPress("parley:approve"));
      return message?.sender.kind === "slack" && message.sender.member;
    };
    assert.equal(await memberNow(), true);
    scene.slack.users.set("U0ANA", { id: "U0ANA", team_id: TEAM, deleted: true });
    clock.advance(599_000);
    assert.equal(await memberNow(), true);
    clock.advance(2000);
    assert.equal(await memberNow(), false);
    assert.equal(scene.slack.of("users.info").length, 2);
    assert.equal(scene.slack.of("auth.test").length, 1);
  });
});

describe("words in a Slack thread", () => {
  it("are heard with the thread they stand in", async () => {
    await using scene = await openSlackScene();
    const reply = aReply("reject, too expensive");
    const { talk, ...heard } = (await say(scene, reply)) ?? assert.fail("nothing was heard");
    assert.deepEqual([talk?.begins, talk?.goesOn, talk?.threads], [false, true, ["slack:C024BE91L/1763632800.000001"]]);
    assert.deepEqual(heard, {
      provider: "slack",
      id: `event ${reply.event_id}`,
      at: scene.clock.now(),
      match: { thread: "C024BE91L/1763632800.000001" },
      sender: { kind: "slack", id: "U0ANA", team: TEAM, member: true, channel: "C024BE91L" },
      trust: "signed",
      content: { text: "reject, too expensive" },
    });
    const sent = await scene.channel.send(
      { ...aNotice(), target: { via: "slack", to: "C024BE91L", settings: { threadTs: "1763632800.000001" } } },
      new AbortController().signal,
    );
    assert.equal(sent.externalIds["thread"], "C024BE91L/1763632800.000001");
  });

  const WRITTEN: readonly [marked: string, text: string][] = [
    ["<@U0PARLEY> reject: no", "reject: no"],
    ["<@U0PARLEY|parley>, eu-west", "eu-west"],
    ["a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"],
    ["&amp;lt;", "&lt;"],
    [
      "see <https://example.com/a?b=1&amp;c=2> or <https://example.com|this>",
      "see https://example.com/a?b=1&c=2 or this (https://example.com)",
    ],
    ["<mailto:ana@example.com|ana@example.com>, <tel:+4930901820|+4930901820>", "ana@example.com, +4930901820"],
    ["<http://example.com|example.com>, <https://example.com/|Example.com>", "example.com, Example.com"],
    ["<mailto:ana@example.com|Ana>", "Ana (ana@example.com)"],
    ["<https://example.com/?a=1&amp;b=2|a &amp; b>", "a & b (https://example.com/?a=1&b=2)"],
    ["<https://example.com|https://example.org>", "https://example.org (https://example.com)"],
    ["ask <@U0BO|bo> or <@U0CY>, in <#C024BE91L|general> or <#C9|>", "ask @bo or @U0CY, in #general or #C9"],
    ["<!here>, <!channel|@channel>, <!subteam^S1|@ops>, <!subteam^S2>", "@here, @channel, @ops, @S2"],
    ["<!date^1763632800^{date}|20 November>", "20 November"],
    ['```{"amount": 40}```', '{"amount": 40}'],
    ["line one\nline two", "line one\nline two"],
  ];
  for (const [marked, text] of WRITTEN) {
    it(`are read as they were written: ${marked}`, async () => {
      await using scene = await openSlackScene();
      assert.deepEqual((await say(scene, aReply(marked)))?.content, { text });
    });
  }

  it("count from a file's comment and from a reply shown in the channel too", async () => {
    await using scene = await openSlackScene();
    for (const subtype of ["file_share", "thread_broadcast"]) assert.ok(await say(scene, aReply("eu", { subtype })));
  });

  it("may be a file alone, which is no answer, and whose person is told so", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "not_understood", says: "This was not understood.", reason: "unparseable" };
    const file = { subtype: "file_share", files: [{ id: "F0FORM" }] };
    const heard = (await say(scene, aReply("", file))) ?? assert.fail("nothing was heard");
    assert.deepEqual(heard.content, { text: "" });
    assert.deepEqual(toldTo(scene), ["U0ANA: This was not understood."]);
    assert.equal(await say(scene, aReply("", { subtype: "file_share", files: [] })), undefined);
  });

  const UNHEARD: readonly [what: string, more: Record<string, unknown>][] = [
    ["bots", { bot_id: "B0SOME" }],
    ["a bot without a name", { bot_id: "" }],
    ["edits", { subtype: "message_changed" }],
    ["deletions", { subtype: "message_deleted" }],
    ["joins", { subtype: "channel_join" }],
    ["nobody", { user: undefined }],
    ["messages outside of threads", { thread_ts: undefined }],
    ["the first message of a thread", { thread_ts: "1.1", ts: "1.1" }],
    ["messages without words", { text: " " }],
    ["reactions", { type: "reaction_added" }],
  ];
  for (const [what, more] of UNHEARD) {
    it(`are not heard of ${what}`, async () => {
      await using scene = await openSlackScene();
      assert.equal(await say(scene, aReply("approve", more)), undefined);
      assert.deepEqual(scene.slack.calls, []);
    });
  }

  it("lead to no reply where nothing was asked", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "no_match", says: "Nothing is waiting." };
    await say(scene, aReply("shall we have lunch?"));
    assert.deepEqual(toldTo(scene), []);
  });

  it("that cannot approve lead to the button, in the thread, and never to the link", async () => {
    await using scene = await openSlackScene();
    scene.verdict = {
      kind: "needs_page",
      says: "To approve, please press the button.",
      link: "http://127.0.0.1/r/canary",
    };
    await say(scene, aReply("approve"));
    const [note] = scene.slack.of("chat.postEphemeral");
    assert.equal(note?.form["thread_ts"], "1763632800.000001");
    assert.match(note?.form["text"] ?? "", /^To approve, please press the button\. /);
    assert.doesNotMatch(JSON.stringify(note?.form), /canary/);
  });

  it("are answered three times an hour at most", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "not_understood", says: "This was not understood." };
    for (let i = 0; i < 5; i += 1) await say(scene, aReply("hm"));
    assert.equal(toldTo(scene).length, 3);
    await say(scene, aReply("hm", { user: "U0BO" }));
    (scene.clock as HeldClock).advance(3_600_000);
    await say(scene, aReply("hm"));
    assert.equal(toldTo(scene).length, 5);
    assert.equal(scene.messages.length, 7);
  });

  it("spoken to the app begin a conversation: by a mention in the thread of it, in a direct message in all that is said", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "passed_on", says: "Passed on to the agent support." };
    const inDm = { thread_ts: undefined, channel_type: "im", channel: "D0ANA" };
    const direct = await say(scene, aReply("hello", { ...inDm, ts: "1.5" }));
    assert.deepEqual([direct?.content, direct?.match], [{ text: "hello" }, { thread: "D0ANA/1.5" }]);
    assert.deepEqual(direct?.talk, {
      at: { channel: "slack", app: null },
      begins: true,
      goesOn: true,
      proved: true,
      source: "slack D0ANA 1.5",
      threads: ["slack:D0ANA"],
      thread: "slack:D0ANA",
      target: { via: "slack", to: "U0ANA", settings: {} },
      raw: {
        thread_ts: "1.5",
        channel_id: "D0ANA",
        team_id: TEAM,
        events: [
          { from_user_id: "U0ANA", channel_id: "D0ANA", content: "hello", message_id: "1.5", message_ts: "1.5" },
        ],
      },
    });
    const mention = { type: "app_mention", thread_ts: undefined, ts: "2.5" };
    const inChannel = await say(scene, aReply("<@U0PARLEY> hello &amp; hi", mention));
    assert.deepEqual(inChannel?.content, { text: "hello & hi" });
    const { talk } = inChannel ?? {};
    assert.deepEqual([talk?.begins, talk?.goesOn, talk?.thread], [true, true, "slack:C024BE91L/2.5"]);
    const target = { via: "slack", to: "C024BE91L", allowed: ["U0ANA"], settings: { threadTs: "2.5" } };
    assert.deepEqual(talk?.target, target);
    const inThread = await say(scene, aReply("<@U0PARLEY> and you?", { type: "app_mention" }));
    assert.deepEqual([inThread?.talk?.begins, inThread?.talk?.goesOn], [true, false]);
    assert.match(toldTo(scene).join("\n"), /^U0ANA: Passed on to the agent support\./);
  });

  it("spoken to the app where no agent takes any lead to a friendly note", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "no_match", says: "Nothing is waiting." };
    await say(scene, aReply("hello", { thread_ts: undefined, channel_type: "im", channel: "D0ANA" }));
    await say(scene, aReply("<@U0PARLEY> hello", { type: "app_mention", thread_ts: undefined }));
    assert.match(toldTo(scene).join("\n"), /^U0ANA: Answer a question by its buttons[^\n]*\nU0ANA: Answer/);
  });

  it("are told to Slack as taken once they are kept, and come again where they could not be", async () => {
    await using scene = await openSlackScene();
    const { receive } = scene;
    scene.receive = async () => {
      throw new Error("the store is away");
    };
    const mention = aReply("<@U0PARLEY> hello", { type: "app_mention", thread_ts: undefined });
    assert.equal((await scene.signed(EVENTS, mention)).status, 500);
    assert.deepEqual(toldTo(scene), []);
    scene.receive = receive;
    assert.equal((await scene.signed(EVENTS, mention)).status, 200);
    assert.equal(scene.messages.length, 1);
  });
});
