import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { openForwardingProxy } from "../../src/lib/network/forwarding-proxy.ts";
import { closeServer, listen } from "../../src/workshop/sandbox/doors-out.ts";
import { openEgressProxy } from "../../src/workshop/sandbox/egress-proxy.ts";
import { openKeyProxy } from "../../src/workshop/sandbox/key-proxy.ts";

describe("a request that a proxy passes on", () => {
  const seen: { line: string; body: string; headers: IncomingMessage["headers"] }[] = [];
  const upstream = createServer((asked, reply) => {
    void text(asked).then((body) => {
      seen.push({ line: `${asked.method} ${asked.url}`, body, headers: asked.headers });
      reply.writeHead(201, { "x-kept": "yes", "keep-alive": "timeout=77" }).end(`reply to ${body}`);
    });
  });
  const place = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxies = new Map<string, { server: Server; path: string; headers: Record<string, string> }>();

  before(async () => {
    await listen(upstream, { host: "127.0.0.1", port: 0 });
    const url = `http://${place(upstream)}/below/`;
    const model = { keyName: "KEY", urlName: "URL", key: "real", url };
    const egress = openEgressProxy({ egress: [place(upstream)], onRefused: () => {} });
    const own = { path: "/it?a=%2F", headers: {} };
    proxies.set("forward", { ...own, server: openForwardingProxy({ to: new URL(url), key: "real" }) });
    proxies.set("key", { ...own, server: openKeyProxy(model, "shown"), headers: { "x-api-key": "shown" } });
    proxies.set("egress", { server: egress, path: `${url}it?a=%2F`, headers: { "proxy-authorization": "Basic x" } });
    for (const { server } of proxies.values()) await listen(server, { host: "127.0.0.1", port: 0 });
  });
  after(() => Promise.all([upstream, ...[...proxies.values()].map(({ server }) => server)].map(closeServer)));

  it("has its own method, path and body, whose end is marked, and none of the headers for one connection", async () => {
    for (const [name, { server, path, headers }] of proxies) {
      for (const [method, connection] of [
        ["POST", "keep-alive"],
        ["DELETE", "keep-alive"],
        ["DELETE", "transfer-encoding"],
      ] as const) {
        seen.length = 0;
        const { port } = server.address() as AddressInfo;
        const framed = { "transfer-encoding": "chunked", te: "trailers", connection };
        const asked = request({ host: "127.0.0.1", port, method, path, headers: { ...headers, ...framed } });
        asked.write("GET /another HTTP/1.1\r\n");
        asked.end("host: x\r\n\r\n");
        const [reply] = (await once(asked, "response")) as [IncomingMessage];
        const body = "GET /another HTTP/1.1\r\nhost: x\r\n\r\n";
        assert.deepEqual([reply.statusCode, await text(reply)], [201, `reply to ${body}`], `${name} ${method}`);
        assert.deepEqual(
          seen.map((one) => [one.line, one.body]),
          [[`${method} /below/it?a=%2F`, body]],
          name,
        );
        assert.deepEqual([reply.headers["x-kept"], reply.headers["keep-alive"]?.includes("77")], ["yes", false]);
        const given = seen[0]?.headers ?? {};
        assert.deepEqual([given.host, given.te, given["proxy-authorization"]], [place(upstream), undefined, undefined]);
      }
    }
  });
});
