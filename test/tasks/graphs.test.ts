import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listTaskHeads } from "../../src/tasks/store/tasks.ts";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { Dice } from "../support/secret-corpus.ts";
import { DATABASES } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`tasks of random dependencies on ${on}`, () => {
    for (const seed of on === "sqlite" ? [1, 2, 3] : [2, 3]) {
      it(`start only when everything they wait for is completed (seed ${seed})`, async () => {
        await using scene = await openAssignment(on);
        await play(scene, new Dice(seed), on === "sqlite" ? 160 : 60);
      });
    }
  });
}

/** Submits, completes, fails and cancels tasks by chance, beside a model that says where each must be. */
async function play({ ana, runner, world }: AssignmentScene, dice: Dice, steps: number): Promise<void> {
  type TaskProgress = "waiting" | "running" | "completed" | "over";
  const model = new Map<string, { deps: string[]; progress: TaskProgress; order: number; ending: boolean }>();
  const ids = Array.from({ length: 9 }, (_, i) => `t${i}`);
  let order = 0;
  const waysTo = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return (model.get(from)?.deps ?? []).some((next) => waysTo(next, to, seen));
  };
  const isFree = (id: string) => (model.get(id)?.deps ?? []).every((dep) => model.get(dep)?.progress === "completed");
  let refused = 0;
  let startedCount = 0;

  for (let step = 0; step < steps; step += 1) {
    const running = [...model].filter(([, { progress }]) => progress === "running").map(([id]) => id);
    const what = dice.below(10);
    if (what < 4) {
      const id = dice.one(ids);
      const deps = [...new Set(Array.from({ length: dice.below(4) }, () => dice.one(ids)))].filter((dep) => dep !== id);
      const isRing = deps.some((dep) => waysTo(dep, id));
      const reply = await ana.call("POST", "/assignment", { body: { id, prompt: "Do it", dependencies: deps } });
      assert.equal(reply.status, isRing ? 409 : 202, reply.text);
      if (isRing) refused += 1;
      else {
        const before = model.get(id);
        order += 1;
        model.set(id, {
          deps,
          progress: "waiting",
          order,
          ending: before?.progress === "running" || before?.ending === true,
        });
      }
      await world.advance(dice.below(3));
    } else if (what < 7) {
      const first = [...model]
        .filter(([id, { progress, ending }]) => progress === "waiting" && !ending && isFree(id))
        .sort(([, one], [, other]) => one.order - other.order)[0]?.[0];
      const busy = [...model.values()].filter(({ progress, ending }) => progress === "running" || ending).length;
      const started = await runner.start();
      assert.equal(started, busy < 2 ? first : undefined, `step ${step}`);
      const task = started === undefined ? undefined : model.get(started);
      if (task) {
        task.progress = "running";
        startedCount += 1;
      }
    } else if (what < 9) {
      const id = running.length > 0 ? dice.one(running) : undefined;
      const task = id === undefined ? undefined : model.get(id);
      if (id !== undefined && task) {
        const fails = dice.below(4) === 0;
        await (fails ? runner.fail("shop", id) : runner.complete("shop", id, `${id} at ${step}`));
        task.progress = fails ? "over" : "completed";
      }
      for (const [one, { ending }] of model) {
        if (!ending) continue;
        await runner.bury("shop", one);
        Object.assign(model.get(one) ?? {}, { ending: false });
      }
    } else {
      const waiting = [...model]
        .filter(([, { progress, ending }]) => progress === "waiting" && !ending)
        .map(([id]) => id);
      if (waiting.length === 0) continue;
      const id = dice.one(waiting);
      assert.equal((await ana.call("DELETE", `/assignment/tasks/${id}`)).status, 200);
      Object.assign(model.get(id) ?? {}, { progress: "over" });
    }
    const shown = await listTaskHeads(world.server.ctx.db, "shop");
    const states = shown.map(({ id, state }) => [id, state]);
    const expected = [...model]
      .sort(([, one], [, other]) => one.order - other.order)
      .map(([id, { progress }]) => [id, progress === "waiting" ? (isFree(id) ? "queued" : "blocked") : progress]);
    const said = states.map(([id, state]) => [
      id,
      state === "preparing"
        ? "running"
        : state === "review"
          ? "completed"
          : state === "failed" || state === "canceled"
            ? "over"
            : state,
    ]);
    assert.deepEqual(said, expected, `step ${step}`);
  }
  assert.ok(startedCount > 3 && (steps < 100 || refused > 0), "the play saw starts and rings");
}
