import { pause } from "./kill-steps.ts";
import { readBoard, readRows } from "./run-check-log.ts";
import type { Scene } from "./run-givers.ts";
import { processesByAttempt } from "./run-processes.ts";

const LOOK_EVERY_MS = 250;
const EXAMINE_EVERY_MS = 4000;
/** The rules of `parley doctor` that must hold at any moment. The others may need a running server. */
const AT_ANY_MOMENT = /^doctor: (A1|G1|J[25789]|S1)\b/;

/**
 * Looks all the time at what must hold all the time: of an attempt that has ended no process is left, no task moved as
 * none may, and the doctor finds nothing broken. Returns how often it has looked.
 */
export async function watchOver(scene: Scene): Promise<number> {
  const { site } = scene.site;
  let looks = 0;
  let examineAt = performance.now() + EXAMINE_EVERY_MS;
  while (!scene.isOver()) {
    await pause(LOOK_EVERY_MS);
    // Only `shop` is checked. The processes of a lost remote worker may run on until the worker learns of the loss.
    const ended = await site.query(
      "SELECT attempt_id, id, n, outcome FROM task_attempts WHERE ended_at IS NOT NULL AND repo = 'shop'",
    );
    const alive = processesByAttempt();
    for (const { attempt_id, id, n, outcome } of ended) {
      const left = alive.get(String(attempt_id)) ?? [];
      if (left.length > 0)
        scene.problem(`J9: attempt ${n} of ${id} has ended (${outcome}), and process ${left.join()} of it is alive`);
    }
    looks += 1;
    if (performance.now() < examineAt) continue;
    readBoard(await readRows(site), scene.cards, scene.problem);
    for (const broken of await site.examine()) if (AT_ANY_MOMENT.test(broken)) scene.problem(`at work: ${broken}`);
    examineAt = performance.now() + EXAMINE_EVERY_MS;
  }
  return looks;
}
