import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type { Channel, InboundMessage, Notice, InboundResult } from "../../src/channels/channel.ts";
import type { SlackOutside, SlackSettings } from "../../src/channels/slack/settings.ts";
import { slackChannel } from "../../src/channels/slack/slack.ts";
import type { SlackTarget } from "../../src/channels/slack/target.ts";
import type { Clock } from "../../src/lib/clock.ts";
import type { RequestView } from "../../src/requests/model/view.ts";
import { shapeOf } from "../../src/requests/model/schema-shape.ts";
import { heldClock } from "../support/held-clock.ts";
import { openSlackDouble, type SlackDouble, TEAM } from "./slack-double.ts";

export const BOT_TOKEN = "xoxb-canary-main-7f3a";
export const OTHER_TOKEN = "xoxb-canary-other-91bc";
export const SECRET = "canary-signing-secret-2c1d";
export const OTHER_SECRET = "canary-other-secret-aa08";
export const DELIVERY = "dlv_4Jx0mT9bVq2Lr7Hs1Zc8Wd";
export const LINK = "http://127.0.0.1:3415/r/canary-link-token";
const CANARIES = /canary/;
const EVENTS = "/hooks/slack/events";
const INTERACTIONS = "/hooks/slack/interactions";

export interface Reply {
  status: number;
  body: string;
}

export interface SlackScene extends AsyncDisposable {
  slack: SlackDouble;
  channel: Channel<SlackTarget>;
  /** The inbound messages, in order. */
  messages: InboundMessage[];
  /** The core's result for the next inbound messages. */
  verdict: InboundResult;
  /** The data from which an editor is filled. */
  opened: { view: RequestView } | { refused: string };
  clock: Clock;
  /** Every line that was logged. */
  logged: string[];
  receive(message: InboundMessage): Promise<InboundResult>;
  /** Resolves with the next inbound message. */
  nextHeard(): Promise<InboundMessage>;
  /** Posts to a hook over HTTP, as it stands; or to somebody else's, at another port. */
  post(path: string, body: string, headers: Readonly<Record<string, string | string[]>>, at?: number): Promise<Reply>;
  /** Posts a payload signed as Slack signs it. */
  signed(path: string, payload: unknown, more?: { secret?: string; aheadS?: number }): Promise<Reply>;
}

/** Opens the channel with its hooks behind HTTP, against a stand-in for Slack. */
export async function openSlackScene(
  settings: Partial<SlackSettings> = {},
  outside: Partial<SlackOutside> = {},
): Promise<SlackScene> {
  const slack = await openSlackDouble();
  const clock = outside.clock ?? heldClock(Date.UTC(2026, 10, 20, 12));
  const logged: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(line) });
  const waiting: ((message: InboundMessage) => void)[] = [];
  const channel = slackChannel(
    { botToken: BOT_TOKEN, signingSecret: SECRET, apps: [], apiUrl: slack.url, ...settings },
    { clock, fetch, log, openFor: async () => scene.opened, ...outside },
  );
  assert.ok(channel);
  const hooks = channel.inbound?.hooks ?? [];

  const server = createServer((incoming, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const [path, query = ""] = String(incoming.url).split("?");
      const hook = hooks.find((one) => one.path === path);
      const { headers, rawHeaders } = incoming;
      const raw = { headers, rawHeaders, query, body: Buffer.concat(chunks), params: {} };
      const { status, type, body } = hook ? await hook.handle(raw, scene.receive) : { status: 404 };
      response.writeHead(status, type ? { "content-type": type } : {}).end(body);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const scene: SlackScene = {
    slack,
    channel,
    clock,
    logged,
    messages: [],
    verdict: { kind: "accepted", says: "Recorded: approved." },
    opened: { view: aView() },
    async receive(message) {
      scene.messages.push(message);
      waiting.shift()?.(message);
      return scene.verdict;
    },
    nextHeard: () => new Promise((resolve) => waiting.push(resolve)),
    post: (path, body, headers, at = port) =>
      new Promise((resolve, reject) => {
        const sent = request({ port: at, path, method: "POST", headers }, (response) => {
          let text = "";
          response.on("data", (chunk) => (text += String(chunk)));
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
        });
        sent.on("error", reject);
        sent.end(body);
      }),
    async signed(path, payload, { secret = SECRET, aheadS = 0 } = {}) {
      const body = bodyFor(path, payload);
      return scene.post(path, body, signedHeaders(body, secret, clock.now() + aheadS * 1000));
    },
    async [Symbol.asyncDispose]() {
      // Whatever goes on in the background has to end before it is judged.
      const over = new AbortController();
      over.abort();
      await channel.inbound?.listen?.(scene.receive, over.signal);
      server.closeAllConnections();
      server.close();
      await slack[Symbol.asyncDispose]();
      assert.deepEqual(slack.faults, []);
      assert.doesNotMatch(logged.join("\n"), CANARIES);
    },
  };
  return scene;
}

/** Returns a body as Slack sends it to a path: JSON for events, a form for interactions. */
export function bodyFor(path: string, payload: unknown): string {
  const json = JSON.stringify(payload);
  return path.endsWith("/events") ? json : `payload=${encodeURIComponent(json)}`;
}

export function signedHeaders(body: string, secret: string, atMs: number): Record<string, string> {
  return headersSignedAt(body, secret, String(Math.floor(atMs / 1000)));
}

export function headersSignedAt(body: string, secret: string, timestamp: string): Record<string, string> {
  const mac = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${mac}` };
}

export function aView(more: Partial<RequestView> = {}): RequestView {
  const argumentsText = '{\n  "amount": 49.9,\n  "order": "A-1007"\n}';
  return {
    requestId: "ask_5b0e",
    agent: "support",
    run: "run_9",
    kind: "approval",
    title: "issue_refund",
    fn: "issue_refund",
    argumentsText,
    argumentsLength: argumentsText.length,
    argumentNames: ["amount", "order"],
    digest: "sha256:e64dd4d7994f082140fe27d37b8360462efcbf1206bcaba6b53200ab883d3c9c",
    words: "The customer waited nine days.",
    options: [],
    schema: null,
    shape: more.schema ? shapeOf(more.schema) : null,
    expiresAt: Date.UTC(2026, 10, 23, 10),
    silence: "rejected",
    onSilence: "If nobody answers in time it counts as rejected.",
    ...more,
  };
}

/** A question without arguments. */
export function aQuestion(more: Partial<RequestView> = {}): RequestView {
  const none = { fn: null, argumentsText: null, argumentsLength: 0, argumentNames: [], digest: null };
  return aView({ kind: "reply", title: "Which region?", words: "Which region shall I deploy to?", ...none, ...more });
}

export function aNotice(more: Partial<Notice<SlackTarget>> = {}): Notice<SlackTarget> {
  return {
    delivery: DELIVERY,
    target: { via: "slack", to: "C024BE91L", settings: {} },
    view: aView(),
    link: LINK,
    messageName: "dlv_canaryNameOfTheMessage0",
    code: "7KQ2",
    replyToken: "abcdefghijklmnopqrstuvwxyz",
    informsOnly: false,
    whole: true,
    reminder: false,
    opening: null,
    ...more,
  };
}

export const never = (): AbortSignal => new AbortController().signal;

/** The default message whose button is clicked: the first that the stand-in for Slack posts. */
export const PRESSED = "1763632800.000001";

let presses = 0;

/** Returns what Slack sends when somebody presses something. */
export function aPress(
  action: string,
  more: { user?: string; team?: string; value?: string; app?: string; ts?: string; channel?: string } = {},
) {
  presses += 1;
  const { user = "U0ANA", team = TEAM, value = DELIVERY, app = "A0MAIN" } = more;
  const { ts = PRESSED, channel = "C024BE91L" } = more;
  const isMenu = action === "parley:options";
  return {
    type: "block_actions",
    api_app_id: app,
    trigger_id: `13345224609.738474920.${presses}`,
    user: { id: user, username: "somebody", team_id: team },
    team: { id: TEAM, domain: "parley" },
    container: { type: "message", message_ts: ts, channel_id: channel },
    channel: { id: channel, name: "eng" },
    actions: [
      {
        action_id: action,
        block_id: "b1",
        action_ts: `1763632900.${String(presses).padStart(6, "0")}`,
        ...(isMenu
          ? { type: "static_select", selected_option: { value, text: { type: "plain_text", text: "x" } } }
          : { type: "button", value }),
      },
    ],
  };
}

/** Returns what Slack sends when somebody sends off an editor. */
export function aSubmission(view: Readonly<Record<string, unknown>>, text: string | null, user = "U0ANA") {
  presses += 1;
  const [, input] = view["blocks"] as [unknown, { block_id: string; element: { action_id: string } }];
  return {
    type: "view_submission",
    api_app_id: "A0MAIN",
    user: { id: user, team_id: TEAM },
    team: { id: TEAM },
    view: {
      ...view,
      id: `V0${presses}`,
      state: { values: { [input.block_id]: { [input.element.action_id]: { type: "plain_text_input", value: text } } } },
    },
  };
}

/** Returns what Slack sends of a message in a thread. */
export function aReply(text: string, more: Readonly<Record<string, unknown>> = {}) {
  presses += 1;
  const ts = `1763633000.${String(presses).padStart(6, "0")}`;
  return {
    type: "event_callback",
    api_app_id: "A0MAIN",
    team_id: TEAM,
    event_id: `Ev0${presses}`,
    event_time: 1_763_633_000,
    event: {
      type: "message",
      user: "U0ANA",
      team: TEAM,
      channel: "C024BE91L",
      channel_type: "channel",
      thread_ts: "1763632800.000001",
      ts,
      text,
      ...more,
    },
  };
}

/** Sends a payload and waits until all that it led to is over. */
export async function say(scene: SlackScene, payload: { type: string }): Promise<InboundMessage | undefined> {
  const before = scene.messages.length;
  const path = payload.type === "event_callback" ? EVENTS : INTERACTIONS;
  assert.equal((await scene.signed(path, payload)).status, 200);
  const over = new AbortController();
  over.abort();
  await scene.channel.inbound?.listen?.(scene.receive, over.signal);
  return scene.messages.slice(before)[0];
}

/** Returns the messages that only one person saw, in order. */
export const toldTo = (scene: SlackScene) =>
  scene.slack.of("chat.postEphemeral").map(({ form }) => `${form["user"]}: ${form["text"]}`);
