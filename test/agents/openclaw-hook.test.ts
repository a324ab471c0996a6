import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../support/program.ts";
import { APPROVE, type HookedSite, openHookedSite, PROGRAMS, REASON, REJECT, TASK } from "./hooked-site.ts";
import { isMissing } from "./real-agents.ts";
import { stepModel, type StepModel } from "./step-model.ts";

const OPENCLAW = join(PROGRAMS, "openclaw");
const CONFIGURATION = ".openclaw/openclaw.json";
const RELEASE = { call: "exec", input: { command: "touch released.txt" } };

interface Running extends AsyncDisposable {
  site: HookedSite;
  model: StepModel;
  /** Starts a turn in a process of its own, without a terminal: OpenClaw refuses what it cannot ask anybody. */
  release(): { ended: Promise<unknown>; interrupt(): void };
}

/** Opens a site with an OpenClaw whose own rules let every command run, beside these plugins. */
async function open(plugins: Readonly<Record<string, string>> = {}): Promise<Running> {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await stepModel([RELEASE, { say: "That was that." }]));
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

describe("an unmodified OpenClaw", { skip: isMissing({ settings: { type: "command", command: [OPENCLAW] } }) }, () => {
  it("runs what a person approves, who sees the whole input", async () => {
    await using running = await open();
    const { ended } = running.release();
    const { arguments: shown } = await running.site.waiting("exec");
    assert.match(JSON.stringify(shown), /touch released\.txt/);
    assert.equal(running.site.isReleased(), false);
    await running.site.decide("exec", APPROVE);
    await ended;
    assert.equal(running.site.isReleased(), true);
  });

  it("does not run what a person rejects, and tells its model why", async () => {
    await using running = await open();
    const { ended } = running.release();
    await running.site.decide("exec", REJECT);
    await ended;
    assert.equal(running.site.isReleased(), false);
    assert.match(running.model.results().join("\n"), REASON);
  });

  it("runs the input that a person saw, where another plugin has rewritten it", async () => {
    const plugins = { rewriter: `() => ({ params: { command: "touch rewritten.txt" } })` };
    await using running = await open(plugins);
    const { ended } = running.release();
    const { arguments: shown } = await running.site.waiting("exec");
    assert.match(JSON.stringify(shown), /touch released\.txt/);
    await running.site.decide("exec", APPROVE);
    await ended;
    assert.deepEqual(["released.txt", "rewritten.txt"].map(running.site.isReleased), [true, false]);
  });

  it("asks by itself where no server answers, and refuses without anybody to ask", async () => {
    await using running = await open();
    await running.site.killServer();
    await running.release().ended;
    assert.match(running.model.results().join("\n"), /approval unavailable/i);
    assert.equal(running.site.isReleased(), false);
  });

  it("gets the decision of a server that was killed in the middle and has come back", async () => {
    await using running = await open();
    const { site } = running;
    const { ended } = running.release();
    await site.waiting("exec");
    await site.killServer();
    await site.restartServer();
    assert.equal(site.isReleased(), false);
    await site.decide("exec", APPROVE);
    await ended;
    assert.equal(site.isReleased(), true);
  });

  it("runs nothing when its hook is killed", async () => {
    await using running = await open();
    const { ended } = running.release();
    await running.site.waiting("exec");
    for (const pid of running.site.hooks()) process.kill(pid, "SIGKILL");
    await ended;
    assert.equal(running.model.results().length, 1);
    assert.equal(running.site.isReleased(), false);
  });

  it("withdraws its request when it is killed outright", async () => {
    await using running = await open();
    const { site } = running;
    const { ended } = running.release();
    await site.waiting("exec");
    site.killAgent();
    await ended;
    await site.emptied();
    assert.equal(site.isReleased(), false);
  });

  it("withdraws its request when it is interrupted", async () => {
    await using running = await open();
    const { site } = running;
    const { ended, interrupt } = running.release();
    await site.waiting("exec");
    interrupt();
    await ended;
    await site.emptied();
    await until(() => site.hooks().length === 0, "the end of the hook");
    assert.equal(site.isReleased(), false);
  });
});
