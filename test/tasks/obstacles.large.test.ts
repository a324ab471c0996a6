import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { until } from "../support/contract.ts";
import { openWorld } from "../support/world.ts";

describe("a task whose agent cannot be given work here", () => {
  it("stays in line and says why, and another is started", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-obstacles-"));
    const repo = join(folder, "shop");
    execFileSync("git", ["init", "-q", repo]);
    const git = ["-C", repo, "-c", "user.name=Ana", "-c", "user.email=ana@example.com"];
    execFileSync("git", [...git, "commit", "-q", "--allow-empty", "-m", "Begin"]);
    const file = join(folder, "parley.yaml");
    const lines = [
      `repos: [{ name: shop, path: ${JSON.stringify(repo)}, agent: absent }]`,
      `agents: { absent: { type: command, command: ["/nowhere/agent"] }, idle: { type: command, command: ["/bin/true"] } }`,
      `assignment: { sandbox: "off" }`,
    ];
    writeFileSync(file, lines.join("\n"));
    const world = await openWorld({ on: "sqlite", running: true, env: { PARLEY_CONFIG: file } });
    try {
      const { text: key } = await createKey(world.server.ctx, { name: "ana-cards", scope: "assign" });
      const headers = { authorization: `Bearer ${key}` };
      const submit = (body: object) => world.call("POST", "/assignment", { headers, body });
      assert.equal((await submit({ id: "stuck", prompt: "Do it" })).status, 202);
      const task = async (id: string) => (await world.call("GET", `/assignment/tasks/${id}`, { headers })).body;
      const stuck = await until(async () => {
        const shown = await task("stuck");
        return /nowhere/.test(shown.blockedReason) ? shown : undefined;
      });
      assert.deepEqual([stuck.status, stuck.state, stuck.agent], ["queued", "queued", "absent"]);
      assert.equal((await submit({ id: "free", prompt: "Look", agent: "idle" })).status, 202);
      const done = await until(async () => {
        const shown = await task("free");
        return shown.status === "completed" ? shown : undefined;
      });
      assert.deepEqual([done.changed, done.sandbox, done.sandboxNotice], [false, "none", undefined]);
      assert.match(execFileSync("git", ["-C", repo, "cat-file", "-p", done.commit], { encoding: "utf8" }), /^Look$/m);
      const patch = await world.call("GET", "/assignment/tasks/free/diff", { headers });
      assert.deepEqual([patch.status, patch.headers.get("content-type")], [200, "text/x-patch; charset=utf-8"]);
      assert.equal((await task("stuck")).state, "queued");
      assert.equal((await world.call("DELETE", "/assignment/tasks/stuck", { headers })).body.state, "canceled");
    } finally {
      await world[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
