import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { describeHookedAgent } from "../support/hooked-agent.ts";
import { newFolder, parley } from "../support/program.ts";

const params = { command: "rm -rf dist" };

describeHookedAgent({
  name: "openclaw",
  prompt: { hook_event_name: "before_tool_call", session_id: "s1", tool_name: "exec", tool_input: params },
  tool: "exec",
  shown: params,
  allowed: { decision: "allow", reason: "Approved by operator" },
  denied: (reason) => ({ decision: "deny", reason }),
  undecided: (reason) => ({ decision: "ask", reason }),
  failed: { out: /"decision":"deny"/, exit: 2 },
});

type BeforeToolCall = (
  event: { toolName: string; params: object },
  run: { sessionKey: string; abortSignal: AbortSignal },
) => Promise<unknown>;
interface Hooks {
  on(event: string, handler: BeforeToolCall, options?: { timeoutMs?: number }): void;
}

/** Installs the plugin, and loads it as OpenClaw does: it registers what comes before each use of a tool. */
async function loaded(...flags: string[]) {
  const home = newFolder();
  const { code, err } = await parley(["hook", "install", "openclaw", ...flags], { HOME: home });
  assert.equal(code, 0, err);
  const url = pathToFileURL(join(home, ".openclaw/parley/index.js")).href;
  const { default: plugin } = (await import(url)) as { default: { id: string; register(api: Hooks): void } };
  const found: { event: string; handler: BeforeToolCall; timeoutMs: number }[] = [];
  const on: Hooks["on"] = (event, handler, { timeoutMs = 0 } = {}) => void found.push({ event, handler, timeoutMs });
  plugin.register({ on });
  const [{ event, handler, timeoutMs }] = [found[0] ?? assert.fail()];
  const ended = new AbortController();
  const use = (toolName: string) => handler({ toolName, params }, { sessionKey: "s1", abortSignal: ended.signal });
  return { id: plugin.id, event, timeoutMs, use, ended };
}

describe("the plugin of OpenClaw", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });
  const waits = async (count: number) => {
    const operator = await decider(world(), "1");
    await until(async () => ((await operator.inbox()).length === count ? true : undefined));
    return operator;
  };

  it("runs a tool that people approve, and refuses one that they reject with their reason", async () => {
    for (const approved of [true, false]) {
      const { use } = await loaded("--url", world().url);
      const using = use("exec");
      const operator = await waits(1);
      await operator.decides({ approved, ...(!approved && { comment: "no" }) });
      const refused = { block: true, blockReason: "Rejected by operator: no" };
      assert.deepEqual(await using, approved ? { params } : refused);
    }
  });

  it("withdraws the request once the turn is over, and runs nothing", async () => {
    const { use, ended } = await loaded("--url", world().url);
    const using = use("exec");
    await waits(1);
    ended.abort();
    assert.deepEqual(await using, { block: true, blockReason: "The call was cancelled." });
    await waits(0);
  });

  it("has OpenClaw ask by itself where no server answers", async () => {
    const { use } = await loaded("--url", "http://127.0.0.1:1");
    const { requireApproval } = (await use("exec")) as { requireApproval: { description: string } };
    assert.match(requireApproval.description, /^Parley could not ask anybody\. No Parley server answers/);
  });

  it("asks about tools that change or reach something, or about those that are named", async () => {
    const asks = async ({ use }: Awaited<ReturnType<typeof loaded>>, tool: string) => (await use(tool)) !== undefined;
    const usual = await loaded("--url", "http://127.0.0.1:1");
    for (const tool of ["read", "tool_search", "parley__ask_human"]) assert.equal(await asks(usual, tool), false, tool);
    for (const tool of ["write", "readx", "docs__read", "parley__shell", "parley__ask_human_x"])
      assert.equal(await asks(usual, tool), true, tool);
    const named = await loaded("--url", "http://127.0.0.1:1", "--always", "^exec$");
    assert.deepEqual([await asks(named, "write"), await asks(named, "exec")], [false, true]);
  });

  it("has a longer time than its hook, at most as long as a timer of Node can be", async () => {
    const { id, event, timeoutMs } = await loaded("--timeout", "24d");
    assert.deepEqual([id, event], ["parley", "before_tool_call"]);
    assert.ok(timeoutMs > 24 * 86_400_000 && timeoutMs < 2 ** 31, String(timeoutMs));
    assert.ok((await loaded("--timeout", "10s")).timeoutMs > 10_000);
  });

  it("goes out of its files, and takes the place of no other plugin", async () => {
    const home = newFolder();
    const [file, configuration] = [join(home, ".openclaw/parley/index.js"), join(home, ".openclaw/openclaw.json")];
    const run = (deed: string, ...flags: string[]) => parley(["hook", deed, "openclaw", ...flags], { HOME: home });
    mkdirSync(join(home, ".openclaw"), { recursive: true });
    writeFileSync(configuration, '{\n  // mine\n  "a": 1,\n}\n');
    assert.equal((await run("install")).code, 0);
    assert.match((await run("install")).err, /holds it already/);
    assert.ok(readFileSync(configuration, "utf8").includes(dirname(file)));
    assert.equal((await run("uninstall")).code, 0);
    assert.equal(existsSync(dirname(file)), false);
    assert.equal(readFileSync(configuration, "utf8"), '{\n  // mine\n  "a": 1,\n}\n');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "export default {};\n");
    assert.match((await run("install")).err, /was left as it is: it holds a plugin that is not Parley's/);
    assert.equal((await run("install", "--file", configuration)).code, 2);
    assert.equal(readFileSync(configuration, "utf8"), '{\n  // mine\n  "a": 1,\n}\n');
  });
});
