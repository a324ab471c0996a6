import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import bolt from "@slack/bolt";
import { systemClock } from "../../src/lib/clock.ts";
import {
  aPress,
  aReply,
  bodyFor,
  DELIVERY,
  headersSignedAt,
  openSlackScene,
  OTHER_SECRET,
  OTHER_TOKEN,
  SECRET,
  signedHeaders,
  type SlackScene,
} from "./slack-scene.ts";

const EVENTS = "/hooks/slack/events";
const INTERACTIONS = "/hooks/slack/interactions";
const PATHS = [EVENTS, INTERACTIONS, "/humanlayer/v1/slack/events", "/humanlayer/v1/slack/interactions"];
const TIMESTAMP = "x-slack-request-timestamp";
const SIGNATURE = "x-slack-signature";

const QUIET = {
  ...console,
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => bolt.LogLevel.ERROR,
  setName() {},
};

/** One way to spoil a signed request, and whether Slack's own library sees through it as well. */
interface Spoilt {
  body: string;
  headers: Record<string, string | string[]>;
}
const SPOILT: readonly [
  what: string,
  bolt: "refuses" | "lets it pass",
  spoil: (good: Spoilt, nowMs: number) => Spoilt,
][] = [
  [
    "one changed byte",
    "refuses",
    ({ body, headers }) => ({ body: body.replace("block_actions", "block_actionz"), headers }),
  ],
  [
    "a body that was read and written again",
    "refuses",
    ({ body, headers }) => ({
      // The decoded body is the same.
      body: body.replaceAll("%3A", "%3a"),
      headers,
    }),
  ],
  ["another secret", "refuses", ({ body }, now) => ({ body, headers: signedHeaders(body, "guessed", now) })],
  ["a time 301 s ago", "refuses", ({ body }, now) => ({ body, headers: signedHeaders(body, SECRET, now - 301_000) })],
  [
    "a time 301 s ahead",
    "lets it pass",
    ({ body }, now) => ({ body, headers: signedHeaders(body, SECRET, now + 302_000) }),
  ],
  [
    "a new time on an old signature",
    "refuses",
    ({ body, headers }, now) => ({ body, headers: { ...headers, [TIMESTAMP]: String(Math.floor(now / 1000) - 1) } }),
  ],
  [
    "no signature",
    "refuses",
    ({ body, headers: { [TIMESTAMP]: at = "" } }) => ({ body, headers: { [TIMESTAMP]: at } }),
  ],
  ["no time", "refuses", ({ body, headers: { [SIGNATURE]: mac = "" } }) => ({ body, headers: { [SIGNATURE]: mac } })],
  ["an empty signature", "refuses", ({ body, headers }) => ({ body, headers: { ...headers, [SIGNATURE]: "" } })],
  [
    "half a signature",
    "refuses",
    ({ body, headers }) => ({ body, headers: { ...headers, [SIGNATURE]: String(headers[SIGNATURE]).slice(0, 35) } }),
  ],
  [
    "a signature of another version",
    "refuses",
    ({ body, headers }) => ({
      body,
      headers: { ...headers, [SIGNATURE]: String(headers[SIGNATURE]).replace("v0", "v1") },
    }),
  ],
  [
    "the signature given twice",
    "refuses",
    ({ body, headers }) => ({
      body,
      headers: { ...headers, [SIGNATURE]: [String(headers[SIGNATURE]), String(headers[SIGNATURE])] },
    }),
  ],
  [
    "a right signature after a wrong one",
    "refuses",
    ({ body, headers }) => ({
      body,
      headers: { ...headers, [SIGNATURE]: [`v0=${"0".repeat(64)}`, String(headers[SIGNATURE])] },
    }),
  ],
  [
    "the time given twice",
    "refuses",
    ({ body, headers }) => ({
      body,
      headers: { ...headers, [TIMESTAMP]: [String(headers[TIMESTAMP]), String(headers[TIMESTAMP])] },
    }),
  ],
];

async function settle(scene: SlackScene): Promise<void> {
  const over = new AbortController();
  over.abort();
  await scene.channel.inbound?.listen?.(scene.receive, over.signal);
}

describe("a request that Slack signed", () => {
  for (const path of PATHS) {
    it(`is taken at ${path}`, async () => {
      await using scene = await openSlackScene();
      const payload = path.endsWith("events") ? aReply("eu-west") : aPress("parley:approve");
      assert.equal((await scene.signed(path, payload)).status, 200);
      await settle(scene);
      assert.equal(scene.messages.length, 1);
    });
  }

  it("is believed within 300 seconds in both directions", async () => {
    await using scene = await openSlackScene();
    for (const aheadS of [-300, 300]) {
      assert.equal((await scene.signed(INTERACTIONS, aPress("parley:approve"), { aheadS })).status, 200);
    }
    for (const aheadS of [-301, 301]) {
      assert.equal((await scene.signed(INTERACTIONS, aPress("parley:approve"), { aheadS })).status, 401);
    }
    await settle(scene);
    assert.equal(scene.messages.length, 2);
  });

  it("is answered before what it asks for is done", async () => {
    await using scene = await openSlackScene();
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const { receive } = scene;
    scene.receive = async (message) => {
      await held;
      return receive(message);
    };
    assert.equal((await scene.signed(INTERACTIONS, aPress("parley:approve"))).status, 200);
    assert.deepEqual(scene.messages, []);
    goOn();
    await settle(scene);
    assert.equal(scene.messages.length, 1);
  });

  it("echoes the challenge of a new address, and nothing where it is not signed", async () => {
    await using scene = await openSlackScene();
    const challenge = {
      type: "url_verification",
      token: "legacy",
      challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
    };
    assert.deepEqual(await scene.signed(EVENTS, challenge), { status: 200, body: challenge.challenge });
    assert.equal((await scene.post(EVENTS, JSON.stringify(challenge), {})).status, 401);
  });

  it("is refused as unreadable where it is no JSON", async () => {
    await using scene = await openSlackScene();
    for (const [path, body] of [
      [EVENTS, "{"],
      [INTERACTIONS, "payload=%7B"],
      [INTERACTIONS, "other=1"],
    ] as const) {
      assert.equal((await scene.post(path, body, signedHeaders(body, SECRET, scene.clock.now()))).status, 400);
    }
  });

  it("has no effect where its shape is none that is known", async () => {
    await using scene = await openSlackScene();
    const odd = [
      null,
      1,
      [],
      {},
      { type: "block_actions" },
      { type: "view_submission", view: {} },
      { type: "event_callback" },
      { ...aPress("parley:approve"), actions: "all" },
      { ...aPress("parley:approve"), actions: [null] },
      aPress("other:approve"),
      aPress("parley:options"),
      aPress("parley:opt:"),
      aPress("parley:opt:-1"),
      aPress("parley:approve", { value: "" }),
      aPress("parley:approve", { value: "dlv 1" }),
      aPress("parley:approve", { user: "" }),
      { ...aPress("parley:approve"), type: "shortcut" },
      {
        type: "view_submission",
        user: { id: "U0ANA" },
        view: { id: "V1", callback_id: "other", private_metadata: DELIVERY, state: { values: { a: { b: {} } } } },
      },
    ];
    for (const payload of odd) assert.equal((await scene.signed(INTERACTIONS, payload)).status, 200);
    for (const payload of odd) assert.equal((await scene.signed(EVENTS, payload)).status, 200);
    await settle(scene);
    assert.deepEqual(scene.messages, []);
    assert.deepEqual(scene.slack.calls, []);
  });

  it("that is sent again is heard under the same name, so that it counts once", async () => {
    await using scene = await openSlackScene();
    for (const [path, payload] of [
      [INTERACTIONS, aPress("parley:approve")],
      [EVENTS, aReply("eu-west")],
    ] as const) {
      const body = bodyFor(path, payload);
      const headers = signedHeaders(body, SECRET, scene.clock.now());
      assert.equal((await scene.post(path, body, headers)).status, 200);
      assert.equal((await scene.post(path, body, headers)).status, 200);
      await settle(scene);
    }
    const [press, again, reply, once] = scene.messages.map(({ provider, id }) => `${provider} ${id}`);
    assert.deepEqual([again, once], [press, reply]);
    assert.notEqual(press, reply);
  });
});

describe("a request that Slack did not sign", () => {
  for (const [what, , spoil] of SPOILT) {
    it(`is refused for ${what}, and nothing happens`, async () => {
      await using scene = await openSlackScene();
      const body = bodyFor(INTERACTIONS, aPress("parley:approve"));
      const now = scene.clock.now();
      const good = { body, headers: signedHeaders(body, SECRET, now) };
      const spoilt = spoil(good, now);
      assert.deepEqual(await scene.post(INTERACTIONS, spoilt.body, spoilt.headers), { status: 401, body: "" });
      assert.equal((await scene.post(INTERACTIONS, good.body, good.headers)).status, 200);
      await settle(scene);
      assert.equal(scene.messages.length, 1);
    });
  }

  const SPELT: readonly [what: string, spell: (seconds: string) => string][] = [
    ["a sign in front", (seconds) => `+${seconds}`],
    ["a zero in front", (seconds) => `0${seconds}`],
    ["a fraction", (seconds) => `${seconds}.0`],
    ["an exponent", (seconds) => `${seconds}e0`],
    ["other digits", (seconds) => seconds.replace("1", "\u00b9")],
  ];
  for (const [what, spell] of SPELT) {
    it(`is refused where its time is spelt with ${what}, though it is signed`, async () => {
      await using scene = await openSlackScene();
      const body = bodyFor(INTERACTIONS, aPress("parley:approve"));
      const timestamp = spell(String(Math.floor(scene.clock.now() / 1000)));
      const { status } = await scene.post(INTERACTIONS, body, headersSignedAt(body, SECRET, timestamp));
      assert.equal(status, 401);
      await settle(scene);
      assert.deepEqual(scene.messages, []);
    });
  }

  it("finds no door where no secret is set", async () => {
    await using scene = await openSlackScene({ signingSecret: undefined });
    for (const path of PATHS) assert.equal((await scene.signed(path, aPress("parley:approve"))).status, 404);
  });
});

describe("several Slack apps", () => {
  const apps = [{ appId: "A0OTHER", botToken: OTHER_TOKEN, signingSecret: OTHER_SECRET }];
  const elsewhere = { user: "U0ELSEWHERE", team: "T0OTHER" };

  it("are each known by their own secret, and answered by their own token", async () => {
    await using scene = await openSlackScene({ apps });
    const press = aPress("parley:approve", { ...elsewhere, app: "A0OTHER" });
    assert.equal((await scene.signed(INTERACTIONS, press, { secret: OTHER_SECRET })).status, 200);
    await settle(scene);
    const [{ sender } = {}] = scene.messages;
    const whom = { id: "U0ELSEWHERE", team: "T0OTHER", member: true, channel: "C024BE91L" };
    assert.deepEqual(sender, { kind: "slack", ...whom, app: "A0OTHER" });
    assert.deepEqual([...new Set(scene.slack.calls.map(({ token }) => token))], [OTHER_TOKEN]);
  });

  it("do not speak for one another", async () => {
    await using scene = await openSlackScene({ apps });
    const asMain = aPress("parley:approve", { ...elsewhere, app: "A0MAIN" });
    const asOther = aPress("parley:approve", { app: "A0OTHER" });
    assert.equal((await scene.signed(INTERACTIONS, asMain, { secret: OTHER_SECRET })).status, 401);
    assert.equal((await scene.signed(INTERACTIONS, asOther, { secret: SECRET })).status, 401);
    await settle(scene);
    assert.deepEqual(scene.messages, []);
  });

  it("do not vouch for people of each other's workspaces", async () => {
    await using scene = await openSlackScene({ apps });
    const forged = aPress("parley:approve", { user: "U0ANA", team: "T0PARLEY", app: "A0OTHER" });
    await scene.signed(INTERACTIONS, forged, { secret: OTHER_SECRET });
    const alsoForged = aPress("parley:approve", { user: "U0ANA", team: "T0OTHER", app: "A0OTHER" });
    await scene.signed(INTERACTIONS, alsoForged, { secret: OTHER_SECRET });
    await settle(scene);
    assert.deepEqual(
      scene.messages.map(({ sender }) => "member" in sender && sender.member),
      [false, false],
    );
  });
});

describe("Slack's own receiver, as a second opinion", () => {
  async function openBolt() {
    const received: unknown[] = [];
    const receiver = new bolt.HTTPReceiver({
      signingSecret: SECRET,
      endpoints: [INTERACTIONS],
      port: 0,
      logger: QUIET,
    });
    receiver.init({
      processEvent: async (event: { body: unknown; ack: () => Promise<void> }) => {
        received.push(event.body);
        await event.ack();
      },
    } as unknown as bolt.App);
    const server = (await receiver.start(0)) as Server;
    if (!server.listening) await once(server, "listening");
    return {
      received,
      port: (server.address() as AddressInfo).port,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await receiver.stop();
      },
    };
  }

  it("takes what Parley takes, and refuses what it refuses but for times ahead", async () => {
    await using scene = await openSlackScene({}, { clock: systemClock });
    await using second = await openBolt();
    const body = bodyFor(INTERACTIONS, aPress("parley:approve"));
    const now = Date.now();
    const good: Spoilt = { body, headers: signedHeaders(body, SECRET, now) };
    const both = async (sent: Spoilt) => {
      const headers = { ...sent.headers, "content-type": "application/x-www-form-urlencoded" };
      const ours = await scene.post(INTERACTIONS, sent.body, headers);
      const theirs = await scene.post(INTERACTIONS, sent.body, headers, second.port);
      return [ours.status, theirs.status];
    };
    assert.deepEqual(await both(good), [200, 200]);
    assert.equal(second.received.length, 1);
    for (const [what, opinion, spoil] of SPOILT) {
      assert.deepEqual(await both(spoil(good, now)), [401, opinion === "refuses" ? 401 : 200], what);
    }
  });
});
