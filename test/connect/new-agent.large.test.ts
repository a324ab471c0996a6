import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { programOf, touchedIn, treeWith } from "../support/changed-tree.ts";
import { until } from "../support/contract.ts";
import { newFolder, post } from "../support/program.ts";

const run = promisify(execFile);
const PAGES = ["docs/how-to/connect.md", "docs/reference/agents.md"];

/** An agent whose events, settings and replies have members that no other agent's have. */
const HERON = `import { join } from "node:path";
import { homeOf, type PromptingAgent } from "../../agent.ts";
import { holdsHookEntries, withHookEntries } from "../../hook-entries.ts";
import { originOf, readObject, sessionOf, toolAndInput } from "../../prompt-json.ts";

const EVENT = "tool.wanted";
const VERDICTS = { allow: "go", deny: "stop", undecided: "ask" } as const;

export const heron: PromptingAgent = {
  name: "heron",
  title: "Heron",
  agentId: "heron",
  programs: ["heron"],
  file: (env) => join(homeOf(env), ".heron", "settings.json"),
  events: [EVENT],
  uncovered: [{ prompt: "trust in a folder", because: "Heron has no hook for it" }],
  beside: [{ event: EVENT, runs: "at once", decides: "the last one", means: { beside: "may come last" } }],
  takesAlways: false,
  afterInstall: "It asks about every tool.",
  takesEdits: false,
  withHook(text, hook) {
    const entry = hook ? { command: hook.command, seconds: hook.timeoutSeconds } : undefined;
    return withHookEntries(text, "heron", { [EVENT]: entry });
  },
  holds: (text) => holdsHookEntries(text, "heron", [EVENT]),
  read(bytes) {
    const { value, isExact } = readObject(bytes, "Heron");
    if (value["kind"] !== EVENT) return null;
    const asked = toolAndInput(value["tool"], value["arguments"], isExact, originOf(value));
    return { event: EVENT, session: sessionOf(value["run"]), ...asked };
  },
  print: (_prompt, { kind, because }) => JSON.stringify({ verdict: VERDICTS[kind], because }),
  fail: (because) => ({ err: because, exit: 2 }),
  decisionIn: (printed) => (printed.includes('"go"') ? "allow" : printed.includes('"stop"') ? "deny" : "undecided"),
  testEvent: (usual) => ({
    kind: usual.hook_event_name,
    run: usual.session_id,
    tool: usual.tool_name,
    arguments: usual.tool_input,
  }),
};
`;

const copy = treeWith({
  files: { "src/connect/agents/heron/heron.ts": HERON },
  lines: [
    {
      file: "src/connect/registry.ts",
      at: `  openclaw: { title: "OpenClaw",`,
      before: `  heron: { title: "Heron", load: async () => (await import("./agents/heron/heron.ts")).heron },\n`,
    },
  ],
  copied: ["scripts", ...PAGES],
});

describe("a new coding agent", () => {
  it("is a folder and one line of the registry", () => {
    assert.deepEqual(touchedIn(copy), ["src/connect/agents/heron/heron.ts", "src/connect/registry.ts"]);
  });

  it("is connected and listed, and its prompts reach people and come back in its own form", async () => {
    const home = newFolder();
    mkdirSync(join(home, ".heron"), { recursive: true });
    await run(process.execPath, [join(copy, "scripts/build-hook.mjs")]);
    const program = programOf(copy, { HOME: home });
    const { url, stop } = await program.serve();
    const ana = await program.headersOf("ana", "--scope", "answer", "--person", "1");
    /** Approves the next prompt in Ana's inbox, and returns it as she saw it. */
    const approved = async () => {
      const get = async (path: string) => (await fetch(`${url}${path}`, { headers: ana })).json();
      const list = async () => ((await get("/people/me/asks")) as { asks: { id: string }[] }).asks;
      const { id } = await until(async () => (await list())[0]);
      const seen = (await get(`/people/me/asks/${id}`)) as { fn: string; agent: string; digest: string };
      const decision = { approved: true, digest: seen.digest };
      assert.equal((await post(url, `/people/me/asks/${id}/decision`, decision, ana)).status, 200);
      return seen;
    };

    const [connected] = await Promise.all([program.parley("connect", "--url", url), approved()]);
    assert.match(connected.stdout, /^Heron +- +.*~\/\.heron\/settings\.json +tool\.wanted$/m);
    assert.match(connected.stdout, /^Heron: allowed\. Approved by operator$/m);
    const settings = JSON.parse(readFileSync(join(home, ".heron/settings.json"), "utf8"));
    const { command } = settings.hooks["tool.wanted"][0] as { command: string };
    assert.ok(command.includes(`${join(copy, "bin/hook/parley.cjs")} hook heron`), command);

    const hook = spawn("/bin/sh", ["-c", command], { env: program.env, stdio: ["pipe", "pipe", "inherit"] });
    hook.stdin.end(JSON.stringify({ kind: "tool.wanted", run: "r-1", tool: "Shell", arguments: { line: "make" } }));
    const [printed, seen] = await Promise.all([text(hook.stdout), approved()]);
    assert.deepEqual([seen.fn, seen.agent], ["Shell", "heron (without a key)"]);
    assert.equal(printed, `{"verdict":"go","because":"Approved by operator"}\n`);
    const status = (await program.parley("connect", "status", "--url", url)).stdout;
    assert.match(status, /^1 of 1 agents of this computer go through Parley\n/);
    assert.match(status, /^Heron +- +yes .*: Shell, approved by operator/m);
    await stop();
  });

  it("stands in the pages that scripts write from the registry", async () => {
    for (const script of ["agents-page", "connect-page"])
      await run(process.execPath, [join(copy, `scripts/${script}.mjs`)]);
    for (const page of PAGES) assert.match(readFileSync(join(copy, page), "utf8"), /^\| Heron /m);
  });
});
