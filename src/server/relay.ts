import { loopErrors } from "../core/loops/errors.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { startLoop, type Loop } from "../lib/loop.ts";
import type { RelayCounters } from "../protocols/ops/relay-metrics.ts";
import { closeOrphans, expireDueAsks } from "../asks/loops/expire.ts";
import { openRespond, type MachineEvent, type MachineRole, type Respond } from "../asks/loops/respond.ts";
import type { AskTelemetry } from "../asks/loops/ask-telemetry.ts";
import type { RunnerEvent } from "../responders/answer-runner/deps.ts";
import type { Runner } from "../responders/answer-runner/runner.ts";
import type { PolicyFile } from "../responders/policy/policy-file.ts";
import { defaultRoleOf, type Role } from "../responders/roles/role.ts";
import { openAnswerRunner } from "./runner.ts";
import { roleDirs, SHIPPED_PROMPTS } from "../responders/roles/shipped-prompts.ts";
import { openRoles, type Roles } from "../responders/roles/role-catalogue.ts";
import { shippedPolicy } from "../policy/shipped.ts";

const RESPOND_EVERY_MS = 500;
const EXPIRE_EVERY_MS = 250;
const CLOSE_EVERY_MS = 1000;
const WATCH_EVERY_MS = 2000;

/** The parts that answer executors before people do, and that watch over their asks. */
export interface Relay {
  respond: Respond;
  roles: Roles;
  runner: Runner;
  /** Starts what happens without a request, until each loop is stopped. */
  start(): Loop[];
  close(): Promise<void>;
}

/** Opens policy, cache, roles and runner for what executors ask. */
export async function openRelay(
  ctx: Context,
  config: Config,
  { policy, counters, telemetry }: { policy: PolicyFile; counters: RelayCounters; telemetry: AskTelemetry },
): Promise<Relay> {
  const roles = await openRoles({
    shipped: SHIPPED_PROMPTS,
    dirs: roleDirs({ promptsDir: config.relay.promptsDir, dataDir: config.dataDir }),
    log: ctx.log,
    schemas: ctx.schemas,
  });
  const observe = (event: MachineEvent | RunnerEvent): void => {
    count(counters, event);
    if (event.kind === "stage" || event.kind === "tokens" || event.kind === "tool") telemetry.note(event);
  };
  const runner = openAnswerRunner(ctx, config, { roles, policy, observe });
  const respond = openRespond(ctx, {
    policy: () => policy.current().policy,
    preset: shippedPolicy(),
    role(id, type) {
      const wanted = id ?? defaultRoleOf(type);
      const role = wanted === null ? null : roles.find(wanted);
      return role && machineRole(role);
    },
    model: () => runner.state().model,
    runner: runner.responder,
    observe,
    learnAfter: config.policy.learnAfter,
    grantDays: config.policy.grantDays,
  });
  const loop = (name: string, idleMs: number, step: (signal: AbortSignal) => Promise<boolean>): Loop =>
    startLoop(step, {
      clock: ctx.clock,
      idleMs,
      onError: loopErrors(ctx, name),
    });
  return {
    respond,
    roles,
    runner,
    start: () => [
      loop("respond", RESPOND_EVERY_MS, respond.step),
      loop("expire relay", EXPIRE_EVERY_MS, (signal) => expireDueAsks(ctx, signal)),
      loop("close orphans", CLOSE_EVERY_MS, (signal) => closeOrphans(ctx, signal)),
      loop("watch roles", WATCH_EVERY_MS, (signal) => roles.step(signal)),
    ],
    async close() {
      await respond.settled();
      await runner.close();
    },
  };
}

function count(counters: RelayCounters, event: MachineEvent | RunnerEvent): void {
  switch (event.kind) {
    case "policy":
      return counters.policyDecision(event.decision, event.defaulted);
    case "cache":
      return counters.cacheLookup(event.result, event.type);
    case "tokens":
      return counters.tokens(event.tokens, event.role, event.model);
    case "tool":
      return counters.toolCall(event.tool, event.outcome);
    case "misfit":
      return counters.misfit(event.role, event.attempt);
    case "run":
      return counters.run(event.outcome);
    case "stage":
      return;
  }
}

function machineRole({ id, version, hash, inputSchema, outputSchema, limits }: Role): MachineRole {
  return { id, name: `${id}@v${version}`, hash, inputSchema, outputSchema, maxTokens: limits.maxTokens };
}
