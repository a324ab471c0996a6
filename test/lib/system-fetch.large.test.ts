import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { systemExchange, TooLong } from "../../src/lib/network/exchange.ts";
import { Redirected, systemFetch } from "../../src/lib/network/fetch.ts";

const FETCH = new URL("../../src/lib/network/fetch.ts", import.meta.url).href;
const EXCHANGE = new URL("../../src/lib/network/exchange.ts", import.meta.url).href;

async function listening(answer: RequestListener): Promise<AsyncDisposable & { port: number; connected: string[] }> {
  const connected: string[] = [];
  const server = createServer(answer).listen(0, "127.0.0.1");
  server.on("connect", ({ url = "" }, socket) => {
    connected.push(url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connected,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

describe("a request of this machine, by either client", () => {
  it("follows nobody who sends it on, whatever its caller wants", async () => {
    const seen: unknown[] = [];
    await using elsewhere = await listening((request, reply) => {
      seen.push(request.url);
      reply.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      await using server = await listening((_, reply) => {
        reply.writeHead(status, { location: `http://127.0.0.1:${elsewhere.port}/` }).end();
      });
      const url = `http://127.0.0.1:${server.port}/`;
      for (const init of [
        undefined,
        { redirect: "follow" },
        { method: "POST", body: "x", redirect: "follow" },
      ] as const)
        await assert.rejects(systemFetch(url, init), Redirected);
      await assert.rejects(systemFetch(new Request(url, { redirect: "follow" })), Redirected);
      await assert.rejects(systemFetch(url, { redirect: "error" }), Redirected);
      assert.equal((await systemFetch(url, { redirect: "manual" })).status, status);
      const { signal } = new AbortController();
      for (const method of ["GET", "POST"])
        await assert.rejects(systemExchange(url, { method, headers: {}, signal }), Redirected);
    }
    assert.deepEqual(seen, []);
  });
});

describe("the fetch of this machine", () => {
  it("goes past the proxy of the environment to this very computer alone", async () => {
    await using proxy = await listening((_, reply) => reply.end());
    await using server = await listening((_, reply) => reply.end("here"));
    const program = `import { systemFetch } from ${JSON.stringify(FETCH)};
      const at = (url) => systemFetch(url, { signal: AbortSignal.timeout(20_000) }).then((r) => r.text(), () => "refused");
      console.log(await at("http://127.0.0.1:${server.port}/"), await at("http://localhost:${server.port}/"));
      console.log(await at("http://parley.example/"));`;
    const asked = `http://127.0.0.1:${proxy.port}`;
    const env = { PATH: process.env["PATH"], NODE_USE_ENV_PROXY: "1", HTTP_PROXY: asked, http_proxy: asked };
    const run = (more: object) =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { env: { ...env, ...more } });
    for (const more of [{}, { NO_PROXY: "other.example" }, { no_proxy: "other.example" }])
      assert.equal((await run(more)).stdout, "here here\nrefused\n");
    assert.deepEqual(new Set(proxy.connected), new Set(["parley.example:80"]));
  });
});

describe("an exchange of this machine, which the program of hooks makes", () => {
  it("sends the body and the headers, and resolves with status and bytes", async () => {
    await using server = await listening((request, reply) => {
      const { method, headers } = request;
      request.on("data", (body) => reply.writeHead(404).end(`${method} ${headers["x-agent-id"]} ${body}`));
    });
    const { signal } = new AbortController();
    const sent = { method: "POST", headers: { "x-agent-id": "shop" }, body: "é", signal };
    const { status, bytes } = await systemExchange(`http://127.0.0.1:${server.port}/`, sent);
    assert.deepEqual([status, new TextDecoder().decode(bytes)], [404, "POST shop é"]);
  });

  it("shows no name and no password of an address in the place of a key", async () => {
    const { signal } = new AbortController();
    const sent = { method: "GET", headers: { authorization: "Bearer key" }, signal };
    await assert.rejects(systemExchange("http://ana:secret@127.0.0.1:9/", sent), /no name and no password/);
  });

  it("ends when it is aborted, before the reply and within it", async () => {
    for (const begins of [false, true]) {
      const stop = new AbortController();
      await using server = await listening((_, reply) => {
        if (begins) reply.writeHead(200, { "content-length": "9" }).write("half");
        setImmediate(() => stop.abort());
      });
      const sent = { method: "GET", headers: {}, signal: stop.signal };
      await assert.rejects(systemExchange(`http://127.0.0.1:${server.port}/`, sent));
    }
  });

  it("rejects a reply that breaks off", async () => {
    await using server = await listening((_, reply) => {
      reply.writeHead(200, { "content-length": "9" }).write("half", () => reply.destroy());
    });
    const { signal } = new AbortController();
    await assert.rejects(systemExchange(`http://127.0.0.1:${server.port}/`, { method: "GET", headers: {}, signal }));
  });

  it("breaks off a reply that is longer than any of Parley's", async () => {
    const part = Buffer.alloc(1_000_000, " ");
    await using server = await listening((_, reply) => {
      reply.on("error", () => {});
      const more = (): void => void reply.write(part, (error) => error ?? more());
      more();
    });
    const sent = { method: "GET", headers: {}, signal: new AbortController().signal };
    await assert.rejects(systemExchange(`http://127.0.0.1:${server.port}/`, sent), TooLong);
  });

  it("goes past the proxy of the environment to this very computer alone", async () => {
    const asked: unknown[] = [];
    await using proxy = await listening((request, reply) => {
      asked.push(request.url);
      reply.end("proxy");
    });
    await using server = await listening((_, reply) => reply.end("here"));
    const program = `import { systemExchange } from ${JSON.stringify(EXCHANGE)};
      const sent = { method: "GET", headers: {}, signal: AbortSignal.timeout(20_000) };
      const at = (url) => systemExchange(url, sent).then(({ bytes }) => new TextDecoder().decode(bytes));
      console.log(await at("http://127.0.0.1:${server.port}/"), await at("http://localhost:${server.port}/"));
      console.log(await at("http://parley.example/"));
      process.exit();`;
    const http_proxy = `http://127.0.0.1:${proxy.port}`;
    const env = { PATH: process.env["PATH"], NODE_USE_ENV_PROXY: "1", http_proxy };
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { env });
    assert.equal(stdout, "here here\nproxy\n");
    assert.deepEqual(asked, ["http://parley.example/"]);
  });
});
