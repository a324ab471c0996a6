import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { eventually, openSite, type AssignSite, type SiteOptions } from "../support/assign-site.ts";
import { newFolder } from "../support/program.ts";
import { put } from "../support/workshop-git.ts";
import { REAL_AGENTS } from "./real-agents.ts";
import { stepModel, type Step, type StepModel } from "./step-model.ts";

export type AgentName = keyof typeof REAL_AGENTS;

/** How the model of an agent that was given work says what it wants; paths are those of the tree. */
interface Words {
  write(path: string, text: string): Step;
  run(line: string): Step;
  /** Calls a tool of Parley's MCP server. */
  people(tool: string, input: Record<string, unknown>): Step[];
}

/** The shipped server with real agents, whose model is a test's. */
export interface AssignedSite extends AssignSite {
  model: StepModel;
  /** The results that tools have returned in the play of this name so far. */
  resultsOf(name: string): readonly string[];
  /** Has the model take these steps for the prompt that is returned; of several names in a prompt the newest counts. */
  play(name: string, ...steps: readonly Step[]): string;
  /** Returns the ask of a task that people have now, once it is another than `former`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  askOf(id: string, former?: string): Promise<any>;
  /** Returns what people have before them whose title holds the words. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  titled(words: string): Promise<any>;
  /** Ends with a message unless nothing of a task runs any more. */
  assertQuiet(id: string): Promise<void>;
}

const MODEL = "anthropic/claude-sonnet-4-5";
const TREE = "/parley/tree";
const STILL_RUNS = /Script running with cell ID (\w+)/;
/** The placeholder of a resumed agent for the missing result of a call. Its model does the step again. */
const BROKEN_OFF = /^(?:aborted$|\[Tool call interrupted)/;
const LINE_FILE = /^[\w./-]+$/;

/** Codex has its tools in a script alone, with the model of its own choice. */
const script = (call: string): Step => ({ call: "exec", text: `text(await tools.${call});` });

export const WORDS: Readonly<Record<AgentName, Words>> = {
  claude: inTree("claude"),
  codex: {
    write(path, text) {
      assert.match(path, LINE_FILE);
      const lines = text.replace(/\n$/, "").split("\n");
      const patch = ["*** Begin Patch", `*** Add File: ${path}`, ...lines.map((one) => `+${one}`), "*** End Patch", ""];
      return script(`apply_patch(${JSON.stringify(patch.join("\n"))})`);
    },
    run: (cmd) => script(`exec_command(${JSON.stringify({ cmd })})`),
    people: (tool, input) => [script(`mcp__parley__${tool}(${JSON.stringify(input)})`)],
  },
  gemini: inTree("gemini"),
  opencode: inTree("opencode"),
};

function inTree(name: Exclude<AgentName, "codex">): Words {
  const { write, run, people } = REAL_AGENTS[name];
  return { write: (path, text) => write(`${TREE}/${path}`, text), run, people };
}

/** Returns where a repository tells opencode its model is; it would else take one of its maker's. */
export function opencodeSettings(modelUrl: string): Record<string, unknown> {
  const anthropic = { options: { baseURL: `${modelUrl}/v1` } };
  // Without the first, opencode writes it into the file.
  return { $schema: "https://opencode.ai/config.json", model: MODEL, small_model: MODEL, provider: { anthropic } };
}

/** Opens a server whose agents are the real ones, in the sandbox, with this policy. */
export async function openAssigned({ policy, ...options }: SiteOptions & { policy: string }): Promise<AssignedSite> {
  const plays = new Map<string, readonly Step[]>();
  const heard = new Map<string, readonly string[]>();
  const model = await stepModel((results, asked) => {
    const told = JSON.stringify(asked);
    const name = [...plays.keys()].findLast((one) => told.includes(`Play: ${one}.`)) ?? "";
    heard.set(name, results);
    const cell = STILL_RUNS.exec(results.at(-1) ?? "")?.[1];
    if (cell !== undefined) return { call: "wait", input: { cell_id: cell, yield_time_ms: 60_000 } };
    const done = results.filter((one) => !STILL_RUNS.test(one) && !BROKEN_OFF.test(one));
    return plays.get(name)?.[done.length] ?? { say: "That is all." };
  });
  const env = {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "x",
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_API_KEY: "x",
    GOOGLE_GEMINI_BASE_URL: model.url,
    GEMINI_API_KEY: "x",
  };
  const own = { claude: /^ANTHROPIC/, codex: /^OPENAI/, gemini: /GEMINI/, opencode: /^ANTHROPIC/ };
  const agents = Object.entries(REAL_AGENTS).map(([name, { settings }]) => {
    const pass_env = Object.keys(env).filter((one) => own[name as AgentName].test(one));
    return [name, { type: settings.type, command: settings.command, pass_env }] as const;
  });
  const policyFile = `${newFolder()}-policy.yaml`;
  writeFileSync(policyFile, policy);
  const site = await openSite({
    agents: { ...Object.fromEntries(agents), ...options.agents },
    repos: options.repos ?? [{ name: "shop", parallel: 9 }],
    assignment: { sandbox: "require", parallel: 9, ...options.assignment },
    more: { relay: { policy_file: policyFile }, ...options.more },
    env: { ...env, ...options.env },
  });
  put(site.checkout("shop"), "opencode.json", JSON.stringify(opencodeSettings(model.url)));
  site.git("shop", "add", ".");
  site.git("shop", "commit", "--quiet", "-m", "Name a model");
  const close = site[Symbol.asyncDispose];
  return Object.assign(Object.create(site, Object.getOwnPropertyDescriptors(site)) as AssignSite, {
    model,
    resultsOf: (name: string) => heard.get(name) ?? [],
    play(name: string, ...steps: readonly Step[]) {
      plays.set(name, steps);
      // Below the first line: Claude Code shows its model the first lines of earlier commits.
      return `${name}\n\nPlay: ${name}.`;
    },
    async askOf(id: string, former?: string) {
      const isNew = (url?: string): boolean =>
        url !== undefined && url.includes("/inbox/ask_") && !url.endsWith(`/${former}`);
      const task = await site.until(id, (task) => isNew(task.question?.url) || /^(failed|review)$/.test(task.state));
      assert.ok(isNew(task.question?.url), `${id} is ${task.state} and asks nothing: ${task.error}`);
      return (await site.person("GET", `/people/me/asks/${task.question.url.split("/").at(-1)}`)).body;
    },
    async titled(words: string) {
      const found = await eventually(
        async () => {
          const { asks } = (await site.person("GET", "/people/me/asks")).body as {
            asks: { id: string; title: string }[];
          };
          return asks.find(({ title }) => title.includes(words));
        },
        () => `${words} in the inbox`,
      );
      return (await site.person("GET", `/people/me/asks/${found.id}`)).body;
    },
    async assertQuiet(id: string) {
      assert.deepEqual(await site.processes(id), []);
    },
    async [Symbol.asyncDispose]() {
      await close();
      await model[Symbol.asyncDispose]();
    },
  });
}
