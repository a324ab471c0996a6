import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Talk } from "../support/conversation.ts";
import type { Json } from "./dialects.ts";
import type { Step } from "./step-model.ts";

const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
const program = (name: string) => join(PROGRAMS, name);

/** A real agent, pointed at a model of a test, and how its model says the same things (spec/assignment 15). */
export interface RealAgent {
  settings: Talk["settings"];
  version: string;
  /** The adapter's name for the tools that write and run. */
  writes: string;
  runs: string;
  surroundings(model: string): { env?: Record<string, string>; args?: readonly string[] };
  /** Makes a folder ready, where a variable or an argument says too little. */
  prepare?(folder: string, model: string): void;
  /** Whether it spoils the record of a session that it is to go on with in the minute in which it began. */
  spoilsYoungSessions?: boolean;
  write(path: string, text: string): Step;
  run(line: string): Step;
  people(tool: string, input: Json): Step[];
}

export const REAL_AGENTS = {
  claude: {
    settings: { type: "claude", command: [program("claude")] },
    version: "2.1.332",
    writes: "Write",
    runs: "Bash",
    surroundings: (model) => ({ env: { ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: "x" } }),
    write: (file_path, content) => ({ call: "Write", input: { file_path, content } }),
    run: (command) => ({ call: "Bash", input: { command, description: "Run it" } }),
    // It shows the tools of MCP servers only to a model that looks for them.
    people: (tool, input) => [
      { call: "ToolSearch", input: { query: `select:mcp__parley__${tool}` } },
      { call: `mcp__parley__${tool}`, input },
    ],
  },
  codex: {
    settings: { type: "codex", command: [program("codex")] },
    version: "0.171.0",
    writes: "fileChange",
    runs: "commandExecution",
    surroundings(model) {
      const provider = `{name="fake",base_url="${model}/v1",wire_api="responses",env_key="FAKE_KEY"}`;
      const settings = ['model="fake-model"', 'model_provider="fake"', `model_providers.fake=${provider}`];
      return { env: { FAKE_KEY: "x" }, args: settings.flatMap((one) => ["-c", one]) };
    },
    write(path, text) {
      const lines = text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `+${line}`);
      const patch = ["*** Begin Patch", `*** Add File: ${path}`, ...lines, "*** End Patch"].join("\n");
      return { call: "exec_command", input: { cmd: `apply_patch <<'EOF'\n${patch}\nEOF\n` } };
    },
    run: (cmd) => ({ call: "exec_command", input: { cmd } }),
    people: (tool, input) => [{ call: tool, namespace: "mcp__parley", input }],
  },
  gemini: {
    settings: { type: "acp", flavour: "gemini", command: [program("gemini"), "--acp"] },
    version: "0.61.0",
    writes: "write_file",
    runs: "run_shell_command",
    spoilsYoungSessions: true,
    surroundings: (model) => ({ env: { GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: model } }),
    write: (file_path, content) => ({ call: "write_file", input: { file_path, content } }),
    run: (command) => ({ call: "run_shell_command", input: { command } }),
    people: (tool, input) => [{ call: `mcp_parley_${tool}`, input }],
  },
  opencode: {
    settings: { type: "acp", flavour: "opencode", command: [program("opencode"), "acp"] },
    version: "1.18.33",
    writes: "write",
    runs: "bash",
    surroundings: () => ({}),
    prepare(folder, model) {
      mkdirSync(join(folder, "home/.config/opencode"), { recursive: true });
      writeFileSync(join(folder, "home/.config/opencode/opencode.json"), JSON.stringify(opencodeSettings(model)));
    },
    write: (filePath, content) => ({ call: "write", input: { filePath, content } }),
    run: (command) => ({ call: "bash", input: { command, description: "Run it" } }),
    people: (tool, input) => [{ call: `parley_${tool}`, input }],
  },
} as const satisfies Readonly<Record<string, RealAgent>>;

/** Returns the settings by which opencode uses a model of a test. */
export function opencodeSettings(model: string) {
  const models = { "fake-model": { name: "fake", tool_call: true, limit: { context: 100_000, output: 1000 } } };
  const options = { baseURL: `${model}/v1`, apiKey: "x" };
  const provider = { fake: { npm: "@ai-sdk/openai-compatible", name: "fake", options, models } };
  return { model: "fake/fake-model", small_model: "fake/fake-model", provider };
}

/** Returns why an agent's tests are skipped; false when it is here. */
export function isMissing({ settings }: Pick<RealAgent, "settings">): string | false {
  const [file = ""] = settings.command;
  return existsSync(file) ? false : `${file} is not installed`;
}
