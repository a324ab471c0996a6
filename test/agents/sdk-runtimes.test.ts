import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EXPECTED } from "../clients/anywhere.ts";
import { builtSdk, bundled } from "../clients/bundle.ts";
import { answerAll } from "../clients/crowd.ts";
import { openWorld, type World } from "../support/world.ts";

const run = promisify(execFile);
const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
const ANYWHERE = "test/clients/anywhere.ts";
const LONGEST_MS = 60_000;

const MAIN = `import { tryOut } from "./anywhere.ts";
const [url] = typeof Deno === "object" ? Deno.args : process.argv.slice(2);
console.log(JSON.stringify(await tryOut(url)));
`;

/** A worker at the edge: the one module, and nothing of Node. */
const WORKER = `import { tryOut } from "program.js";
export default {
  async fetch(request) {
    const url = new URL(request.url).searchParams.get("server");
    return Response.json([typeof process, await tryOut(url)]);
  },
};
`;
const WORKERD = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .worker), (name = "loopback", network = (allow = ["local"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ]
);
const worker :Workerd.Worker = (
  modules = [ (name = "worker", esModule = embed "worker.js"), (name = "program.js", esModule = embed "program.js") ],
  compatibilityDate = "2026-01-01",
  globalOutbound = "loopback"
);
`;

describe("the packed SDK in other runtimes", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-runtimes-"));
  const env = { PATH: process.env["PATH"], HOME: folder, DENO_NO_UPDATE_CHECK: "1" };
  let world: World;
  before(async () => {
    using sdk = await builtSdk();
    mkdirSync(join(folder, "node_modules/@parley"), { recursive: true });
    cpSync(sdk.folder, join(folder, "node_modules/@parley/sdk"), { recursive: true });
    cpSync(fileURLToPath(new URL("../clients/anywhere.ts", import.meta.url)), join(folder, "anywhere.ts"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "main.ts"), MAIN);
    writeFileSync(join(folder, "program.js"), await bundled(ANYWHERE));
    writeFileSync(join(folder, "worker.js"), WORKER);
    writeFileSync(join(folder, "config.capnp"), WORKERD);
    world = await openWorld({ on: "sqlite", running: true });
  });
  after(async () => {
    await world?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [name, [program, ...args]] of Object.entries({
    Node: [process.execPath],
    Bun: [join(PROGRAMS, "bun"), "run"],
    // It may reach the network, and nothing else: no file, no variable, no other program.
    Deno: [join(PROGRAMS, "deno"), "run", "--quiet", "--no-prompt", "--allow-net=127.0.0.1"],
  })) {
    it(`asks, listens, waits and cancels in ${name}`, async () => {
      using _crowd = answerAll(world.url, "Which label is clearer?");
      const all = [...args, "main.ts", world.url];
      const { stdout } = await run(program ?? "", all, { cwd: folder, env, timeout: LONGEST_MS });
      assert.deepEqual(JSON.parse(stdout), EXPECTED);
    });
  }

  it("asks, listens, waits and cancels in workerd, the runtime of Cloudflare Workers", async () => {
    const edge = spawn(join(PROGRAMS, "workerd"), ["serve", "config.capnp", "--control-fd=3"], {
      cwd: folder,
      env,
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    try {
      const [line] = (await once(edge.stdio[3] as NodeJS.ReadableStream, "data")) as [Buffer];
      const { port } = JSON.parse(line.toString().split("\n")[0] ?? "") as { port: number };
      using _crowd = answerAll(world.url, "Which label is clearer?");
      const reply = await fetch(`http://127.0.0.1:${port}/?server=${encodeURIComponent(world.url)}`);
      assert.deepEqual(await reply.json(), ["undefined", EXPECTED]);
    } finally {
      edge.kill("SIGKILL");
      await once(edge, "close");
    }
  });
});
