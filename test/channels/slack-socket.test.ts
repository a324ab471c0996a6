import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { APP_TOKEN } from "./slack-double.ts";
import { aNotice, aPress, aReply, DELIVERY, never, openSlackScene, type SlackScene, PRESSED } from "./slack-scene.ts";

type Listening = SlackScene & { stop(): Promise<void> };

/** Opens the channel with Socket Mode and no signing secret, listening. */
async function openListening(more: Parameters<typeof openSlackScene>[0] = {}): Promise<Listening> {
  const settings = { signingSecret: undefined, appToken: APP_TOKEN, ...more };
  const scene = await openSlackScene(settings, { clock: systemClock });
  const stopping = new AbortController();
  const listening = scene.channel.inbound?.listen?.((message) => scene.receive(message), stopping.signal);
  const stop = async () => {
    stopping.abort();
    await listening;
  };
  const dispose = scene[Symbol.asyncDispose];
  return Object.assign(scene, {
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await dispose();
    },
  });
}

let envelopes = 0;
function anEnvelope(payload: { type: string }) {
  envelopes += 1;
  const type = payload.type === "event_callback" ? "events_api" : "interactive";
  return { envelope_id: `env-${envelopes}`, type, payload, accepts_response_payload: type === "interactive" };
}

describe("Slack's Socket Mode", () => {
  it("is opened with the app token, and brings presses and words", async () => {
    await using scene = await openListening();
    const socket = await scene.slack.nextSocket();
    assert.equal(socket.appToken, APP_TOKEN);
    assert.equal(scene.slack.of("apps.connections.open")[0]?.token, APP_TOKEN);

    const press = scene.nextHeard();
    const envelope = anEnvelope(aPress("parley:approve"));
    assert.deepEqual(await socket.send(envelope), { envelope_id: envelope.envelope_id, payload: {} });
    assert.deepEqual((await press).match, { delivery: DELIVERY, ts: PRESSED });

    const words = scene.nextHeard();
    await socket.send(anEnvelope(aReply("eu-west")));
    assert.deepEqual((await words).content, { text: "eu-west" });
  });

  it("is acknowledged before anything is done about what it brings", async () => {
    await using scene = await openListening();
    const socket = await scene.slack.nextSocket();
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const { receive } = scene;
    scene.receive = async (message) => {
      await held;
      return receive(message);
    };
    await socket.send(anEnvelope(aPress("parley:approve")));
    assert.deepEqual(scene.messages, []);
    const message = scene.nextHeard();
    goOn();
    await message;
  });

  it("brings what it brings twice under one name, so that it counts once", async () => {
    await using scene = await openListening();
    const socket = await scene.slack.nextSocket();
    const press = aPress("parley:approve");
    for (const envelope of [anEnvelope(press), anEnvelope(press)]) {
      const message = scene.nextHeard();
      await socket.send(envelope);
      await message;
    }
    const [one, other] = scene.messages;
    assert.equal(one?.id, other?.id);
  });

  it("acknowledges and leaves alone what it does not know", async () => {
    await using scene = await openListening();
    const socket = await scene.slack.nextSocket();
    await socket.send({ envelope_id: "env-slash", type: "slash_commands", payload: { command: "/deploy" } });
    await socket.send({ ...anEnvelope(aPress("other:thing")) });
    await scene.stop();
    assert.deepEqual(scene.messages, []);
  });

  it("is opened again when Slack moves the connection, and when it breaks", async () => {
    await using scene = await openListening();
    const first = await scene.slack.nextSocket();
    first.disconnect();
    const second = await scene.slack.nextSocket();
    await first.closed;
    second.cut();
    const third = await scene.slack.nextSocket();
    const message = scene.nextHeard();
    await third.send(anEnvelope(aPress("parley:approve")));
    await message;
    assert.equal(scene.slack.of("apps.connections.open").length, 3);
  });

  it("is tried again when it cannot be opened", async () => {
    let attempts = 0;
    await using scene = await openListening({ appToken: "xapp-canary-wrong" });
    const opened = scene.slack.next("apps.connections.open");
    await opened;
    scene.slack.answer("apps.connections.open", ({ token }) => {
      attempts += 1;
      return attempts === 1 ? { status: 503, body: `canary ${token}` } : undefined;
    });
    await scene.slack.next("apps.connections.open");
    await scene.slack.next("apps.connections.open");
    await scene.stop();
    assert.match(scene.logged.join(""), /"code":"invalid_auth"[^]*"code":"http_503"/);
  });

  it("lets go of its connection when it is told to stop, and follows what it has acknowledged first", async () => {
    await using scene = await openListening();
    const socket = await scene.slack.nextSocket();
    await socket.send(anEnvelope(aPress("parley:approve")));
    await scene.stop();
    await socket.closed;
    assert.equal(scene.messages.length, 1);
    assert.deepEqual(scene.slack.of("apps.connections.open").length, 1);
  });

  it("gives messages buttons, without any signing secret", async () => {
    await using scene = await openListening();
    assert.deepEqual(scene.channel.inbound?.hooks, []);
    await scene.channel.send(aNotice(), never());
    assert.match(scene.slack.of("chat.postMessage")[0]?.form["blocks"] ?? "", /parley:approve/);
  });
});
