import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, request } from "node:http";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { closeServer, listen, openDoorsOut } from "../../src/workshop/sandbox/doors-out.ts";
import { openEgressProxy } from "../../src/workshop/sandbox/egress-proxy.ts";

/** The addresses to which names resolve here. A connection to a public address would leave this machine. */
const NAMES: Record<string, readonly string[]> = {
  "rebound.example": ["127.0.0.1"],
  "both.example": ["203.0.114.7", "10.0.0.7"],
  "cloud.example": ["169.254.169.254"],
  "six.example": ["::1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "named.example": ["127.0.0.1"],
};

describe("the proxy of the sandbox", () => {
  let echo: Server;
  let model: ReturnType<typeof createHttpServer>;
  let echoPort = 0;
  let modelPort = 0;
  let seen: string[] = [];

  before(async () => {
    echo = createServer((socket) => socket.pipe(socket));
    model = createHttpServer((asked, reply) => {
      seen.push(`${asked.method} ${asked.url} ${asked.headers["proxy-authorization"] ?? ""}${asked.headers.host}`);
      asked.resume();
      reply.end("model");
    });
    for (const server of [echo, model]) await listen(server, { host: "127.0.0.1", port: 0 });
    echoPort = (echo.address() as AddressInfo).port;
    modelPort = (model.address() as AddressInfo).port;
  });
  after(() => Promise.all([echo, model].map(closeServer)));

  /** Opens a proxy, and returns what asks it for a tunnel: the status and, where there is one, what came back. */
  async function openProxy(egress: readonly string[]) {
    const refused: string[] = [];
    const resolve = (name: string) => Promise.resolve(NAMES[name] ?? []);
    const proxy = openEgressProxy({ egress, onRefused: (place) => refused.push(place), resolve });
    await listen(proxy, { host: "127.0.0.1", port: 0 });
    const { port } = proxy.address() as AddressInfo;
    return {
      refused,
      async tunnel(place: string, words = ""): Promise<string> {
        const socket = connect({ host: "127.0.0.1", port });
        await once(socket, "connect");
        socket.write(`CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n\r\n`);
        let heard = "";
        for await (const part of socket as AsyncIterable<Buffer>) {
          heard += part.toString();
          if (heard.endsWith("\r\n\r\n") && heard.startsWith("HTTP/1.1 200")) socket.write(words);
          if (words !== "" && heard.endsWith(words)) break;
        }
        return /^HTTP\/1\.1 (\d+)/.exec(heard)?.[1] + (words !== "" && heard.endsWith(words) ? " echo" : "");
      },
      async get(url: string): Promise<string> {
        const asked = request({ host: "127.0.0.1", port, path: url, headers: { "proxy-authorization": "Basic x" } });
        asked.end();
        const [reply] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
        return `${reply.statusCode} ${(await text(reply)).slice(0, 30).trim()}`;
      },
      [Symbol.asyncDispose]: () => closeServer(proxy),
    };
  }

  it("lets nothing through that was not named, however it is spelt", async () => {
    await using proxy = await openProxy(["api.example.com", "*.models.example"]);
    const places = [
      "evil.example:443",
      "api.example.com:80",
      "api.example.com.evil.example:443",
      "models.example:443",
      `127.0.0.1:${echoPort}`,
      `localhost:${echoPort}`,
      `0x7f000001:${echoPort}`,
      `2130706433:${echoPort}`,
      `[::1]:${echoPort}`,
      "169.254.169.254:80",
      "[fd00::1]:443",
      "10.0.0.1:443",
      "nonsense",
      "user@host:443",
    ];
    for (const place of places) assert.equal(await proxy.tunnel(place), "403", place);
    assert.ok(proxy.refused.includes("evil.example:443"));
    assert.ok(proxy.refused.includes(`127.0.0.1:${echoPort}`));
    for (const url of [`http://127.0.0.1:${modelPort}/`, "http://api.example.com/", "http://169.254.169.254/latest/"]) {
      assert.match(await proxy.get(url), /^403 The sandbox does not let/);
    }
    assert.match(await proxy.get("/mcp"), /^403 /);
    assert.deepEqual(seen, []);
  });

  it("judges where a name leads by what it resolves to itself", async () => {
    const names = Object.keys(NAMES).filter((name) => name !== "named.example");
    await using proxy = await openProxy([...names, "127.0.0.1", "*.example"]);
    for (const name of names) assert.equal(await proxy.tunnel(`${name}:443`), "403", name);
    assert.equal(await proxy.tunnel("127.0.0.1:443"), "403");
    assert.equal(await proxy.tunnel("nowhere.example:443"), "403");
  });

  it("leads to exactly the host and port that an operator named, wherever it is", async () => {
    seen = [];
    await using proxy = await openProxy([`named.example:${echoPort}`, `127.0.0.1:${modelPort}`]);
    assert.equal(await proxy.tunnel(`named.example:${echoPort}`, "hello"), "200 echo");
    assert.equal(await proxy.tunnel(`NAMED.example:${echoPort}`, "hello"), "200 echo");
    assert.equal(await proxy.tunnel(`named.example:${modelPort}`), "403");
    assert.equal(await proxy.tunnel(`127.0.0.1:${echoPort}`), "403");
    assert.equal(await proxy.get(`http://127.0.0.1:${modelPort}/v1/messages?beta=true`), "200 model");
    assert.equal(seen.at(-1), `GET /v1/messages?beta=true 127.0.0.1:${modelPort}`);
  });

  it("says that a host is not there, where it is not", async () => {
    const gone = createServer();
    await listen(gone, { host: "127.0.0.1", port: 0 });
    const { port } = gone.address() as AddressInfo;
    await closeServer(gone);
    await using proxy = await openProxy([`127.0.0.1:${port}`]);
    assert.equal(await proxy.tunnel(`127.0.0.1:${port}`), "502");
    assert.match(await proxy.get(`http://127.0.0.1:${port}/`), /^502 /);
  });

  it("is no way out of a room without a sandbox, which has none to go through", async () => {
    const options = { folder: "/nowhere", egress: ["api.example.com"], mcp: null, model: null, onRefused: () => {} };
    await using doors = await openDoorsOut({ ...options, isJailed: false });
    assert.deepEqual([doors.bridges, doors.env], [[], {}]);
  });
});
