import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";
import { findProcesses } from "../../src/workshop/sandbox/processes.ts";
import { appears, run, sharedSite, steps } from "../support/assign-site.ts";
import { newFolder } from "../support/program.ts";

/** Starts one that never ends and writes at its end, after some work. */
const SLEEPS = {
  "in the foreground": "sleep 777; touch late.txt",
  "in a session of its own": "setsid sh -c 'sleep 777; touch late.txt' & sleep 777",
};

const HELD = "held";

/** A folder with a git before the real one, which waits with the commit of the task `late` while a file is there. */
function folderOfSlowGit(): string {
  const folder = newFolder();
  mkdirSync(folder);
  const isHeld = `while [ -e '${join(folder, HELD)}' ]; do sleep 0.05; done`;
  const script = `#!/bin/sh\ncase "$*" in */late.*write-tree*) ${isHeld};; esac\nPATH="\${PATH#*:}" exec git "$@"\n`;
  writeFileSync(join(folder, "git"), script, { mode: 0o755 });
  writeFileSync(join(folder, HELD), "");
  return folder;
}

describe("ending work that is under way", { concurrency: true }, () => {
  const slowGit = folderOfSlowGit();
  const shared = sharedSite({
    assignment: { parallel: 8 },
    env: { PATH: `${slowGit}${delimiter}${process.env["PATH"]}` },
    repos: [
      { name: "shop", parallel: 8 },
      { name: "slow", setup: "touch setup-began; sleep 777; touch late.txt" },
    ],
  });
  const refsOf = (id: string, repo = "shop"): string[] => {
    const refs = shared().git(repo, "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads");
    return refs.split("\n").filter((ref) => ref.includes(id.slice(0, 40)));
  };
  for (const [how, line] of Object.entries(SLEEPS)) {
    const name = how.replaceAll(" ", "-");

    it(`leaves no process, file or commit of an agent that sleeps ${how}, and keeps what it had done`, async () => {
      const site = shared();
      const id = `sleep-${name}`;
      await site.submit(id, { prompt: run(`echo half > half.txt; echo going; ${line}`) });
      await site.until(id, "running");
      const tree = join(site.folder(id), "tree");
      await appears(join(tree, "half.txt"));
      assert.notDeepEqual(await site.processes(id), []);

      const reply = await site.assign("DELETE", `/assignment/shop/tasks/${id}`);
      assert.deepEqual([reply.status, reply.body.status, reply.body.state], [200, "error", "canceled"]);
      assert.match(reply.body.error, /^canceled by /);
      assert.deepEqual(await site.processes(id), []);
      assert.equal(existsSync(join(tree, "late.txt")), false);
      const [wip = "", ...others] = refsOf(id);
      assert.match(wip, /^refs\/aa\/.*\/1-wip$/);
      assert.deepEqual(others, []);
      assert.equal(site.git("shop", "show", `${wip}:half.txt`), "half");
    });

    it(`replaces one that sleeps ${how} by the next submission, whose commit alone appears`, async () => {
      const site = shared();
      const id = `again-${name}`;
      await site.submit(id, { prompt: run(`echo old > which.txt; ${line}`) });
      await site.until(id, "running");
      const old = site.folder(id);
      await appears(join(old, "tree/which.txt"));
      const oldAttempt = site.attemptId(id);
      const replaced = await site.submit(id, { prompt: run("echo new > which.txt") });
      assert.deepEqual([replaced.status, replaced.attempt], ["queued", 1]);

      const done = await site.until(id, "review");
      assert.deepEqual([done.attempt, done.attempts.length], [2, 2]);
      assert.deepEqual([done.attempts[0].outcome, done.attempts[0].commit], ["superseded", undefined]);
      assert.deepEqual(await findProcesses(oldAttempt), []);
      assert.equal(existsSync(join(old, "tree/late.txt")), false);
      assert.equal(site.git("shop", "show", `${done.commit}:which.txt`), "new");
      const names = refsOf(id).map((ref) => ref.replace(/-[0-9a-f]{8}/, ""));
      const short = id.slice(0, 40);
      assert.deepEqual(names, [`refs/aa/${short}/1-wip`, `refs/aa/${short}/2`, `refs/heads/aa/${short}`]);
      assert.equal(site.git("shop", "rev-parse", refsOf(id)[2] ?? ""), done.commit);
    });
  }

  it("ends the setup of a tree", async () => {
    const site = shared();
    await site.submit("prepares", {}, "slow");
    const task = await site.until("prepares", "preparing", "slow");
    assert.equal(task.attempt, 1);
    const tree = join(site.folder("prepares"), "tree");
    await appears(join(tree, "setup-began"));
    const { body } = await site.assign("DELETE", "/assignment/slow", { body: { id: "prepares" } });
    assert.equal(body.state, "canceled");
    assert.deepEqual(await site.processes("prepares"), []);
    assert.equal(existsSync(join(tree, "late.txt")), false);
    assert.deepEqual(refsOf("prepares", "slow"), []);
  });

  it("takes back what the agent asked people", async () => {
    const site = shared();
    await site.submit("asks", { agent: "claude", prompt: steps({ touch: "half.txt" }, { run: "date > when.txt" }) });
    const waiting = await site.until("asks", "awaiting_answer");
    assert.equal(waiting.question.summary.includes("date"), true, waiting.question.summary);
    const id = waiting.question.url.split("/").at(-1);
    const ask = (await site.person("GET", `/people/me/asks/${id}`)).body;
    const reply = await site.assign("DELETE", "/assignment/shop?id=asks");
    assert.deepEqual([reply.status, reply.body.state], [200, "canceled"]);
    const { body } = await site.person("GET", `/people/me/asks/${ask.id}`);
    assert.equal(body.state, "cancelled");
    const late = await site.person("POST", `/people/me/asks/${ask.id}/decision`, {
      body: { approved: true, digest: ask.digest },
    });
    assert.ok(late.status === 409 || late.status === 410, late.text);
    assert.deepEqual(await site.processes("asks"), []);
    assert.equal(refsOf("asks").join().includes("1-wip"), true);
  });

  it("lets a commit that is being made stand", async () => {
    const site = shared();
    // The many files make the commit slow.
    await site.submit("commits", { prompt: run("i=0; while [ $i -lt 1500 ]; do echo $i > f$i; i=$((i+1)); done") });
    await site.until("commits", ({ state }) => state === "committing" || state === "review");
    const { status, body } = await site.assign("DELETE", "/assignment/shop/tasks/commits");
    assert.deepEqual([status, body.status, body.state], [200, "completed", "review"]);
    assert.equal(site.git("shop", "rev-parse", refsOf("commits")[0] ?? ""), body.commit);
  });

  it("replaces a task whose commit is being made, and takes that commit back", async () => {
    const site = shared();
    await site.submit("late", { prompt: run("echo old > which.txt") });
    await site.until("late", "committing");
    await site.submit("late", { prompt: run("echo new > which.txt") });
    rmSync(join(slowGit, HELD));
    const done = await site.until("late", ({ state, attempt }) => state === "review" && attempt === 2);
    assert.equal(done.attempts[0].outcome, "superseded");
    const names = refsOf("late").map((ref) => ref.replace(/-[0-9a-f]{8}/, ""));
    assert.deepEqual(names, ["refs/aa/late/1-wip", "refs/aa/late/2", "refs/heads/aa/late"]);
    assert.equal(site.git("shop", "rev-parse", refsOf("late")[2] ?? ""), done.commit);
    assert.equal(site.git("shop", "ls-tree", "--name-only", done.commit), "README.md\nprices.txt\nwhich.txt");
  });
});
