import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { it } from "node:test";
import Fastify from "fastify";
import { openEventStream } from "../../../src/protocols/http/sse.ts";

it("an event stream is over at once where its client has gone before it was opened", async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  const opened = Promise.withResolvers<AbortSignal>();
  const begun = Promise.withResolvers<void>();
  app.get("/events", async (_request, reply) => {
    const closed = once(reply.raw, "close");
    begun.resolve();
    await closed;
    opened.resolve(openEventStream(reply, "retry: 2000\n\n").gone);
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write("GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await begun.promise;
  socket.resetAndDestroy();
  assert.equal((await opened.promise).aborted, true);
});
