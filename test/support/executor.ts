import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { until } from "./contract.ts";
import { OPERATOR } from "./identities.ts";
import { openJobs, type JobScene, type Program } from "./jobs.ts";
import type { DatabaseName } from "./world.ts";

const POLICY = `version: 1
rules:
  - id: staging-deploys
    when: { env: staging, action: deploy }
    decision: ALLOW
  - id: prod-writes
    when: { env: prod, action: write }
    decision: DENY
    reason: Write in prod forbidden
`;

/** A server with a policy, programs that ask, and somebody who answers. */
export interface Executors {
  scene(): JobScene;
  /** Where the server is, and a program's key. */
  relay(by?: Program): { url: string; key: string };
  /** Resolves with an ask of that job, once people may answer it. */
  openIn(job: string): Promise<{ ask_id: string; step_id: string; prompt: string; meta?: Record<string, unknown> }>;
  /** A person answers what is asked in that job. */
  answers(job: string, more: Record<string, unknown>): Promise<void>;
}

/** One such server for a whole `describe`; its clock runs, as those of its clients do. */
export function sharedExecutors(
  on: DatabaseName,
  { rules = POLICY, env }: { rules?: string; env?: () => Promise<Record<string, string>> } = {},
): Executors {
  const folder = mkdtempSync(join(tmpdir(), "parley-executor-"));
  let scene: JobScene;
  let dana: Program;
  before(async () => {
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, rules);
    scene = await openJobs(on, { running: true, env: { PARLEY_RELAY_POLICY_FILE: policy, ...(await env?.()) } });
    dana = await scene.program({ name: "dana", scope: "answer", person: OPERATOR });
  });
  after(async () => {
    await scene[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  const executors: Executors = {
    scene: () => scene,
    relay: (by = scene.ana) => ({ url: scene.world.url, key: by.key }),
    async openIn(job) {
      return until(async () => {
        const { asks } = (await dana.get("/asks?status=PENDING")).body;
        return asks.find((one: { job_id: string; stage: string }) => one.job_id === job && one.stage === "people");
      }, "an ask for people");
    },
    async answers(job, more) {
      const { ask_id, step_id } = await executors.openIn(job);
      const reply = await dana.post("/answers", { ask_id, job_id: job, step_id, status: "ANSWERED", ...more });
      assert.equal(reply.status, 202, reply.text);
    },
  };
  return executors;
}
