import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { Redirected, systemFetch } from "../../src/lib/network/fetch.ts";

const MODULE = new URL("../../src/lib/network/fetch.ts", import.meta.url).href;

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

describe("the fetch of this machine", () => {
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
    }
    assert.deepEqual(seen, []);
  });

  it("goes past the proxy of the environment to this very computer alone", async () => {
    await using proxy = await listening((_, reply) => reply.end());
    await using server = await listening((_, reply) => reply.end("here"));
    const program = `import { systemFetch } from ${JSON.stringify(MODULE)};
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
