import assert from "node:assert/strict";
import { policyInput } from "../../src/policy/model/policy.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createKey } from "../../src/access/create-key.ts";
import { storeGrant } from "../../src/policy/grants.ts";
import { noteApproved } from "../../src/policy/proposals.ts";
import { OPERATOR } from "../support/identities.ts";
import { until } from "../support/contract.ts";
import { newAsk } from "../support/relay.ts";
import type { Reply, World } from "../support/world.ts";

/** The asks and jobs of executors that exist when an admin opens the console. */
export interface FilledRelay {
  /** A job that is held, and the lease it is held by. */
  job: string;
  lease: string;
  /** An approval that waits for people in that job. */
  waiting: string;
  /** An approval that the policy denied. */
  denied: string;
  /** Speaks as the executor. */
  executor(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

const DEPLOY = { ask_type: "APPROVAL", action: "deploy", resource: "shop-api", agent: "release-bot" } as const;
const MIGRATE = "Run the migration that drops orders.legacy_total?";

export async function fillRelay(world: World): Promise<FilledRelay> {
  const { ctx } = world.server;
  const program = async (name: string, scope: "executor" | "assign" | "answer", person?: string) => {
    const { text } = await createKey(ctx, { name, scope, ...(person !== undefined && { person }) });
    return async (method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Reply> => {
      const headers = { authorization: `Bearer ${text}`, ...more };
      const reply = await world.call(method, path, { headers, ...(body !== undefined && { body }) });
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
      return reply;
    };
  };
  const executor = await program("release-bot", "executor");
  const planner = await program("planner", "assign");
  const answers = await program("operator-phone", "answer", OPERATOR);

  await planner("POST", "/jobs", { job_id: "release-2041", kind: "release", spec: { service: "shop-api" } });
  const claim = { kinds: ["release"], worker_id: "runner-1", wait: "0", lease_ttl_s: 300 };
  const { job, lease } = (await executor("POST", "/jobs/claim", claim)).body;
  const held = { "parley-lease": lease.token };
  const ask = async (more: Record<string, unknown>): Promise<{ ask_id: string; job_id: string; step_id: string }> =>
    (await executor("POST", "/asks", newAsk({ job_id: job.job_id, ...more }), held)).body;

  const question = await ask({ step_id: "notes", prompt: "Which currency should the release notes name first?" });
  await withPeople(world, question.ask_id);
  const said = { ask_id: question.ask_id, job_id: question.job_id, step_id: question.step_id };
  await answers("POST", "/answers", { type: "Answer", ...said, status: "ANSWERED", answer_text: "Euros." });
  const denied = await ask({
    step_id: "hotfix",
    ask_type: "APPROVAL",
    prompt: "Write the hotfix to production?",
    meta: { action: "write", env: "prod" },
  });
  await until(async () => (await executor("GET", `/asks/${denied.ask_id}/answer?wait=5`)).status === 200);
  const waiting = await ask({
    step_id: "migrate",
    ask_type: "APPROVAL",
    prompt: MIGRATE,
    meta: { action: "migrate", resource: "orders" },
  });
  await withPeople(world, waiting.ask_id);

  const [policy, input] = [parsePolicy(FIRST_POLICY), policyInput(DEPLOY)];
  for (const n of [1, 2]) {
    await transact(ctx, (tx) => noteApproved(ctx, tx, { policy, input, approvalId: `deploy-${n}`, learnAfter: 2 }));
  }
  const restart = policyInput({ ...DEPLOY, action: "restart" });
  const grantInput = { input: restart, approvalId: waiting.ask_id, person: OPERATOR, forMs: 30 * 86_400_000 };
  await transact(ctx, (tx) => storeGrant(ctx, tx, grantInput));
  await ctx.db.transact((tx) =>
    tx.all(sql`INSERT INTO decision_cache (decision_key, answer_text, created_at, ttl_seconds, seed_key, role, source,
        hits, last_hit_at)
      VALUES ('c1', 'Prices are stored in cents.', parley_now(), 86400, 'c1', 'role.clarifier@v1', 'runner', 12, parley_now()),
        ('c2', 'Use the orders_v2 table.', parley_now() - 60000, 86400, 'c2', 'role.clarifier@v1', 'runner', 0, NULL)`),
  );
  return { job: job.job_id, lease: lease.token, waiting: waiting.ask_id, denied: denied.ask_id, executor };
}

async function withPeople({ server }: World, ask: string): Promise<void> {
  await until(async () => {
    const rows = await server.ctx.db.all(
      sql`SELECT 1 AS one FROM asks WHERE ask_id = ${ask} AND addressed_id IS NOT NULL`,
    );
    return rows.length > 0;
  });
}
