import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findDelivery } from "../../src/requests/store/deliveries.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { accepted, callBody, contactBody } from "../support/a2h.ts";
import { openTalking, seen, type Talking } from "../support/conversations.ts";
import { ONE_DATABASE, type DatabaseName, type Reply } from "../support/world.ts";
import { openSlackDouble, TEAM, type ApiCall, type SlackDouble } from "./slack-double.ts";
import {
  aPress,
  aReply,
  aSubmission,
  BOT_TOKEN,
  bodyFor,
  OTHER_SECRET,
  OTHER_TOKEN,
  SECRET,
  signedHeaders,
} from "./slack-scene.ts";

type Body = Reply["body"];
const ROOM = "C024BE91L";
const ANAS = "D0ANA";
/** The app whose token, and with it all that it posts, an agent has. */
const OTHER = { app: "A0OTHER", secret: OTHER_SECRET, team: "T0OTHER", user: "U0ELSEWHERE" };

interface OnSlack extends Talking {
  slack: SlackDouble;
  /** Asks and waits until the message is posted and noted. */
  ask(kind: "function_calls" | "human_contacts", spec: object): Promise<Asked>;
  tell(payload: { type: string }, secret?: string): Promise<void>;
  /** Returns the sentence that the person reads after this. */
  toldAfter(doing: () => Promise<void>): Promise<string>;
}

interface Asked {
  post: ApiCall;
  delivery: string;
  /** Where the message is on Slack. */
  at: { channel: string; ts: string };
  status(): Promise<Body>;
}

async function openOnSlack(on: DatabaseName): Promise<OnSlack> {
  const slack = await openSlackDouble();
  const scene = await openTalking(
    on,
    `
slack:
  bot_token: ${BOT_TOKEN}
  signing_secret: ${SECRET}
  api_url: "${slack.url}"
  apps: [{ app_id: ${OTHER.app}, bot_token: ${OTHER_TOKEN}, signing_secret: ${OTHER_SECRET} }]
a2h: { entry_points: { support: { agent: support, slack: ${OTHER.app} } } }
`,
  );
  await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
  await scene.enroll("Eli Roth", { slack: { channelOrUserId: OTHER.user } });
  const notes = () => slack.of("chat.postEphemeral");
  return {
    ...scene,
    slack,
    async ask(kind, spec) {
      const body = kind === "function_calls" ? callBody({ ...spec }) : contactBody({ ...spec });
      accepted(await scene.agent.post(`/${kind}`, body));
      const status = async () => accepted(await scene.agent.get(`/${kind}/${body.call_id}`)).status as Body;
      const { slack_message_ts: ts } = await seen(status, ({ deliveries }) => deliveries?.[0]?.state === "sent");
      const post = slack.of("chat.postMessage").at(-1) ?? assert.fail("nothing was posted");
      const { event_payload: payload } = post.json("metadata") as Body;
      return { post, delivery: payload.delivery, at: { channel: post.form["channel"] ?? "", ts }, status };
    },
    async tell(payload, secret = SECRET) {
      const path = payload.type === "event_callback" ? "/hooks/slack/events" : "/hooks/slack/interactions";
      const body = bodyFor(path, payload);
      const type = path.endsWith("events") ? "application/json" : "application/x-www-form-urlencoded";
      const headers = { "content-type": type, ...signedHeaders(body, secret, Date.now()) };
      assert.equal((await scene.world.call("POST", path, { headers, body })).status, 200);
    },
    async toldAfter(doing) {
      const before = notes().length;
      await doing();
      return (await seen(notes, (all) => all.length > before)).at(-1)?.form["text"] ?? "";
    },
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await slack[Symbol.asyncDispose]();
      assert.deepEqual(slack.faults, []);
    },
  };
}

const CALL = { fn: "wire_money", kwargs: { amount: 5000 } };
const OPTIONS = [{ name: "north", title: "North" }];

/** Checks that no part of a message lets its reader decide. */
async function assertReadSafely({ world }: OnSlack, { post, delivery }: Asked): Promise<void> {
  const all = JSON.stringify(post.form);
  const { ctx } = world.server;
  const row = await findDelivery(ctx.db, delivery);
  const { link, code, reply } = tokensOf(ctx, delivery);
  for (const secret of [link, code, reply]) assert.ok(!all.includes(secret), all);
  assert.doesNotMatch(all, /\/r\/|\(code |parley:/);
  assert.match(post.form["text"] ?? "", new RegExp(`on the page: <http\\S+/inbox/${row?.requestId}>$`, "m"));
  assert.equal(row?.shownDigest, null);
  // A guessed link leads nowhere, and nobody decides by it.
  assert.equal((await world.call("GET", `/r/${link}`)).status, 404);
  assert.equal((await world.call("POST", `/r/${link}/open`, { headers: { origin: "null" }, body: "" })).status, 404);
}

for (const on of ONE_DATABASE) {
  describe(`a message that the asker can read, on ${on}`, () => {
    const CARRIERS: readonly [what: string, bot_token: string, to: string][] = [
      ["by a token that nobody configured, to a person", "xoxb-canary-main-7f3a", "U0ANA"],
      ["by a token that came with the request, to a room", OTHER_TOKEN, ROOM],
      ["by the token of a further app, to a person", OTHER_TOKEN, OTHER.user],
    ];
    for (const [what, bot_token, to] of CARRIERS) {
      it(`holds no link, no code and no button where it is posted ${what}`, async () => {
        await using scene = await openOnSlack(on);
        const channel = { slack: { channel_or_user_id: to, bot_token } };
        await assertReadSafely(scene, await scene.ask("function_calls", { ...CALL, channel }));
        const long = { ...CALL, kwargs: { body: "x".repeat(3000) }, reject_options: OPTIONS };
        await assertReadSafely(scene, await scene.ask("function_calls", { ...long, channel }));
        const asked = await scene.ask("human_contacts", { msg: "Where?", response_options: OPTIONS, channel });
        await assertReadSafely(scene, asked);
        assert.match(asked.post.form["text"] ?? "", /^> #1 North$/m);
      });
    }

    it("holds none in a conversation that was begun with a further app either", async () => {
      await using scene = await openOnSlack(on);
      const mention = { type: "app_mention", thread_ts: undefined, ts: "1763700000.000001" };
      const by = { user: OTHER.user, team: OTHER.team, user_team: OTHER.team };
      await scene.tell(
        { ...aReply("<@U0PARLEY> hello", { ...mention, ...by }), api_app_id: OTHER.app, team_id: OTHER.team } as never,
        OTHER.secret,
      );
      const [{ spec }] = await scene.said(1);
      const call = await scene.ask("function_calls", { ...CALL, channel: { channel_id: spec.channel_id } });
      assert.equal(call.post.token, OTHER_TOKEN);
      await assertReadSafely(scene, call);
    });

    it("approves nothing by a press, an editor or words, and is answered in its thread", async () => {
      await using scene = await openOnSlack(on);
      const channel = {
        slack: { channel_or_user_id: ROOM, bot_token: OTHER_TOKEN, allowed_responder_ids: [OTHER.user] },
      };
      const call = await scene.ask("function_calls", { ...CALL, channel, reject_options: OPTIONS });
      const by = { user: OTHER.user, team: OTHER.team, app: OTHER.app };
      for (const action of ["parley:approve", "parley:reject", "parley:opt:0"]) {
        const press = aPress(action, { ...by, value: call.delivery, ...call.at });
        const told = await scene.toldAfter(() => scene.tell(press, OTHER.secret));
        assert.match(told, /^The agent can read this message, so nothing is decided here\. Decide in the inbox\./);
      }
      const reply = (text: string, ts: string) =>
        ({
          ...aReply(text, { thread_ts: ts, user: OTHER.user, team: OTHER.team }),
          api_app_id: OTHER.app,
        }) as never;
      const told = await scene.toldAfter(() => scene.tell(reply("approve", call.at.ts), OTHER.secret));
      assert.match(told, /Decide in the inbox/);
      const { approved, failed_validation_details: failed } = await call.status();
      assert.deepEqual([approved, failed], [undefined, undefined]);

      const asked = await scene.ask("human_contacts", { msg: "Where?", channel });
      await scene.tell(reply("in the north", asked.at.ts), OTHER.secret);
      await seen(asked.status, ({ response }) => response === "in the north");
    });
  });

  describe(`a press on Slack, on ${on}`, () => {
    const SPOILT: readonly [what: string, more: Parameters<typeof aPress>[1]][] = [
      ["another message", { ts: "1763639999.000001" }],
      ["another message of Parley's", { ts: "1763632800.000002" }],
      ["a message of the same time in another channel", { channel: "C0ELSEWHERE" }],
      ["no message at all", { ts: "" }],
    ];
    it("counts only on the message that was posted, by the app that posted it", async () => {
      await using scene = await openOnSlack(on);
      const channel = { slack: { channel_or_user_id: "U0ANA" } };
      const call = await scene.ask("function_calls", { ...CALL, channel });
      await scene.ask("function_calls", { ...CALL, channel });
      assert.deepEqual(call.at, { channel: ANAS, ts: "1763632800.000001" });
      for (const [what, more] of SPOILT) {
        for (const action of ["parley:approve", "parley:reject"]) {
          const press = aPress(action, { value: call.delivery, ...call.at, ...more });
          const told = await scene.toldAfter(() => scene.tell(press));
          assert.match(
            told,
            /^Nothing is recorded: this is not the message that Parley sent\./,
            `${action} on ${what}`,
          );
        }
      }
      // The other app's owner holds its secret, and signs whatever it likes.
      scene.slack.users.set("U0ANA", { id: "U0ANA", team_id: OTHER.team });
      for (const action of ["parley:approve", "parley:reject"]) {
        const forged = aPress(action, { value: call.delivery, ...call.at, app: OTHER.app, team: OTHER.team });
        const told = await scene.toldAfter(() => scene.tell(forged, OTHER.secret));
        assert.match(told, /^Nothing is recorded/);
      }
      assert.equal((await call.status()).approved, undefined);
      assert.deepEqual(scene.slack.of("views.open"), []);

      scene.slack.users.set("U0ANA", { id: "U0ANA", team_id: TEAM });
      await scene.tell(aPress("parley:approve", { value: call.delivery, ...call.at }));
      await seen(call.status, ({ approved }) => approved === true);
    });

    it("that opened an editor is what the editor answers, and nothing else", async () => {
      await using scene = await openOnSlack(on);
      const channel = { slack: { channel_or_user_id: "U0ANA" } };
      const [call, other] = [
        await scene.ask("function_calls", { ...CALL, channel }),
        await scene.ask("function_calls", { ...CALL, channel }),
      ];
      await scene.tell(aPress("parley:reject", { value: call.delivery, ...call.at }));
      const modal = (await scene.slack.next("views.open")).json("view") as Record<string, unknown>;
      const elsewhere = [other.delivery, `${other.delivery} ${call.at.ts}`, `${call.delivery} ${other.at.ts}`];
      for (const named of elsewhere) {
        const forged = aSubmission({ ...modal, private_metadata: named }, "no");
        assert.match(await scene.toldAfter(() => scene.tell(forged)), /^Nothing is recorded/, named);
      }
      const byOther = { ...aSubmission(modal, "no"), api_app_id: OTHER.app };
      await scene.toldAfter(() => scene.tell(byOther, OTHER.secret));
      assert.equal((await call.status()).approved, undefined);
      await scene.tell(aSubmission(modal, "too much"));
      await seen(call.status, ({ approved, comment }) => approved === false && comment === "too much");
      assert.equal((await other.status()).approved, undefined);
    });

    it("and words in a thread are not believed of an app that did not post there", async () => {
      await using scene = await openOnSlack(on);
      const asked = await scene.ask("human_contacts", {
        msg: "Where?",
        channel: { slack: { channel_or_user_id: ROOM } },
      });
      const thread = { thread_ts: asked.at.ts };
      const forged = aReply("in the south", { ...thread, user: OTHER.user, team: OTHER.team });
      await scene.tell({ ...forged, api_app_id: OTHER.app } as never, OTHER.secret);
      assert.equal((await asked.status()).response, undefined);
      await scene.tell(aReply("in the north", thread));
      await seen(asked.status, ({ response }) => response === "in the north");
    });
  });
}
