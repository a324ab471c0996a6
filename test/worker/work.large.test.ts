import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { createKey } from "../../src/access/create-key.ts";
import { findProcesses } from "../../src/workshop/sandbox/processes.ts";
import { eventually } from "../support/assign-site.ts";
import { advanceUntil } from "../support/contract.ts";
import { newFolder, parley, ROOT, start, stop, until, type Run } from "../support/program.ts";
import { gitIn, put } from "../support/workshop-git.ts";
import { openWorld, type Reply, type World } from "../support/world.ts";

const LEASE_MS = 60_000;
const ALLOWED = ["touch b.txt", "touch no/b.txt"];
const workers: Run[] = [];
after(async () => {
  for (const worker of workers) {
    worker.child.kill("SIGCONT");
    await stop(worker);
  }
});

interface Scene extends AsyncDisposable {
  world: World;
  /** A repository as it stands before anybody works in it. */
  origin: string;
  give(id: string, more?: Record<string, unknown>): Promise<void>;
  get(path: string): Promise<Reply>;
  stateOf(id: string): Promise<string>;
  /** The id of a task's newest attempt. */
  attemptOf(id: string): Promise<string>;
  /** The state of the job by which that attempt is given to workers. */
  jobStateOf(id: string): Promise<string>;
  /** Starts a worker with a clone of its own, in which each task runs these lines of shell, or this agent. */
  worker(name: string, work: string | object, options?: string[]): Promise<{ run: Run; clone: string; again(): Run }>;
}

async function openScene(): Promise<Scene> {
  const folder = newFolder();
  const origin = join(folder, "origin");
  mkdirSync(origin, { recursive: true });
  gitIn(origin, "init", "--quiet", "-b", "main");
  put(origin, "README.md", "hello\n");
  gitIn(origin, "add", ".");
  gitIn(origin, "commit", "--quiet", "-m", "begin");
  const config = join(folder, "parley.yaml");
  writeFileSync(
    config,
    JSON.stringify({ repos: [{ name: "far", worker: true, agent: "script", allow_commands: ALLOWED }] }),
  );
  const world = await openWorld({ on: "sqlite", env: { PARLEY_CONFIG: config } });
  const { ctx } = world.server;
  const { text: assign } = await createKey(ctx, { name: "cards", scope: "assign" });
  const { text: key } = await createKey(ctx, { name: "worker", scope: "executor" });
  const headers = { authorization: `Bearer ${assign}` };
  const get = (path: string) => world.call("GET", path, { headers });
  return {
    world,
    origin,
    get,
    async give(id, more = {}) {
      const reply = await world.call("POST", "/assignment", { headers, body: { id, prompt: `Do ${id}`, ...more } });
      assert.equal(reply.status, 202, reply.text);
    },
    async stateOf(id) {
      const { body } = await get(`/assignment/tasks/${id}`);
      return (body as { state: string }).state;
    },
    async attemptOf(id) {
      const rows = await ctx.db.all<{ attempt_id: string }>(
        sql`SELECT attempt_id FROM task_attempts WHERE id = ${id} ORDER BY n DESC`,
      );
      return rows[0]?.attempt_id ?? assert.fail(`${id} has no attempt`);
    },
    async jobStateOf(id) {
      const rows = await ctx.db.all<{ state: string }>(
        sql`SELECT j.state FROM jobs j JOIN task_attempts a ON a.job_id = j.job_id WHERE a.id = ${id} ORDER BY a.n DESC`,
      );
      return rows[0]?.state ?? assert.fail(`${id} has no job`);
    },
    async worker(name, work, options = []) {
      const dataDir = join(folder, name);
      const clone = join(folder, `${name}-clone`);
      gitIn(folder, "clone", "--quiet", origin, clone);
      mkdirSync(dataDir);
      const script = typeof work === "string" ? { type: "command", command: ["/bin/sh", "-c", work] } : work;
      const agents = { script };
      writeFileSync(join(dataDir, "parley.yaml"), JSON.stringify({ agents, assignment: { sandbox: "off" } }));
      const args = ["work", "--repo", `far=${clone}`, "--data-dir", dataDir, ...options];
      const again = (): Run => {
        const run = start(args, { PARLEY_URL: world.url, PARLEY_KEY: key });
        workers.push(run);
        return run;
      };
      return { run: again(), clone, again };
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Looks until a task is there. The server's clock stands still, so that no lease ends however slow its worker is. */
async function come(scene: Scene, id: string, state: string, worker: Run): Promise<void> {
  await eventually(
    async () => (await scene.stateOf(id)) === state,
    () => `the state ${state} of ${id}: ${worker.err()}`,
  );
}

describe("parley work", () => {
  it("does tasks on its own machine, builds on what others did elsewhere, and shows the server the work", async () => {
    await using scene = await openScene();
    const one = await scene.worker("one", 'cat a.txt 2>/dev/null; echo "$PARLEY_TASK" > "$PARLEY_TASK.txt"');
    await scene.give("a");
    await come(scene, "a", "review", one.run);
    assert.equal(gitIn(one.clone, "show", "refs/heads/aa/a-ca978112:a.txt"), "a");
    await stop(one.run);

    await scene.give("b", { dependencies: ["a"] });
    const two = await scene.worker("two", 'echo "$PARLEY_TASK" > "$PARLEY_TASK.txt"; cat a.txt > seen.txt');
    await come(scene, "b", "review", two.run);
    assert.equal(gitIn(two.clone, "show", "refs/heads/aa/b-3e23e816:seen.txt"), "a");
    assert.equal(gitIn(two.clone, "status", "--porcelain"), "");

    await stop(two.run);

    // The third worker has neither of the commits that the task builds on.
    await scene.give("c", { dependencies: ["b"] });
    const three = await scene.worker("three", "cat a.txt b.txt > seen.txt");
    await come(scene, "c", "review", three.run);
    assert.equal(gitIn(three.clone, "show", "refs/heads/aa/c-2e7d2c03:seen.txt"), "a\nb");

    const diff = await scene.get("/assignment/tasks/b/diff");
    assert.equal(diff.status, 200, diff.text);
    assert.match(diff.text, /\+\+\+ b\/seen\.txt/);
  });

  it("tells how the uses of tools ended that were allowed to its agent", async () => {
    await using scene = await openScene();
    const claude = fileURLToPath(new URL("../support/fake-agents/claude.ts", import.meta.url));
    const one = await scene.worker("uses", { type: "claude", command: [claude] });
    const steps = [{ run: "touch b.txt" }, { run: "touch no/b.txt" }, { say: "That is all." }];
    await scene.give("u", { prompt: `Do u\nFAKE ${JSON.stringify(steps)}` });
    await come(scene, "u", "review", one.run);
    const outcomes = await scene.world.server.ctx.db.all<{ state: string; result_digest: string }>(
      sql`SELECT state, result_digest FROM ask_outcomes ORDER BY at`,
    );
    assert.deepEqual(
      outcomes.map(({ state }) => state),
      ["done", "failed"],
    );
    assert.ok(outcomes.every(({ result_digest: digest }) => digest.startsWith("sha256:")));
  });

  it("is fenced when it was lost: another one does the task, and the late one's work stays where it is", async () => {
    await using scene = await openScene();
    const [gate, begun] = [join(ROOT, "gate"), join(ROOT, "slow-begun")];
    const waits = `echo begun > begun.txt; touch ${begun}; while [ ! -e ${gate} ]; do sleep 0.1; done; echo late > done.txt`;
    const slow = await scene.worker("slow", waits);
    await scene.give("c");
    await come(scene, "c", "running", slow.run);
    await until(() => existsSync(begun), "the agent's begin");
    slow.run.child.kill("SIGSTOP");

    await advanceUntil(scene.world, LEASE_MS / 4, async () => (await scene.jobStateOf("c")) === "QUEUED");
    const quick = await scene.worker("quick", "echo quick > done.txt");
    await come(scene, "c", "review", quick.run);
    const { body } = await scene.get("/assignment/tasks/c");
    const { commit, attempt } = body as { commit: string; attempt: number };
    assert.equal(attempt, 2);
    assert.equal(gitIn(quick.clone, "show", `${commit}:done.txt`), "quick");

    writeFileSync(gate, "");
    slow.run.child.kill("SIGCONT");
    await until(
      () => /far c: over|not|lease/.test(slow.run.err()) && /over/.test(slow.run.err()),
      "the late one's end",
    );
    const after = (await scene.get("/assignment/tasks/c")).body as { commit: string; state: string };
    assert.deepEqual([after.state, after.commit], ["review", commit]);
    const refs = gitIn(slow.clone, "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa");
    assert.equal(refs, "refs/aa/c-2e7d2c03/1-wip");
    assert.equal(gitIn(slow.clone, "show", "refs/aa/c-2e7d2c03/1-wip:begun.txt"), "begun");
  });

  it("ends what it left at work, where that was taken back while it was away", async () => {
    await using scene = await openScene();
    const begun = join(ROOT, "begun");
    const slow = `if [ ! -e ${begun} ]; then echo begun | tee ${begun} > begun.txt; sleep 600; fi`;
    const first = await scene.worker("away", `${slow}; echo done > done.txt`);
    await scene.give("d");
    await come(scene, "d", "running", first.run);
    const attempt = await scene.attemptOf("d");
    await until(() => existsSync(begun), "the agent's begin");
    first.run.child.kill("SIGKILL");
    await first.run.ended;
    assert.notEqual((await findProcesses(attempt)).length, 0);

    await scene.give("d");
    const run = first.again();
    await until(() => run.err().includes("far d: over"), "the end of what it had begun");
    assert.deepEqual(await findProcesses(attempt), []);
    const wip = gitIn(first.clone, "for-each-ref", "--format=%(refname)", "refs/aa");
    assert.equal(wip, "refs/aa/d-18ac3e73/1-wip");
    // Nobody waits for its lease to run out.
    await come(scene, "d", "review", run);
  });

  it("says what is missing", async () => {
    const env = { PARLEY_DATA_DIR: newFolder() };
    const without = await parley(["work", "--repo", "far=."], env);
    assert.equal(without.code, 2);
    assert.match(without.err, /PARLEY_KEY is missing/);
    const unnamed = await parley(["work"], { ...env, PARLEY_KEY: "x" });
    assert.deepEqual([unnamed.code, /--repo NAME=PATH is missing/.test(unnamed.err)], [2, true]);
  });
});
