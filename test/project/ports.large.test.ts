import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { reservePort } from "../support/ports.ts";

const MANY = 60;

describe("a reserved port", () => {
  it("is given to one test process alone, and never to who listens on any port", async () => {
    const program = `const { reservePort } = await import(${JSON.stringify(import.meta.resolve("../support/ports.ts"))});
      for (let i = 0; i < ${MANY}; i += 1) console.log(await reservePort());
      process.stdin.resume();`;
    const run = async () => {
      const running = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
      let out = "";
      running.child.stdout?.on("data", (text: string) => (out += text));
      while (out.trim().split("\n").length < MANY) await once(running.child.stdout ?? assert.fail(), "data");
      return { ports: out.trim().split("\n").map(Number), end: () => running.child.stdin?.end(), running };
    };
    const runs = await Promise.all([run(), run(), run()]);
    const ports = runs.flatMap((one) => one.ports);
    assert.equal(new Set(ports).size, 3 * MANY);
    for (const one of runs) one.end();
    await Promise.all(runs.map(({ running }) => running));

    const servers = Array.from({ length: MANY }, () => createServer().listen(0, "127.0.0.1"));
    await Promise.all(servers.map((server) => once(server, "listening")));
    const handedOut = servers.map((server) => (server.address() as AddressInfo).port);
    assert.ok(Math.max(...ports) < Math.min(...handedOut));
    for (const server of servers) server.close();
  });

  it("can be listened on, left and listened on again", async () => {
    const port = await reservePort();
    for (let i = 0; i < 2; i += 1) {
      const server = createServer().listen(port, "127.0.0.1");
      await once(server, "listening");
      server.close();
      await once(server, "close");
    }
  });
});
