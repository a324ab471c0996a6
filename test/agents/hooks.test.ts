import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { appendFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import type { Json } from "./dialects.ts";
import { APPROVE, folderIn, type HookedSite, openHookedSite, PROGRAMS, REASON, REJECT, TASK } from "./hooked-site.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel } from "./step-model.ts";

const LONGEST_MS = 120_000;

type Home = Pick<HookedSite, "folder" | "env">;

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

/** Trusts the hooks of a folder, as `/hooks` does in Codex. */
async function trustHooks(home: Home, model: string): Promise<void> {
  await using codex = appServer(home, model);
  await codex.open();
  const { data } = (await codex.call("hooks/list", { cwds: [home.folder] })) as {
    data: { hooks: { key: string; currentHash: string; eventName: string }[] }[];
  };
  const hooks = data.flatMap((one) => one.hooks);
  assert.deepEqual(
    hooks.map(({ eventName }) => eventName),
    ["permissionRequest"],
  );
  for (const { key, currentHash } of hooks) {
    const table = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`;
    appendFileSync(join(home.folder, ".codex/config.toml"), table);
  }
}

/** How each agent runs one command, for which it needs a permission. */
const RUNS = {
  codex: {
    tool: "Bash",
    file: ".codex/config.toml",
    settings: "",
    step: (cmd: string) => ({
      call: "exec_command",
      input: { cmd, sandbox_permissions: "require_escalated", justification: "Release it?" },
    }),
    async run(home: Home, model: string) {
      await trustHooks(home, model);
      await using codex = appServer(home, model);
      await codex.open();
      const settings = { cwd: home.folder, approvalPolicy: "on-request", sandbox: "read-only" };
      const { thread } = (await codex.call("thread/start", settings)) as { thread: { id: string } };
      const over = codex.notified("turn/completed");
      await codex.call("turn/start", { threadId: thread.id, input: [{ type: "text", text: TASK }] });
      await over;
      const asked = codex.seen.filter(({ method }) => String(method).endsWith("requestApproval"));
      assert.deepEqual(asked, [], "its own prompt appeared too");
    },
  },
  gemini: {
    tool: "run_shell_command",
    file: ".gemini/settings.json",
    settings: '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }',
    step: REAL_AGENTS.gemini.run,
    run({ folder, env }: Home, model: string) {
      const variables = { ...env, ...REAL_AGENTS.gemini.surroundings(model).env, GEMINI_CLI_TRUST_WORKSPACE: "true" };
      return new Promise<void>((resolve, reject) => {
        const options = { cwd: folder, timeout: LONGEST_MS, env: variables };
        const child = execFile(join(PROGRAMS, "gemini"), ["-p", TASK, "--yolo"], options, (error, out, err) =>
          error ? reject(new Error(`${out}${err}`, { cause: error })) : resolve(),
        );
        child.stdin?.end();
      });
    },
  },
} as const;

for (const [name, agent] of Object.entries(RUNS)) {
  const missing = isMissing(REAL_AGENTS[name as keyof typeof RUNS]);
  describe(`permission prompts of an unmodified ${name}`, { skip: missing }, () => {
    /** Runs the agent with the hook that parley wrote; returns its results, and whether the command ran. */
    async function release(decide: (site: HookedSite) => Promise<void>, command = "touch released.txt") {
      await using site = await openHookedSite(name, { [agent.file]: agent.settings });
      await using model = await stepModel([agent.step(command), { say: "That was that." }]);
      const running = agent.run(site, model.url);
      await Promise.race([decide(site), running]);
      await running;
      return {
        results: model.results().join("\n"),
        isReleased: site.isReleased(),
        isTried: site.isReleased("tried.txt"),
      };
    }

    it("let a command run that a person approved, who saw the folder", async () => {
      const { results, isReleased } = await release(async (site) => {
        assert.equal(folderIn(await site.waiting(agent.tool)), realpathSync(site.folder));
        await site.decide(agent.tool, APPROVE);
      });
      assert.equal(isReleased, true, results);
    });

    it("keep a command from running that a person rejected, and give the reason", async () => {
      const { results, isReleased } = await release((site) => site.decide(agent.tool, REJECT));
      assert.equal(isReleased, false);
      assert.match(results, REASON);
    });

    it("run nothing where the server was killed in the middle, until it is back and a person approves", async () => {
      const { results, isReleased } = await release(async (site) => {
        await site.waiting(agent.tool);
        await site.killServer();
        await site.restartServer();
        assert.equal(site.isReleased(), false);
        await site.decide(agent.tool, APPROVE);
      });
      assert.equal(isReleased, true, results);
    });

    if (name !== "gemini") return;
    it("run the command as a person has changed it", async () => {
      const tried = await release(async (site) => {
        const kwargs = { command: "touch tried.txt", cwd: folderIn(await site.waiting(agent.tool)) };
        await site.post(agent.tool, { approved: true, kwargs });
      });
      assert.deepEqual([tried.isReleased, tried.isTried], [false, true], tried.results);
    });
  });
}
