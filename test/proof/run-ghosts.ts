import type { Reply } from "../support/world.ts";
import { pause } from "./kill-steps.ts";
import { anyServer, noteReply, type Scene } from "./run-givers.ts";
import type { Random } from "./run-plan.ts";

/** The writes of a job's holder. A ghost tries each of them. */
const WRITES: readonly [path: string, body: object][] = [
  ["heartbeat", { note: "I live" }],
  ["logs", { message: "from beyond" }],
  ["release", { reason: "not mine" }],
  ["finish", { state: "FAILED", reason: "from beyond" }],
];

/**
 * Executors lose their jobs to others, know nothing of it and go on writing: each such write is refused, and changes
 * nothing (J2). Chance alone seldom has a worker write in the instant before it learns that it was lost, so here every
 * one does, from the first moment of the story to the end of its disturbance. Returns how many were refused throughout.
 */
export async function haunt(scene: Scene, random: Random): Promise<number> {
  let refused = 0;
  for (let n = 1; !scene.isOver() && (refused === 0 || !scene.isHealing()); n += 1) {
    if (await oneGhost(scene, `ghost-${n}`, random)) refused += 1;
    await pause(200 + random() * 800);
  }
  return refused;
}

/** True when somebody lost a job, wrote all that may be written, and was refused each time. */
async function oneGhost(scene: Scene, kind: string, random: Random): Promise<boolean> {
  const job = await insist(scene, random, { as: "assign", path: "/jobs", body: { job_id: kind, kind } });
  const first = job && (await claim(scene, kind, random));
  if (!first) return false;
  const id = String(job.body.job_id);
  await loseLease(scene, id);
  const second = await claim(scene, kind, random);
  if (!second) return false;
  scene.trace(`${kind} went from number ${first.epoch} to ${second.epoch}`);
  for (const [path, body] of WRITES) {
    const reply = await insist(scene, random, {
      as: "executor",
      path: `/jobs/${id}/${path}`,
      body,
      lease: first.token,
    });
    if (!reply) return false;
    if (reply.status === 409 && reply.body.error.code === "FENCED") continue;
    const said = `${reply.status} ${reply.text.slice(0, 200)}`;
    scene.problem(`J2: whoever lost ${id} went on writing (${path}), and was answered ${said}`);
    return false;
  }
  const done = { state: "SUCCEEDED", result: { by: second.epoch } };
  const finished = await insist(scene, random, {
    as: "executor",
    path: `/jobs/${id}/finish`,
    body: done,
    lease: second.token,
  });
  // A slow holder may have lost the job, too.
  if (finished?.status === 409 && finished.body.error.code === "FENCED") return false;
  if (finished && finished.status !== 200) scene.problem(`J2: the holder of ${id} was answered ${finished.text}`);
  return finished !== null;
}

/** The lease has run out. A server that is stopped within a transaction may hold the row for a while. */
async function loseLease(scene: Scene, id: string): Promise<void> {
  const text = `UPDATE jobs SET lease_until = 1 WHERE job_id = '${id}'`;
  const isLost = () =>
    scene.site.site.query(text).then(
      () => true,
      (error: unknown) => {
        if (/database is locked|timeout/.test(String(error))) return false;
        throw error;
      },
    );
  while (!scene.isOver() && !(await isLost())) await pause(100);
}

/** Claims the one job of a kind, as soon as it is in line. A claim whose reply is lost still holds the job. */
async function claim(scene: Scene, kind: string, random: Random): Promise<{ token: string; epoch: number } | null> {
  while (!scene.isOver()) {
    const input = { kinds: [kind], worker_id: "ghost", wait: "1s", lease_ttl_s: 60 };
    const reply = await scene.site.ask(anyServer(scene, random), "executor", {
      method: "POST",
      path: "/jobs/claim",
      body: input,
    });
    noteReply(scene, `the claim of ${kind}`, reply);
    if (reply === null) return null;
    if (reply.status === 200) return reply.body.lease as { token: string; epoch: number };
    await pause(100);
  }
  return null;
}

/** Says the same until somebody replies to it; null when the story is over before. */
async function insist(
  scene: Scene,
  random: Random,
  { as, path, body, lease }: { as: "assign" | "executor"; path: string; body: object; lease?: string },
): Promise<Reply | null> {
  while (!scene.isOver()) {
    const more: Record<string, string> = lease === undefined ? {} : { "parley-lease": lease };
    const reply = await scene.site.ask(anyServer(scene, random), as, { method: "POST", path, body, headers: more });
    if (reply && reply.status !== 503 && reply.status !== 429) {
      noteReply(scene, path, reply);
      return reply;
    }
    await pause(150);
  }
  return null;
}
