import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { APPROVE, type HookedSite, openHookedSite, PROGRAMS, TASK } from "./hooked-site.ts";
import { OPENCLAW, openOpenclaw } from "./openclaw-site.ts";
import { openOpencode } from "./opencode-server.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel } from "./step-model.ts";

const SHELL = "run_shell_command";
const SETTINGS = ".gemini/settings.json";

/** A hook of Gemini CLI that is not Parley's, and prints this. */
function otherHook(printed: object) {
  const hook = { name: "other", type: "command", command: `echo '${JSON.stringify(printed)}'` };
  return { BeforeTool: [{ matcher: SHELL, hooks: [hook] }] };
}

const DENIES = otherHook({ decision: "deny", reason: "not on a Friday" });
const REWRITES = otherHook({
  decision: "allow",
  hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: { command: "touch rewritten.txt" } },
});

/**
 * Runs Gemini CLI, without a terminal, in a workspace with these hooks; its user has others before Parley's. Returns its
 * results, and the files that its command has made.
 */
async function releaseByGemini(
  { user, workspace }: { user?: object; workspace?: object },
  decide: (site: HookedSite) => Promise<unknown>,
) {
  const security = { auth: { selectedType: "gemini-api-key" } };
  await using site = await openHookedSite("gemini", { [SETTINGS]: JSON.stringify({ security, hooks: user ?? {} }) });
  await using model = await stepModel([REAL_AGENTS.gemini.run("touch released.txt"), { say: "That was that." }]);
  const cwd = join(site.folder, "work");
  mkdirSync(join(cwd, ".gemini"), { recursive: true });
  writeFileSync(join(cwd, SETTINGS), JSON.stringify({ hooks: workspace ?? {} }));
  const surroundings = REAL_AGENTS.gemini.surroundings(model.url).env;
  const env = { ...site.env, ...surroundings, GEMINI_CLI_TRUST_WORKSPACE: "true" };
  // A process group of its own has no terminal.
  const options = { cwd, env, stdio: "ignore", detached: true } as const;
  const child = spawn(join(PROGRAMS, "gemini"), ["-p", TASK, "--yolo"], options);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await decide(site);
    await ended;
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
  const made = ["released.txt", "rewritten.txt"].filter((name) => existsSync(join(cwd, name)));
  return { made, results: model.results().join("\n") };
}

describe("Gemini CLI with hooks of others beside Parley's", { skip: isMissing(REAL_AGENTS.gemini) }, () => {
  const approve = (site: HookedSite) => site.decide(SHELL, APPROVE);

  for (const whose of ["user", "workspace"]) {
    it(`runs nothing that a hook of its ${whose} denies, also after people approved it`, async () => {
      const { made, results } = await releaseByGemini({ [whose]: DENIES }, approve);
      assert.deepEqual(made, []);
      assert.match(results, /not on a Friday/);
    });
  }

  it("shows people the input that an earlier hook has returned, and runs it", async () => {
    const { made } = await releaseByGemini({ user: REWRITES }, async (site) => {
      const { arguments: shown } = await site.waiting(SHELL);
      assert.match(JSON.stringify(shown), /touch rewritten\.txt/);
      await approve(site);
    });
    assert.deepEqual(made, ["rewritten.txt"]);
  });

  it("runs the input of a workspace's hook in place of the one that people saw, as the page says", async () => {
    const { made } = await releaseByGemini({ workspace: REWRITES }, async (site) => {
      const { arguments: shown } = await site.waiting(SHELL);
      assert.match(JSON.stringify(shown), /touch released\.txt/);
      await approve(site);
    });
    assert.deepEqual(made, ["rewritten.txt"]);
  });

  it("ends by itself without a terminal where no server answers, and runs nothing", async () => {
    const { made, results } = await releaseByGemini({}, (site) => site.killServer());
    assert.deepEqual(made, []);
    assert.match(results, /has no terminal at which it could ask/);
  });
});

describe(
  "OpenClaw with another plugin",
  { skip: isMissing({ settings: { type: "command", command: [OPENCLAW] } }) },
  () => {
    it("asks nobody about a call that the other one blocks", async () => {
      const plugins = { blocker: `() => ({ block: true, blockReason: "not on a Friday" })` };
      await using running = await openOpenclaw(plugins);
      let asked = 0;
      const { ended } = running.release();
      const watching = setInterval(() => (asked += running.site.hooks().length), 20);
      await ended;
      clearInterval(watching);
      assert.match(running.model.results().join("\n"), /not on a Friday/);
      assert.deepEqual([asked, running.site.isReleased()], [0, false]);
    });
  },
);

describe("opencode with another plugin", { skip: isMissing(REAL_AGENTS.opencode) }, () => {
  it("takes the first reply, and withdraws the request from people", async () => {
    const other = `export const Other = async ({ client }) => ({
      event: async ({ event: { type, properties: { id, sessionID } } }) => {
        if (type !== "permission.asked") return;
        await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response: "once" } });
      },
    });`;
    await using site = await openHookedSite("opencode", { ".config/opencode/plugin/other.js": other });
    const released = REAL_AGENTS.opencode.run("touch released.txt");
    await using model = await stepModel([released, { say: "That was that." }]);
    await using opencode = await openOpencode(site, model.url, { bash: "ask" });
    await opencode.idle(await opencode.begin());
    assert.equal(site.isReleased(), true);
    await site.emptied();
  });
});
