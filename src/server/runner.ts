import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { redact } from "../lib/secrets/secret-scan.ts";
import type { RunnerEvent } from "../responders/answer-runner/deps.ts";
import { openRunner, type Runner } from "../responders/answer-runner/runner.ts";
import type { PolicyFile } from "../responders/policy/policy-file.ts";
import { defaultRoleOf } from "../responders/roles/role.ts";
import type { Roles } from "../responders/roles/role-catalogue.ts";
import { allowToolWrite } from "../asks/tools/allow-tool-write.ts";
import { keepArtifactOfAsk } from "../asks/jobs/keep-artifact.ts";
import { checkPin } from "../asks/tools/pin-tool.ts";
import { shareRun } from "../asks/jobs/share-run.ts";
import { openModelBudget } from "../asks/respond/spend-on-model.ts";

/** Opens the model that may answer before people do; without one set it passes everything on. */
export function openAnswerRunner(
  ctx: Context,
  config: Config,
  { roles, policy, observe }: { roles: Roles; policy: PolicyFile; observe?: (event: RunnerEvent) => void },
): Runner {
  const { runner, tools, mcpServers, relay } = config;
  return openRunner({
    settings: runner,
    tools,
    servers: mcpServers,
    env: process.env,
    clock: ctx.clock,
    fetch: ctx.fetch,
    schemas: ctx.schemas,
    log: ctx.log,
    roles: { find: (id) => roles.find(id), defaultOf: defaultRoleOf },
    budget: openModelBudget(ctx, runner),
    pins: { check: (tool, definition) => checkPin(ctx, tool, definition) },
    share: (key, askId, signal, run) => shareRun(ctx, { key, askId, signal }, run),
    allowWrite: (call) => allowToolWrite(ctx, policy.current().policy, call),
    artifacts: {
      async write(job, path, bytes) {
        await keepArtifactOfAsk(ctx, job, { path, source: onePart(bytes) });
      },
    },
    async redact(text) {
      const { finds } = await ctx.secrets.find([{ path: "", text }]);
      return redact(text, finds);
    },
    policyText: () => policy.current().text ?? "",
    policyAdvice: relay.policyAdvice,
    maxAskBackRounds: relay.maxAskBackRounds,
    ...(observe && { observe }),
  });
}

async function* onePart(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
