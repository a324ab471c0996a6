import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { newFolder, parley, type Run, serve, stop } from "../support/program.ts";
import type { Json } from "./dialects.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel } from "./step-model.ts";

const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
const TASK = "Release version 1.4.2";
const LONGEST_MS = 120_000;

/** A folder of its own for an agent, and its variables. */
interface Home {
  folder: string;
  env: Record<string, string>;
}

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
  describe(
    `permission prompts of an unmodified ${name}`,
    { skip: isMissing(REAL_AGENTS[name as keyof typeof RUNS]) },
    () => {
      const dataDir = newFolder();
      let server: Run & { url: string };
      let [key, inbox]: [string, Record<string, string>] = ["", {}];
      before(async () => {
        server = await serve(dataDir);
        const store = { PARLEY_DATA_DIR: dataDir };
        key = (await parley(["keys", "create", "coder", "--scope", "agent"], store)).out.trim();
        const mine = ["keys", "create", "phone", "--scope", "answer", "--person", "1"];
        inbox = { PARLEY_URL: server.url, PARLEY_KEY: (await parley(mine, store)).out.trim() };
      });
      after(() => stop(server));

      /** Decides the next request in the inbox, until the agent is done. */
      async function decide(flags: (digest: string) => string[], signal: AbortSignal): Promise<void> {
        while (!signal.aborted) {
          const [ask] = JSON.parse((await parley(["inbox", "--json"], inbox)).out) as { id: string; title: string }[];
          if (ask?.title !== agent.tool) continue;
          const { digest } = JSON.parse((await parley(["inbox", ask.id, "--json"], inbox)).out) as { digest: string };
          const { code, err } = await parley(["inbox", ask.id, ...flags(digest)], inbox);
          assert.equal(code, 0, err);
          return;
        }
      }

      /** Runs the agent with the hook that parley wrote; returns its results, and whether the command ran. */
      async function release(flags: (digest: string) => string[]) {
        const folder = newFolder();
        const file = join(folder, agent.file);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, agent.settings);
        const path = [PROGRAMS, dirname(process.execPath), process.env["PATH"]].join(delimiter);
        const env = { PATH: path, HOME: folder, PARLEY_URL: server.url, PARLEY_KEY: key };
        const { code, err } = await parley(["hook", "install", name], env);
        assert.equal(code, 0, err);
        await using model = await stepModel([agent.step(`touch ${folder}/released.txt`), { say: "That was that." }]);
        const over = new AbortController();
        const deciding = decide(flags, over.signal);
        await agent.run({ folder, env }, model.url).finally(() => over.abort());
        await deciding;
        return { results: model.results().join("\n"), isReleased: existsSync(join(folder, "released.txt")) };
      }

      it("let a command run that a person approved", async () => {
        const { results, isReleased } = await release((digest) => ["--approve", digest]);
        assert.equal(isReleased, true, results);
      });

      it("keep a command from running that a person rejected, and give the reason", async () => {
        const { results, isReleased } = await release(() => ["--reject", "--comment", "use the staging bucket"]);
        assert.equal(isReleased, false);
        assert.match(results, /use the staging bucket/);
      });
    },
  );
}
