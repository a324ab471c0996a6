import assert from "node:assert/strict";
import { sql } from "../../src/core/store/sql.ts";
import type { AgentRequest } from "../../src/tasks/model/attempt-asks.ts";
import { attemptKind } from "../../src/core/model/attempt-kind.ts";
import { askForAttempt, type AskingAttempt } from "../../src/tasks/ask-for-attempt.ts";
import { claimJobFor } from "../../src/asks/jobs/claim-job.ts";
import { makeJob } from "../../src/asks/jobs/make-job.ts";
import { fresh, until } from "./contract.ts";
import type { RelayScene } from "./relay.ts";

export const SHOP = "agent:shop-works";

export const RUN = (command: string) =>
  ({ tool: "Bash", input: { command }, action: "execute", resource: command }) as const;

/** Creates an attempt at a task of the repository `shop`: a claimed job, held as the runner of attempts holds it. */
export async function attempt(
  { world }: Pick<RelayScene, "world">,
  more: Partial<AskingAttempt> & { repo?: string } = {},
): Promise<AskingAttempt & { lease: string }> {
  const { ctx } = world.server;
  const { repo = fresh("shop") } = more;
  const kind = attemptKind(repo);
  // Attempts are jobs of the server's own, whether it serves those of others or not.
  const { job } = await makeJob(
    { ...ctx, relay: { ...ctx.relay, feature: true } },
    {
      kind,
      external: false,
      owner: SHOP,
      spec: {},
      env: null,
      repo,
      labels: {},
      priority: "P1",
      maxAttempts: 9,
      ttlS: 8_640_000,
    },
  );
  const lease = await claimAttempt({ world }, repo);
  return {
    jobId: job.id,
    lease,
    principal: SHOP,
    attemptId: fresh("attempt"),
    repo,
    taskId: "card-1",
    slug: "card-1-3f2a",
    agent: "claude",
    sandbox: "none",
    allowCommands: [["npm", "test"]],
    deadlineS: 2_592_000,
    ...more,
  };
}

/** Claims the attempt of a repository that is in line, and returns the lease. */
export async function claimAttempt({ world }: Pick<RelayScene, "world">, repo: string): Promise<string> {
  const input = { kinds: [attemptKind(repo)], holder: SHOP, worker: "w-1", leaseS: 15 };
  const { ctx } = world.server;
  const claimed = await claimJobFor(ctx, input, { waitMs: 0, signal: AbortSignal.timeout(90_000) });
  return claimed?.lease.token ?? assert.fail("nothing is in line");
}

/** Asks, and waits until people see it; returns both ids. */
export async function withPeople(
  { world }: Pick<RelayScene, "world">,
  who: AskingAttempt,
  ref: string,
  request: AgentRequest,
): Promise<{ askId: string; inboxId: string }> {
  const { ctx } = world.server;
  const { askId } = await askForAttempt(ctx, who, ref, request);
  const inboxId = await until(async () => {
    const [row] = await ctx.db.all<{ addressed_id: string | null; status: string }>(
      sql`SELECT addressed_id, status FROM asks WHERE ask_id = ${askId}`,
    );
    assert.ok(row?.addressed_id !== null || row.status === "PENDING", "it was decided without people");
    return row?.addressed_id ?? undefined;
  });
  return { askId, inboxId };
}
