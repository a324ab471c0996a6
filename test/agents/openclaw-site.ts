import { spawn } from "node:child_process";
import { join } from "node:path";
import { type HookedSite, openHookedSite, PROGRAMS, TASK } from "./hooked-site.ts";
import { stepModel, type StepModel } from "./step-model.ts";

export const OPENCLAW = join(PROGRAMS, "openclaw");
const CONFIGURATION = ".openclaw/openclaw.json";
const RELEASE = { call: "exec", input: { command: "touch released.txt" } };

export interface OpenclawSite extends AsyncDisposable {
  site: HookedSite;
  model: StepModel;
  /** Starts a turn in a process of its own, without a terminal: OpenClaw refuses what it cannot ask anybody. */
  release(): { ended: Promise<unknown>; interrupt(): void };
}

/** Opens a site with an OpenClaw whose own rules let every command run, beside these plugins. */
export async function openOpenclaw(
  plugins: Readonly<Record<string, string>> = {},
  command = RELEASE.input.command,
): Promise<OpenclawSite> {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await stepModel([{ ...RELEASE, input: { command } }, { say: "That was that." }]));
  const site = stack.use(await openHookedSite("openclaw", filesOf(model.url, plugins)));
  const release = () => {
    const args = ["agent", "--local", "--session-key", "agent:main:release", "--message", TASK];
    const env = { ...site.env, OPENCLAW_WORKSPACE_DIR: site.folder };
    const child = spawn(OPENCLAW, args, { cwd: site.folder, stdio: "ignore", env });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    stack.defer(() => void child.kill("SIGKILL"));
    return { ended, interrupt: () => void child.kill("SIGTERM") };
  };
  return { site, model, release, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Returns OpenClaw's configuration and the files of plugins, whose code is that of their `before_tool_call`. */
function filesOf(model: string, plugins: Readonly<Record<string, string>>): Record<string, string> {
  const files = Object.entries(plugins).flatMap(([id, code]) => [
    [`.openclaw/extensions/${id}/index.js`, pluginOf(id, code)],
    [`.openclaw/extensions/${id}/openclaw.plugin.json`, JSON.stringify({ ...MANIFEST, id, name: id })],
  ]);
  const entries = Object.fromEntries(Object.keys(plugins).map((id) => [id, { enabled: true }]));
  const configuration = { ...settings(model), plugins: { entries } };
  return { [CONFIGURATION]: JSON.stringify(configuration), ...(Object.fromEntries(files) as Record<string, string>) };
}

const MANIFEST = { activation: { onStartup: true }, configSchema: { type: "object", additionalProperties: false } };

function pluginOf(id: string, code: string): string {
  return `export default { id: "${id}", name: "${id}", register(api) { api.on("before_tool_call", ${code}, { priority: -5000 }); } };`;
}

function settings(model: string) {
  const models = [{ id: "fake-model", name: "fake", contextWindow: 100_000, maxTokens: 1000 }];
  const fake = { baseUrl: `${model}/v1`, apiKey: "x", api: "openai-completions", models };
  const defaults = { model: { primary: "fake/fake-model" }, skipBootstrap: true };
  return { models: { providers: { fake } }, agents: { defaults } };
}
