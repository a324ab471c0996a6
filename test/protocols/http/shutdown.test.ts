import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { begun, LABELS, openStream, until, within } from "../../support/contract.ts";
import { allRead } from "../../support/server-sockets.ts";
import { DATABASES, openWorld, type World, onOneDatabase } from "../../support/world.ts";

/** A connection on which a request can be sent piece by piece. */
async function openSocket(
  world: World,
): Promise<{ socket: Socket; send(text: string): Promise<void>; received(): string }> {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(socket, "connect");
  return {
    socket,
    send: async (part) => {
      socket.write(part);
      await allRead(socket);
    },
    received: () => text,
  };
}

for (const on of DATABASES) {
  describe(`a server that is told to stop on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    it("answers whoever waits with what there is, and ends streams with word of when to come back", async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      const { id } = await agent.ask({ options: LABELS });
      await world.person("bo").answer(id, 1);
      const polls = Array.from({ length: 5 }, () => agent.poll(id, "?wait=20"));
      const streams = await Promise.all(
        [`/agent/questions/${id}/events`, "/agent/questions/events", "/human/events"].map((path) =>
          openStream(`${world.url}${path}`, agent.headers),
        ),
      );
      for (const stream of streams) assert.deepEqual(await stream.next(), { retry: "2000" });
      assert.equal((await streams[0]?.nextEvent())?.id, "2");
      await begun(world, 20_000, polls.length);

      const stopping = world.server.stop();
      for (const reply of await Promise.all(polls)) {
        assert.deepEqual([reply.status, reply.body.status, reply.body.current_responses], [200, "PARTIAL", 1]);
      }
      for (const stream of streams) {
        assert.deepEqual(await stream.next(), { retry: "2000" });
        assert.equal(await stream.next(), undefined);
      }
      await within(stopping, "the server did not end");
    });

    it("finishes a write that is under way, and keeps what it acknowledged", async () => {
      await using world = await openWorld({ on });
      const { host } = new URL(world.url);
      const body = JSON.stringify({ prompt: "Which label is clearer?", type: "text", idempotency_key: "once" });
      const { socket, send, received } = await openSocket(world);
      await send(
        `POST /agent/questions HTTP/1.1\r\nHost: ${host}\r\nX-Agent-Id: ana-bot\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
      );
      const stopping = world.server.stop();
      await until(() => world.server.ctx.stopping.aborted);
      socket.write(body.slice(10));
      await once(socket, "close");
      await stopping;
      assert.match(received(), /^HTTP\/1\.1 201 /);
      const [, id = ""] = /"question_id":"(q_[0-9A-Za-z]{22})"/.exec(received()) ?? [];

      await world.restart();
      assert.equal((await world.agent("ana-bot").poll(id)).body.status, "OPEN");
      assert.equal((await world.agent("ana-bot").create({ idempotency_key: "once" })).body.question_id, id);
    });

    itOnOne("refuses what comes later, and says when to come again", async () => {
      await using world = await openWorld({ on });
      const { host } = new URL(world.url);
      const { socket, send, received } = await openSocket(world);
      await send(`GET /human/stats HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await until(() => received().includes("\r\n\r\n"));
      assert.match(received(), /^HTTP\/1\.1 200 /);
      // A client that heeds this has let go of its connection before a stop that hands over would close it.
      assert.match(received(), /\r\nkeep-alive: timeout=5\r\n/i);
      await send(`GET /agent/questions HTTP/1.1\r\nHost: ${host}\r\n`);
      const stopping = world.server.stop();
      await until(() => world.server.ctx.stopping.aborted);
      socket.write("\r\n");
      await once(socket, "close");
      await stopping;
      const late = received().slice(received().lastIndexOf("HTTP/1.1"));
      assert.match(late, /^HTTP\/1\.1 503 /);
      assert.match(late, /\r\nretry-after: 5\r\n/i);
      assert.match(late, /\r\nconnection: close\r\n/i);
      assert.doesNotMatch(late, /keep-alive/i);
      assert.match(late, /\r\nx-request-id: \S+\r\n/i);
      const error = { code: "STORE_UNAVAILABLE", message: "Try again shortly." };
      assert.deepEqual(JSON.parse(late.slice(late.indexOf("\r\n\r\n"))), { error });
    });

    itOnOne("waits for nobody who only keeps a connection, and may be told twice", async () => {
      await using world = await openWorld({ on });
      const { host } = new URL(world.url);
      const idle = await openSocket(world);
      const used = await openSocket(world);
      await used.send(`GET /human/stats HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n`);
      await within(Promise.all([world.server.stop(), world.server.stop()]), "the server did not end");
      await world.server.stop();
      for (const { socket } of [idle, used]) socket.destroy();
    });
  });
}
