import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, beforeEach, describe, it } from "node:test";
import { until as eventually } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";
import { KEY, openRunnerWorld, type RunnerWorld } from "../support/runner-world.ts";
import type { Line, Script } from "../support/scripted-llm.ts";

/** The processes of the model that this test started. */
function childPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
        return parent === process.pid && argvOf(pid).some((arg) => arg.endsWith("answer-runner/child.ts"));
      } catch {
        return false;
      }
    });
}

/** Sends a signal. A process that is gone already needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function argvOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
}

/**
 * Looks until it is so, each time in a turn of the event loop of its own: of processes that ended together, the runner
 * then knows of each, and not only of the first.
 */
async function until(isSo: () => boolean): Promise<void> {
  let looks = 0;
  await eventually(() => (looks += 1) > 1 && isSo());
}

describe("troubles of the answer-runner", () => {
  let script: Script;
  let world: RunnerWorld;
  // A process uses the machine's clock. The code that waits for it uses this one, which stands still.
  const clock = heldClock();
  before(async () => {
    world = await openRunnerWorld({ script: (heard, number) => script(heard, number), more: { clock } });
  });
  beforeEach(() => void world.llm.heard.splice(0));
  after(() => world[Symbol.asyncDispose]());
  const says = (...lines: Line[]) => {
    script = () => lines[Math.min(world.llm.heard.length, lines.length) - 1] ?? "";
  };

  it("gives up at its limit", async () => {
    says({ hangs: true });
    const outcome = await world.pass({ leftMs: 700 });
    assert.equal(outcome.error?.code, "E_MODEL");
    assert.match(outcome.because, /no answer in \d+ ms/);
  });

  it("kills a process that does not end by itself", async () => {
    says({ hangs: true });
    await until(() => childPids().length === 2);
    const before = childPids();
    const asked = world.pass({ leftMs: 30_000 });
    await until(() => world.llm.heard.length === 1);
    // One of the processes is at work, and cannot notice that its time is over.
    for (const pid of before) send(pid, "SIGSTOP");
    clock.advance(31_000);
    assert.equal((await asked).error?.code, "E_MODEL");
    await until(() => before.some((pid) => !childPids().includes(pid)));
    for (const pid of before.filter((one) => childPids().includes(one))) send(pid, "SIGCONT");
  });

  it("calls it an error of its own when the process dies", async () => {
    says({ hangs: true });
    await until(() => childPids().length === 2);
    const asked = world.pass();
    await until(() => world.llm.heard.length === 1);
    const killed = childPids();
    for (const pid of killed) send(pid, "SIGKILL");
    assert.equal((await asked).error?.code, "E_INTERNAL");
    await until(() => !killed.some((pid) => existsSync(`/proc/${pid}`)));
    says('{"answer_text": "EUR"}');
    assert.equal((await world.answer()).text, "EUR", "the next ask gets a new one");
  });

  it("stops when its ask does", async () => {
    says({ hangs: true });
    const stop = new AbortController();
    const asked = world.pass({ signal: stop.signal });
    await until(() => world.llm.heard.length === 1);
    stop.abort();
    assert.equal((await asked).because, "stopped");
  });

  it("keeps two processes that know the program, one key, and nothing else", async () => {
    await until(() => childPids().length === 2);
    const [pid = 0] = childPids();
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").slice(0, -1);
    assert.deepEqual(environment.map((entry) => entry.split("=")[0]).sort(), ["LANG", "MODEL_KEY", "PATH"]);
    assert.ok(!argvOf(pid).some((arg) => arg.includes(KEY)));

    const flags = argvOf(pid).slice(1, -1);
    const tries = [
      ["fs.readFileSync('/etc/hostname')", /ERR_ACCESS_DENIED/],
      ["fs.writeFileSync('/tmp/of-the-child', '')", /ERR_ACCESS_DENIED/],
      ["child_process.execSync('id')", /ERR_ACCESS_DENIED/],
      ["new worker_threads.Worker('1', { eval: true })", /ERR_ACCESS_DENIED/],
      ["process.dlopen({ exports: {} }, '/tmp/some.node')", /ERR_DLOPEN_DISABLED|ERR_ACCESS_DENIED/],
      ["new Function('return 1')", /EvalError/],
    ] as const;
    for (const [code, refused] of tries) {
      const { stderr, status } = spawnSync(process.execPath, [...flags, "-e", code], { encoding: "utf8" });
      assert.notEqual(status, 0, code);
      assert.match(stderr, refused, code);
    }
  });

  it("lets eight work at a time, 256 wait, and leaves the rest to people", async () => {
    let answers: (line: Line) => void = () => undefined;
    const held = new Promise<Line>((resolve) => (answers = resolve));
    script = () => held;
    const stop = new AbortController();
    const busy = Array.from({ length: 8 }, () => world.ask({ signal: stop.signal }));
    const waiting = Array.from({ length: 256 }, () => world.ask({ signal: stop.signal }));
    await until(() => world.runner.state().queued === 256);
    assert.equal(world.runner.state().busy, 8);

    assert.equal((await world.pass()).because, "saturated");

    await until(() => world.llm.heard.length === 8);
    stop.abort();
    answers("late");
    for (const outcome of await Promise.all([...busy, ...waiting])) assert.equal(outcome.because, "stopped");
    assert.deepEqual(world.runner.state(), { model: "anthropic/scripted", trouble: null, busy: 0, queued: 0 });
  });
});

describe("an answer-runner that is not set", () => {
  it("passes every ask on, and says why", async () => {
    const script = () => "{}";
    for (const [model, env, because] of [
      ["anthropic/scripted", { MODEL_KEY: "" }, "the environment has no MODEL_KEY"],
      ["acme/scripted", {}, "there is no provider acme"],
    ] as const) {
      await using world = await openRunnerWorld({ script, model, env });
      assert.equal((await world.pass()).because, because);
      assert.equal(world.runner.state().trouble, because);
    }
  });
});
