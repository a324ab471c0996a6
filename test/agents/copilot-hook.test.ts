import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { APPROVE, folderIn, type HookedSite, openHookedSite, PROGRAMS, REASON, REJECT, TASK } from "./hooked-site.ts";
import { isMissing } from "./real-agents.ts";
import { stepModel, type StepModel } from "./step-model.ts";

const COPILOT = join(PROGRAMS, "copilot");
const RELEASE = { call: "bash", input: { command: "touch released.txt", description: "Release it" } };

interface Running extends AsyncDisposable {
  site: HookedSite;
  model: StepModel;
  /** Starts Copilot CLI with these flags, without a terminal: what nobody decides it refuses. */
  release(...flags: string[]): { ended: Promise<unknown> };
}

async function open(command = RELEASE.input.command): Promise<Running> {
  const stack = new AsyncDisposableStack();
  const site = stack.use(await openHookedSite("copilot"));
  const model = stack.use(
    await stepModel([{ ...RELEASE, input: { ...RELEASE.input, command } }, { say: "That was that." }]),
  );
  const offline = { COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false", COPILOT_MODEL: "fake-model" };
  const env = { ...site.env, ...offline, COPILOT_PROVIDER_BASE_URL: `${model.url}/v1` };
  const release = (...flags: string[]) => {
    const child = spawn(COPILOT, ["-p", TASK, ...flags], { cwd: site.folder, stdio: "ignore", env });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    stack.defer(() => void child.kill("SIGKILL"));
    return { ended };
  };
  return { site, model, release, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe(
  "an unmodified Copilot CLI",
  { skip: isMissing({ settings: { type: "command", command: [COPILOT] } }) },
  () => {
    it("runs what a person approves, who sees the whole input", async () => {
      await using running = await open();
      const { ended } = running.release();
      const { arguments: shown } = await running.site.waiting("bash");
      assert.match(JSON.stringify(shown), /touch released\.txt/);
      assert.equal(folderIn(await running.site.waiting("bash")), realpathSync(running.site.folder));
      await running.site.decide("bash", APPROVE);
      await ended;
      assert.equal(running.site.isReleased(), true);
    });

    for (const [command, end] of [
      ["touch released.txt", "done"],
      ["touch released.txt; exit 3", "failed, exit 3"],
    ] as const) {
      it(`has an approved call end as ${end} after ${command}`, async () => {
        await using running = await open(command);
        const { ended } = running.release();
        await running.site.decide("bash", APPROVE);
        await ended;
        assert.deepEqual(await running.site.ends(), [end]);
      });
    }

    it("does not run what a person rejects, and tells its model why", async () => {
      await using running = await open();
      const { ended } = running.release("--allow-all-tools");
      await running.site.decide("bash", REJECT);
      await ended;
      assert.equal(running.site.isReleased(), false);
      assert.match(running.model.results().join("\n"), REASON);
    });

    for (const [flags, isReleased] of [
      [[], false],
      [["--deny-tool", "shell"], false],
      [["--allow-tool", "shell"], true],
    ] as const) {
      it(`follows its own rules where no server answers: ${flags.join(" ") || "none"}`, async () => {
        await using running = await open();
        await running.site.killServer();
        await running.release(...flags).ended;
        assert.equal(running.model.results().length, 1);
        assert.equal(running.site.isReleased(), isReleased);
      });
    }

    it("gets the decision of a server that was killed in the middle and has come back", async () => {
      await using running = await open();
      const { site } = running;
      const { ended } = running.release();
      await site.waiting("bash");
      await site.killServer();
      await site.restartServer();
      assert.equal(site.isReleased(), false);
      await site.decide("bash", APPROVE);
      await ended;
      assert.equal(site.isReleased(), true);
    });

    it("withdraws its request when it is killed outright", async () => {
      await using running = await open();
      const { site } = running;
      const { ended } = running.release();
      await site.waiting("bash");
      site.killAgent();
      await ended;
      await site.emptied();
      assert.equal(site.isReleased(), false);
    });

    it("runs nothing that its rules do not allow when its hook is killed", async () => {
      await using running = await open();
      const { ended } = running.release();
      await running.site.waiting("bash");
      for (const pid of running.site.hooks()) process.kill(pid, "SIGKILL");
      await ended;
      assert.equal(running.model.results().length, 1);
      assert.equal(running.site.isReleased(), false);
    });
  },
);
