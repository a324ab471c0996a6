import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/contract.ts";
import { attempt, STEPS } from "../support/workshop-git-attempt.ts";
import { exists, gitIn, openGitWorld, put, type GitWorld } from "../support/workshop-git.ts";

const PROGRAM = join(import.meta.dirname, "../support/workshop-git-attempt.ts");
const KILLS = 4;

describe("an attempt that was interrupted", () => {
  it("comes to the same commits and branches when its steps are taken again, wherever it stopped", async () => {
    using whole = await openGitWorld();
    const expected = await attempt(whole.folder);
    for (let stopped = 0; stopped < STEPS; stopped += 1) {
      using world = await worldLike(whole);
      await attempt(world.folder, stopped);
      // The leftovers of a git that was killed, or of a power cut.
      put(world.folder, "card.index.lock", "");
      put(world.folder, "attempts/card/tree.new/half", "");
      put(world.repo.store, "refs/aa/card/1.lock", "");
      put(world.user, ".git/refs/aa/card/1.lock", "");
      assert.deepEqual(await attempt(world.folder), expected, `stopped after step ${stopped}`);
      assert.equal(exists(join(world.folder, "attempts/card/tree.new")), false);
    }
  });

  it("does so too when it is killed at any moment, with every git it started", async () => {
    using whole = await openGitWorld();
    const began = performance.now();
    const expected = await attempt(whole.folder);
    const lastsMs = performance.now() - began;
    let killed = 0;
    for (let i = 0; i < KILLS; i += 1) {
      using world = await worldLike(whole);
      const child = spawn(process.execPath, [PROGRAM, world.folder], { detached: true, stdio: "ignore" });
      const gone = once(child, "exit");
      await until(() => exists(join(world.repo.store, "refs/parley")) || child.exitCode !== null);
      await pause((lastsMs * i) / KILLS);
      killed += killGroup(child.pid) ? 1 : 0;
      await gone;
      assert.deepEqual(await attempt(world.folder), expected, `killed at ${i} of ${KILLS}`);
      for (const dir of [world.user, world.repo.store]) gitIn(dir, "fsck", "--full", "--strict");
    }
    assert.notEqual(killed, 0);
  });
});

function killGroup(leader: number | undefined): boolean {
  try {
    return leader !== undefined && process.kill(-leader, "SIGKILL");
  } catch {
    return false;
  }
}

/** Another user's repository with the same commit. */
async function worldLike(whole: GitWorld): Promise<GitWorld> {
  const world = await openGitWorld();
  gitIn(world.user, "fetch", "--quiet", whole.user, "main");
  gitIn(world.user, "reset", "--quiet", "--hard", "FETCH_HEAD");
  return world;
}
