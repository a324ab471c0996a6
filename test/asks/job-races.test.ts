import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mayMove } from "../../src/asks/model/job-rules.ts";
import type { JobState } from "../../src/asks/model/ask.ts";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { begun } from "../support/contract.ts";
import { answerAsk, freshKind, openJobs, pendingAsk, type Held, type JobScene, type Program } from "../support/jobs.ts";
import { DATABASES, type Node } from "../support/world.ts";

const ROUNDS = 12;
const WORKERS = 6;

/** Numbers between 0 and 1 that a seed repeats. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

async function broken({ world }: JobScene): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick: false });
  return findings.flatMap(({ check, offenders }) => offenders.map((offender) => `${check}: ${offender}`));
}

for (const on of DATABASES) {
  describe(`jobs that many work on at once, on ${on}`, () => {
    it("go on exactly when nothing is pending any more, however the answers come", async () => {
      await using scene = await openJobs(on);
      const { ana, world } = scene;
      const held = await Promise.all(Array.from({ length: 10 }, () => scene.claimed(ana)));
      const asked = await Promise.all(
        held.flatMap(({ id }) => [1, 2, 3].map(async () => ({ id, ask: await pendingAsk(scene, id, ana) }))),
      );
      await Promise.all(asked.map(({ id, ask }) => answerAsk(scene, id, ask)));
      const rows = await world.server.ctx.db.all<{ state: string; pending_asks: number; n: number }>(
        sql`SELECT state, pending_asks, count(*) AS n FROM jobs GROUP BY state, pending_asks`,
      );
      assert.deepEqual(
        rows.map((row) => ({ ...row })),
        [{ state: "RUNNING", pending_asks: 0, n: 10 }],
      );
      assert.deepEqual(await broken(scene), []);
    });

    it("move only as they may, one holder to a number, whatever anybody does at once", async () => {
      await using scene = await openJobs(on);
      const { world, planner } = scene;
      const nodes: Node[] = on === "postgres" ? [world, await world.addNode()] : [world];
      const kind = freshKind();
      await Promise.all(Array.from({ length: 12 }, () => scene.queue({ kind, max_attempts: 3 })));
      const programs = [scene.ana, scene.bo];
      const acknowledged: { id: string; state: string }[] = [];
      const told = new Map<number, number>();

      async function work(worker: number): Promise<void> {
        const random = seeded(worker + 1);
        const by = programs[worker % 2] as Program;
        const node = nodes[worker % nodes.length] as Node;
        let held: Held | null = null;
        for (let i = 0; i < ROUNDS; i += 1) {
          const send = async (path: string, body: object, lease = held?.lease) => {
            const header = lease === undefined ? undefined : { "parley-lease": lease };
            const reply = await by.at(node).call("POST", path, body, header);
            told.set(reply.status, (told.get(reply.status) ?? 0) + 1);
            return reply;
          };
          if (!held) {
            const { status, body } = await send("/jobs/claim", { kinds: [kind], worker_id: `w-${worker}`, wait: "0" });
            if (status === 200) held = { id: body.job.job_id, kind, lease: body.lease.token, epoch: body.lease.epoch };
            continue;
          }
          const { id } = held;
          const chance = random();
          if (chance < 0.3) {
            const ask: string | null = await pendingAsk(scene, id, by, { lease: held.lease }).catch(() => null);
            if (ask !== null && random() < 0.7) await answerAsk(scene, id, ask).catch(() => null);
            if (ask === null) held = null;
          } else if (chance < 0.5) {
            if ((await send(`/jobs/${id}/heartbeat`, {})).status !== 200) held = null;
          } else if (chance < 0.6) {
            await send(`/jobs/${id}/logs`, [{ message: "one" }, { message: "two" }]);
          } else if (chance < 0.75) {
            await send(`/jobs/${id}/release`, {});
            held = null;
          } else if (chance < 0.9) {
            const state = random() < 0.5 ? "SUCCEEDED" : "FAILED";
            const { status } = await send(`/jobs/${id}/finish`, { state });
            if (status === 200) acknowledged.push({ id, state });
            held = null;
          } else if (chance < 0.95) {
            if ((await planner.post(`/jobs/${id}/cancel`, {})).status === 200)
              acknowledged.push({ id, state: "CANCELED" });
          } else await world.advance(16_000);
        }
      }
      await Promise.all(Array.from({ length: WORKERS }, (_, i) => work(i)));

      const { db } = world.server.ctx;
      for (const { id, state } of acknowledged) {
        const [row] = await db.all<{ state: string }>(sql`SELECT state FROM jobs WHERE job_id = ${id}`);
        assert.equal(row?.state, state);
      }
      assert.deepEqual(
        [...told.keys()].filter((status) => ![200, 202, 204, 404, 409].includes(status)),
        [],
      );
      assert.ok((told.get(200) ?? 0) > WORKERS);
      const events = await db.all<{ job_id: string; body: string }>(
        sql`SELECT job_id, body FROM job_events WHERE event = 'status' ORDER BY job_id, seq`,
      );
      const last = new Map<string, { state: JobState; epoch: number }>();
      for (const { job_id: id, body } of events) {
        const now = JSON.parse(body) as { state: JobState; from?: JobState; epoch: number };
        const before = last.get(id);
        assert.equal(now.from, before?.state);
        if (before) assert.ok(mayMove(before.state, now.state), `${before.state} > ${now.state}`);
        assert.ok(now.epoch >= (before?.epoch ?? 0));
        last.set(id, now);
      }
      const record = await db.all<{ call_id: string; n: number }>(
        sql`SELECT call_id, count(*) AS n FROM audit WHERE action LIKE 'job.%' GROUP BY call_id`,
      );
      for (const { call_id: id, n } of record) assert.equal(n, events.filter(({ job_id }) => job_id === id).length);
      await world.advance(1000);
      // The three loops of each server that look at deadlines have gone round.
      await begun(world, 250, 3 * nodes.length);
      assert.deepEqual(await broken(scene), []);
    });
  });
}
