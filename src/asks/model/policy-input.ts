import { canonicalExact } from "../../lib/json/exact-json.ts";
import { ATTEMPT_ENV, repoOfKind } from "../../core/model/attempt-kind.ts";
import { normalised, type PolicyValue } from "../../policy/model/match.ts";
import { agentName, comparable, policyInput, type PolicyInput } from "../../policy/model/policy.ts";
import type { Job, Ask } from "./ask.ts";

/** Returns whether the preset may be asked about an ask. */
export function isPresetFor(ask: Pick<Ask, "type">, job: Pick<Job, "kind">): boolean {
  return ask.type === "APPROVAL" && repoOfKind(job.kind) !== null;
}

/**
 * Returns the input of the policy for an ask. A value registered on the job takes precedence over the ask's claim; a
 * claim that differs is kept as `claimed`. `more` describes a tool call of the ask, or its role. For an attempt at
 * assigned work, the repository is that of its job's kind, and the env is `agent` (spec/assignment 8).
 */
export function policyInputOf(
  ask: Pick<Ask, "type" | "roleId" | "meta" | "envelope" | "principal">,
  job: Pick<Job, "id" | "env" | "repo"> & Partial<Pick<Job, "kind">>,
  more: { action?: string; resource?: string; tool?: string; role?: string } = {},
): PolicyInput {
  const { meta, envelope } = ask;
  const attempted = repoOfKind(job.kind);
  const env = trusted("env", attempted === null ? job.env : ATTEMPT_ENV, [
    meta["env"],
    envelope?.job_snapshot.env_profile,
  ]);
  const repo = trusted("repo", attempted ?? job.repo, [envelope?.job_snapshot.repo]);
  // The runner of an attempt names the agent and the tool; such asks come from the runner alone.
  const attemptMeta: Readonly<Record<string, unknown>> =
    attempted === null ? { agent: agentName(ask.principal) } : meta;
  return policyInput(
    {
      action: more.action ?? meta["action"],
      resource: more.resource ?? meta["resource"],
      env: env.value,
      ask_type: ask.type,
      role: more.role ?? ask.roleId,
      tool: more.tool ?? attemptMeta["tool"],
      agent: attemptMeta["agent"],
      repo: repo.value,
      job: job.id,
      meta,
      args: argumentsOf(meta),
    },
    { ...env.claimed, ...repo.claimed },
  );
}

/** A secret in the arguments of an ask is masked before it is stored; such arguments are not known here. */
const MASKED = "[secret:";

function argumentsOf({ args }: Ask["meta"]): (() => string) | undefined {
  if (args === undefined) return undefined;
  return () => {
    const text = canonicalExact(args);
    return text.includes(MASKED) ? "" : text;
  };
}

function trusted(
  name: "env" | "repo",
  registered: string | null,
  claims: readonly unknown[],
): { value: unknown; claimed: Record<string, string> } {
  const plain = (value: PolicyValue) => (typeof value === "string" ? normalised(name, value) : value);
  const stated = claims.filter((claim) => (plain(comparable(claim)) ?? "") !== "");
  if (!registered) return { value: stated[0] ?? null, claimed: {} };
  const other = comparable(stated.find((claim) => plain(comparable(claim)) !== normalised(name, registered)));
  const text = typeof other === "string" ? other : "nothing that can be compared";
  return { value: registered, claimed: other === null ? {} : { [name]: text } };
}
