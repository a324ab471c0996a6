import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MAIN, newFolder, parley, post, type Run, serve, stop, until } from "../../support/program.ts";
import { type Step, stepModel } from "../step-model.ts";

const PROGRAMS = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));
const TASK = "Find out which label people like better.";
/** How long people take, and how long an agent may go on after that. */
const PEOPLE_TAKE_S = Number(process.env["PEOPLE_TAKE_S"] ?? 420);
const ENDS_WITHIN_MS = (PEOPLE_TAKE_S + 60) * 1000;
const SETTLED = /settled\\*":true/;

type Json = Record<string, unknown>;

/** How an agent is started without a person at its terminal, and told where model and tools are. */
interface Agent {
  client: "claude" | "codex" | "gemini" | "opencode";
  command: string;
  args: readonly string[];
  /** Its configuration, and what else stands in there. */
  file: string;
  text(shown: string, model: string): string;
  env(model: string, folder: string): Record<string, string>;
  /** The client's name for a tool of ours. */
  tool(name: string): { call: string; namespace?: string };
  /** It shows tools only to a model that looks for them. */
  search?: string;
}

const mergedWith =
  (more: (model: string) => Json): Agent["text"] =>
  (shown, model) =>
    JSON.stringify({ ...(JSON.parse(shown) as Json), ...more(model) });

const AGENTS: Readonly<Record<string, Agent>> = {
  "Claude Code": {
    client: "claude",
    command: "claude",
    args: [
      "-p",
      TASK,
      "--mcp-config",
      ".mcp.json",
      "--strict-mcp-config",
      "--model",
      "claude-sonnet-4-5",
      "--allowedTools",
      "mcp__parley__ask_human,mcp__parley__wait_for_human_responses",
    ],
    file: ".mcp.json",
    text: (shown) => shown,
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    tool: (name) => ({ call: `mcp__parley__${name}` }),
    search: "ToolSearch",
  },
  opencode: {
    client: "opencode",
    command: "opencode",
    args: ["run", "--model", "anthropic/claude-sonnet-4-5", TASK],
    file: "opencode.json",
    text: mergedWith((model) => ({
      provider: { anthropic: { options: { baseURL: `${model}/v1`, apiKey: "none" } } },
      autoupdate: false,
      share: "disabled",
    })),
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
    tool: (name) => ({ call: `parley_${name}` }),
  },
  Codex: {
    client: "codex",
    command: "codex",
    args: ["exec", "--skip-git-repo-check", TASK],
    file: ".codex/config.toml",
    text: (shown, model) => `model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
${shown}
`,
    env: (_, folder) => ({ CODEX_HOME: join(folder, ".codex") }),
    tool: (name) => ({ call: name, namespace: "mcp__parley" }),
  },
  "Gemini CLI": {
    client: "gemini",
    command: "gemini",
    args: ["-m", "gemini-2.5-pro", "-p", TASK],
    file: ".gemini/settings.json",
    text: mergedWith(() => ({
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    })),
    env: (model) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
    }),
    tool: (name) => ({ call: `mcp_parley_${name}` }),
  },
};

/** The lines that are removed from a shown configuration: all that set how long a call may take. */
const TIMEOUTS = /^.*\btimeout":.*\n|^tool_timeout_sec.*\n/gm;

/** How an agent reaches the server, and what its model wants of one wait. */
const WAYS = {
  "as documented, in one call": { wait: { max_wait_seconds: 3600 }, shown: (text: string) => text, calls: 1 },
  "without a word about time, as `next` says": { wait: {}, shown: withoutTimeouts, calls: undefined },
} as const;

function withoutTimeouts(text: string): string {
  const without = text.replace(TIMEOUTS, "");
  assert.notEqual(without, text);
  return without.replaceAll(/,(\s*})/g, "$1");
}

describe(`a person who takes ${PEOPLE_TAKE_S} seconds`, { concurrency: true, timeout: ENDS_WITHIN_MS + 60_000 }, () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let key = "";
  before(async () => {
    server = await serve(dataDir);
    key = (await parley(["keys", "create", "coder", "--scope", "agent"], { PARLEY_DATA_DIR: dataDir })).out.trim();
  });
  after(() => stop(server));

  /** Runs an agent until its model was told what people said; returns how often it had to wait for that. */
  async function waits(agent: Agent, wait: Json, configured: (folder: string) => Promise<string>): Promise<number> {
    const prompt = `Which label is best, says ${newFolder()}?`;
    let given: readonly string[] = [];
    await using model = await stepModel((results): Step => {
      given = results;
      const asked = results.map((text) => /q_\w+/.exec(text)?.[0]).find((id) => id !== undefined);
      if (agent.search !== undefined && results.length === 0) {
        const wanted = ["ask_human", "wait_for_human_responses"].map((name) => agent.tool(name).call);
        return { call: agent.search, input: { query: `select:${wanted.join()}` } };
      }
      if (asked === undefined) return { ...agent.tool("ask_human"), input: { question: prompt, min_responses: 1 } };
      if (SETTLED.test(results.at(-1) ?? "")) return { say: "People have answered." };
      return { ...agent.tool("wait_for_human_responses"), input: { question_id: asked, ...wait } };
    });
    const folder = newFolder();
    const file = join(folder, agent.file);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, agent.text(await configured(folder), model.url));
    const running = start(agent, folder, { PARLEY_KEY: key, ...agent.env(model.url, folder) });

    const asked = until(() => /q_\w+/.exec(given.join("\n"))?.[0], `a question of ${agent.command}`);
    const answering = (async () => {
      const id = await asked;
      await pause(PEOPLE_TAKE_S * 1000);
      assert.equal((await post(server.url, "/human/responses", { question_id: id, answer: "At last" })).status, 201);
    })();
    const { code, out, err } = await running;
    const told = [code, out, err, ...given].join("\n");
    assert.equal(code, 0, told);
    await answering;
    assert.match(given.at(-1) ?? "", /At last/, told);
    assert.match(out, /People have answered\./, told);
    return given.length - 1 - (agent.search === undefined ? 0 : 1);
  }

  for (const [name, agent] of Object.entries(AGENTS)) {
    for (const [way, { wait, shown, calls }] of Object.entries(WAYS)) {
      it(`is waited for by ${name}, ${way}`, async (test) => {
        const waited = await waits(agent, wait, async () => {
          const { out } = await parley(["mcp", "config", agent.client], { PARLEY_URL: server.url, PARLEY_KEY: key });
          return shown(out);
        });
        test.diagnostic(`${name}, ${way}: ${waited} calls`);
        if (calls !== undefined) assert.equal(waited, calls);
      });
    }
  }

  it("is waited for by Claude Code without a word about time, in one call", async () => {
    const agent = AGENTS["Claude Code"];
    assert.ok(agent);
    const waited = await waits(agent, { max_wait_seconds: 3600 }, async () => {
      const { out } = await parley(["mcp", "config", "claude"], { PARLEY_URL: server.url, PARLEY_KEY: key });
      return withoutTimeouts(out);
    });
    assert.equal(waited, 1);
  });

  it("is waited for by Claude Code over standard input and output, in one call", async () => {
    const agent = AGENTS["Claude Code"];
    assert.ok(agent);
    const waited = await waits(agent, { max_wait_seconds: 3600 }, async () => {
      const { out } = await parley(["mcp", "config", "stdio"], { PARLEY_URL: server.url, PARLEY_KEY: key });
      const shown = JSON.parse(out) as { args: string[] };
      const command = { ...shown, command: process.execPath, args: [MAIN, ...shown.args] };
      return JSON.stringify({ mcpServers: { parley: command } });
    });
    assert.equal(waited, 1);
  });
});

/** Starts a program in a home of its own; one that does not end by itself is ended, with all it has started. */
function start(agent: Agent, folder: string, env: Record<string, string>) {
  const child = spawn(join(PROGRAMS, agent.command), agent.args, {
    cwd: folder,
    detached: true,
    env: {
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, ".config"),
      XDG_DATA_HOME: join(folder, ".local"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const late = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), ENDS_WITHIN_MS);
  return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(late);
      resolve({ code, out, err });
    });
  });
}
