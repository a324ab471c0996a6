import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { ROOMY, sharedWorld } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { newFolder, parley, start } from "../support/program.ts";

describe("a server behind a path", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });
  // It passes on what is below its path, and nothing else.
  const proxy = createServer((asked, reply) => {
    const below = /^\/tools\/parley(?=\/)(.*)$/.exec(asked.url ?? "")?.[1];
    if (below === undefined) return reply.writeHead(404).end();
    const { method, headers } = asked;
    const passed = request(`${world().url}${below}`, { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(passed);
  });
  before(() => new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve)));
  after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });

  it("is asked by a hook, and its approval counts", async () => {
    const operator = await decider(world(), "1");
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/parley/`;
    const env = { HOME: newFolder() };
    assert.equal((await parley(["hook", "install", "claude", "--url", url], env)).code, 0);
    const run = start(["hook", "claude", "--url", url, "--timeout", "1m"], env);
    const prompt = {
      hook_event_name: "PermissionRequest",
      session_id: "1",
      tool_name: "Bash",
      tool_input: { command: "ls" },
    };
    run.child.stdin.end(JSON.stringify(prompt));
    await operator.decides({ approved: true });
    const { code, out, err } = await run.ended;
    assert.equal(code, 0, err);
    assert.match(out, /"behavior":"allow"/);
  });
});

describe("the address and the key that a command is given", () => {
  it("refuses an address at which nothing can be asked, names the fault without repeating it, and writes nothing", async () => {
    for (const [address, says] of [
      ["http://ana:secret@box:3415", /--url holds a name or a password/],
      ["http://box:3415/?key=secret", /--url has a query/],
      ["http://box:3415#secret", /--url has a query or a fragment/],
      ["http://box:99999", /--url has a port above 65535/],
      ["ftp://box", /--url is no address that begins with http/],
      ["http://box/k/parley_agent_secret", /--url holds a key/],
    ] as const) {
      for (const command of [
        ["hook", "install", "claude"],
        ["connect", "claude", "--no-test"],
        ["mcp", "install", "claude"],
      ]) {
        const HOME = newFolder();
        for (const type of command[0] === "hook" ? [[], ["--type", "http"]] : [[]]) {
          const { code, out, err } = await parley([...command, ...type, "--url", address], { HOME, PARLEY_KEY: "key" });
          assert.equal(code, 2, err);
          assert.match(err, says);
          assert.doesNotMatch(out + err, /secret/);
        }
        assert.equal(existsSync(HOME), false);
      }
    }
    const named = await parley(["hook", "install", "claude"], { HOME: newFolder(), PARLEY_URL: "http://:secret@box" });
    assert.match(named.err, /PARLEY_URL holds a name or a password/);
    const port = await parley(["hook", "install", "claude"], { HOME: newFolder(), PARLEY_PORT: "99999" });
    assert.match(port.err, /the address by PARLEY_PORT has a port above 65535/);
  });

  it("takes its hook out, whatever address the environment has", async () => {
    const HOME = newFolder();
    await parley(["hook", "install", "claude"], { HOME });
    assert.equal(existsSync(join(HOME, ".claude", "settings.json")), true);
    assert.equal(
      (await parley(["hook", "uninstall", "claude"], { HOME, PARLEY_URL: "http://ana:secret@box" })).code,
      0,
    );
    assert.equal(existsSync(join(HOME, ".claude", "settings.json")), false);
  });

  it("names a key with a line break as such, before anything is sent", async () => {
    for (const name of ["PARLEY_KEY", "A2H_API_KEY"]) {
      const env = { HOME: newFolder(), [name]: "secret\n", A2H_BASE_URL: "http://127.0.0.1:1" };
      const { err } = await parley(["ask", "Which?", "--url", "http://127.0.0.1:1"], env);
      assert.match(err, new RegExp(`${name} holds a line break`));
      assert.doesNotMatch(err, /secret/);
    }
  });
});
