import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Json } from "./dialects.ts";
import { type HookedSite, PROGRAMS, TASK } from "./hooked-site.ts";
import { REAL_AGENTS } from "./real-agents.ts";

export type Home = Pick<HookedSite, "folder" | "env">;

/** Speaks JSON-RPC with `codex app-server`, and resolves with the reply to a method, or with its notification. */
function appServer({ folder, env }: Home, model: string) {
  const { args = [], env: more } = REAL_AGENTS.codex.surroundings(model);
  const child = spawn(join(PROGRAMS, "codex"), [...args, "app-server"], { cwd: folder, env: { ...env, ...more } });
  const seen: Json[] = [];
  const waiting = new Map<string | number, (message: Json) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Json;
    seen.push(message);
    waiting.get((message["method"] ?? message["id"]) as string | number)?.(message);
  });
  const send = (message: object) => void child.stdin.write(`${JSON.stringify(message)}\n`);
  let id = 100;
  const coming = (what: string | number) => new Promise<Json>((resolve) => waiting.set(what, resolve));
  return {
    seen,
    notified: coming,
    async call(method: string, params: object): Promise<Json> {
      id += 1;
      const reply = coming(id);
      send({ id, method, params });
      const { result, error } = await reply;
      assert.equal(error, undefined, JSON.stringify(error));
      return result as Json;
    },
    async open() {
      await this.call("initialize", { clientInfo: { name: "test", title: null, version: "1" } });
      send({ method: "initialized" });
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await ended;
    },
  };
}

/** Trusts the hooks of a folder, as `/hooks` does in Codex; returns their events. */
async function trustHooks(home: Home, model: string): Promise<string[]> {
  await using codex = appServer(home, model);
  await codex.open();
  const { data } = (await codex.call("hooks/list", { cwds: [home.folder] })) as {
    data: { hooks: { key: string; currentHash: string; eventName: string }[] }[];
  };
  const hooks = data.flatMap((one) => one.hooks);
  for (const { key, currentHash } of hooks) {
    const table = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`;
    appendFileSync(join(home.folder, ".codex/config.toml"), table);
  }
  return hooks.map(({ eventName }) => eventName);
}

/** The call by which Codex wants to run a command outside its sandbox. */
export const escalated = (cmd: string) => ({
  call: "exec_command",
  input: { cmd, sandbox_permissions: "require_escalated", justification: "Release it?" },
});

/** Has Codex run one turn with its hooks trusted, in which its own prompt must not appear; returns the hooks' events. */
export async function codexTurn(home: Home, model: string): Promise<string[]> {
  const events = await trustHooks(home, model);
  await using codex = appServer(home, model);
  await codex.open();
  const settings = { cwd: home.folder, approvalPolicy: "on-request", sandbox: "read-only" };
  const { thread } = (await codex.call("thread/start", settings)) as { thread: { id: string } };
  const over = codex.notified("turn/completed");
  await codex.call("turn/start", { threadId: thread.id, input: [{ type: "text", text: TASK }] });
  await over;
  const asked = codex.seen.filter(({ method }) => String(method).endsWith("requestApproval"));
  assert.deepEqual(asked, [], "its own prompt appeared too");
  return events;
}
