import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parley, stop, until } from "../support/program.ts";
import { APPROVE, folderIn, type HookedSite, openHookedSite, PROGRAMS, REASON, REJECT, TASK } from "./hooked-site.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel, type Step } from "./step-model.ts";

const RELEASE: Step = { call: "Bash", input: { command: "touch released.txt", description: "Release it" } };
/** Claude Code as an editor starts it: without its user it has no tool that asks questions. */
const ATTENDED =
  "-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio".split(" ");
const SAID = { type: "user", message: { role: "user", content: TASK } };

/** A Claude Code whose hook `parley hook install` has written, and its model. */
interface ClaudeSite extends HookedSite {
  /** Starts Claude Code, whose model takes its step: alone, or with a program in which its user sits. */
  release(isAttended?: boolean, ...flags: string[]): { ended: Promise<number | null>; stop(): void };
  told(): string;
  /** The newest conversation, as its model read it. */
  read(): string;
}

async function openSite(step: Step = RELEASE, type: "http" | "command" = "http"): Promise<ClaudeSite> {
  const site = await openHookedSite("claude");
  const { folder, env } = site;
  if (type === "command") await parley(["hook", "install", "claude", "--type", type, "--yes"], env);
  assert.ok(readFileSync(join(folder, ".claude/settings.json"), "utf8").includes(`"type": "${type}"`));
  const model = await stepModel([step, { say: "That was that." }]);
  return Object.assign(site, {
    release(isAttended = false, ...flags: string[]) {
      const args = [...(isAttended ? ATTENDED : ["-p", TASK]), ...flags];
      const child = spawn(join(PROGRAMS, "claude"), [...args, "--model", "claude-sonnet-4-5"], {
        cwd: folder,
        stdio: ["pipe", "ignore", "ignore"],
        env: {
          ...env,
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
      });
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
      if (isAttended) child.stdin.write(`${JSON.stringify(SAID)}\n`);
      else child.stdin.end();
      // Somebody who sits there leaves after the tool.
      if (isAttended) void until(() => model.results().length > 0, "a result").finally(() => child.stdin.end());
      return { ended, stop: () => void child.kill("SIGINT") };
    },
    told: () => model.results().join("\n"),
    read: () => JSON.stringify(model.latest()),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await stop(site.server);
    },
  });
}

describe("an unmodified Claude Code that sends its prompts by HTTP", { skip: isMissing(REAL_AGENTS.claude) }, () => {
  it("runs what a person approves", async () => {
    await using site = await openSite();
    const { ended } = site.release();
    assert.equal(folderIn(await site.waiting("Bash")), realpathSync(site.folder));
    await site.decide("Bash", APPROVE);
    await ended;
    assert.equal(site.isReleased(), true);
    assert.deepEqual(await site.inbox(), []);
  });

  it("does not run what a person rejects, and tells its model why", async () => {
    await using site = await openSite();
    const { ended } = site.release();
    await site.decide("Bash", REJECT);
    await ended;
    assert.equal(site.isReleased(), false);
    assert.match(site.told(), REASON);
  });

  it("runs nothing where no server answers", async () => {
    await using site = await openSite();
    await stop(site.server);
    await site.release().ended;
    assert.equal(site.isReleased(), false);
    assert.match(site.told(), /needs approval|permission/);
  });

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`runs nothing after the server ended by ${signal} while it waited`, async () => {
      await using site = await openSite();
      const { ended } = site.release();
      await until(async () => (await site.inbox()).length === 1, "the request");
      site.server.child.kill(signal);
      await ended;
      assert.equal(site.isReleased(), false);
    });
  }

  it("withdraws its request when it is interrupted", async () => {
    await using site = await openSite();
    const running = site.release();
    await until(async () => (await site.inbox()).length === 1, "the request");
    running.stop();
    await running.ended;
    await until(async () => (await site.inbox()).length === 0, "the withdrawal");
    assert.equal(site.isReleased(), false);
  });

  for (const type of ["http", "command"] as const) {
    it(`gives its model a note of a person after the tool, by ${type}`, async () => {
      await using site = await openSite(RELEASE, type);
      const { ended } = site.release();
      await site.note("Bash", "Count the stars next.");
      await site.decide("Bash", APPROVE);
      await ended;
      assert.match(site.read(), /a person, by Parley\. It approves nothing.*Count the stars next\./);
    });

    for (const [command, end] of [
      ["touch released.txt", "done"],
      ["mkdir sub; cd sub; touch ../released.txt; exit 3", "failed, exit 3"],
    ] as const) {
      it(`has an approved call end as ${end} after ${command}, by ${type}`, async () => {
        await using site = await openSite({ call: "Bash", input: { command, description: "Release it" } }, type);
        const { ended } = site.release();
        await site.decide("Bash", APPROVE);
        await ended;
        assert.deepEqual(await site.ends(), [end]);
      });
    }

    it(`leaves its plan mode after a person has approved the plan, by ${type}`, async () => {
      await using site = await openSite({ call: "ExitPlanMode", input: { plan: "1. Release it" } }, type);
      const { ended } = site.release(true, "--permission-mode", "plan");
      await Promise.race([site.decide("ExitPlanMode", APPROVE), ended]);
      await ended;
      assert.match(site.told(), /User has approved exiting plan mode/);
    });
  }

  it("runs an input as it was, which a person approved: a long one, and letters of all kinds", async () => {
    const content = `${"é😀\n".repeat(20_000)}end`;
    await using site = await openSite({ call: "Write", input: { file_path: "long.txt", content } });
    const { ended } = site.release();
    await Promise.race([site.decide("Write", APPROVE), ended]);
    await ended;
    assert.equal(readFileSync(join(site.folder, "long.txt"), "utf8"), content, site.told());
  });

  it("gives its model the options that a person has chosen of its questions", async () => {
    const options = ["lint", "unit", "e2e"].map((label) => ({ label, description: `Run ${label}` }));
    const questions = [
      { question: "Which checks?", header: "Checks", multiSelect: true, options },
      { question: "Which one first?", header: "First", multiSelect: false, options },
    ];
    await using site = await openSite({ call: "AskUserQuestion", input: { questions } });
    const { ended } = site.release(true);
    await site.decide("Checks", () => ["--text", "#1, e2e"]);
    await site.decide("First", () => ["--option", "option_2"]);
    await ended;
    assert.match(site.told(), /"Which checks\?"="lint, e2e"/);
    assert.match(site.told(), /"Which one first\?"="unit"/);
  });
});
