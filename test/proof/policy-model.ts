import { argumentsAgree, millionthsOf, type RawArguments } from "./policy-arguments.ts";
import { like, STAR } from "./policy-like.ts";
import { pathsAgree } from "./policy-paths.ts";

/** A policy file, parsed and not yet looked at. */
export interface RawPolicy {
  version: number;
  defaults?: { read?: string; other?: string };
  rules?: RawRule[];
}
export interface RawRule {
  id?: string;
  when: Record<string, unknown>;
  unless?: Record<string, unknown>;
  decision: string;
  reason?: string;
  to?: string;
  need?: number;
  standing?: boolean;
  mode?: string;
  most?: Record<string, unknown>;
}

/** The fields of an ask and its job that a policy reads. */
export interface RawAsk {
  type: string;
  meta: Record<string, unknown>;
  envProfile?: string;
  snapshotRepo?: string;
  roleId: string | null;
  principal: string;
  tool?: string;
  job: { id: string; env: string | null; repo: string | null };
  /** The function of a function call, its arguments, the digest of exactly these, and the run of its agent. */
  call?: { fn: string; digest: string; args: RawArguments; run?: string };
}

export interface RawGrant {
  id: string;
  action: string;
  resource: string;
  env: string;
  tool: string | null;
  repo: string | null;
  agent: string | null;
  digest?: string;
}

/** The decision of the second implementation, in the fields that are compared. */
export interface Decided {
  decision: string;
  matched: number[];
  observed: string[];
  defaulted: boolean;
  grant: string | null;
  rule: number | undefined;
  reason: string | undefined;
  to: string | undefined;
  need: number | undefined;
  /** The millionths that the call uses up of an allowance. */
  uses: number | undefined;
  input: { action: string; resource: string; env: string };
  claimed: Record<string, string>;
}

/** Stands for a value that is there and that no rule can hold. */
export const ODD = "\u0001odd";

/**
 * Decides once more what `src/policy/model/policy.ts` decides, from spec/relay 8 alone and in the plainest way:
 * stars by trying every split, precedence by sorting everything that speaks of an ask.
 */
export function decide(policy: RawPolicy, grants: readonly RawGrant[], ask: RawAsk): Decided {
  const { values, claimed } = inputOf(ask);
  const action = String(values["action"]);
  const rules = policy.rules ?? [];
  const holding = rules.map((rule, index) => ({ rule, index })).filter(({ rule }) => speaks(rule, values, ask));
  const matched = holding.filter(({ rule }) => rule.mode !== "observe");
  const observed = holding.filter(({ rule }) => rule.mode === "observe");

  interface Voice {
    rank: number;
    need: number;
    index: number;
    decision: string;
    rule?: RawRule;
    grant?: string;
  }
  const voices: Voice[] = matched.map(({ rule, index }) => ({
    rank: rankOf(rule),
    need: rule.need ?? 1,
    index,
    decision: rule.decision,
    rule,
  }));
  grants.forEach((grant, index) => {
    const isExact = ["action", "resource", "env", "tool", "repo", "agent", "digest"].every(
      (name) => (grant[name as keyof RawGrant] ?? null) === (values[name] ?? null),
    );
    if (isExact) voices.push({ rank: 3, need: 1, index, decision: "ALLOW", grant: grant.id });
  });
  const isRead = action === "clarify" || action === "choose" || action === "read";
  const standard = ask.call
    ? "ESCALATE"
    : isRead
      ? (policy.defaults?.read ?? "ALLOW")
      : (policy.defaults?.other ?? "ESCALATE");
  voices.push({ rank: 6, need: 1, index: 0, decision: standard });

  voices.sort((one, other) => one.rank - other.rank || other.need - one.need || one.index - other.index);
  const [loudest] = voices;
  if (!loudest) throw new Error("nobody speaks");
  return {
    decision: loudest.decision,
    matched: matched.map(({ index }) => index),
    observed: observed.map(({ rule, index }) => rule.id ?? `rules[${index}]`),
    defaulted: loudest.rank === 6,
    grant: loudest.grant ?? null,
    rule: loudest.rule && loudest.index,
    reason: loudest.rule?.reason,
    to: loudest.rule?.to,
    need: loudest.decision === "ESCALATE" ? loudest.need : undefined,
    uses: loudest.rule?.most && usedOf(loudest.rule.most, ask),
    input: { action, resource: String(values["resource"]), env: String(values["env"]) },
    claimed,
  };
}

function rankOf(rule: RawRule): number {
  if (rule.decision === "DENY") return 1;
  if (rule.decision === "ESCALATE") return rule.standing === false ? 2 : 4;
  return rule.most ? 5.5 : 5;
}

/** The millionths that a call uses up of an allowance; undefined for a call that it cannot count. */
function usedOf(most: Record<string, unknown>, { call }: RawAsk): number | undefined {
  if (most["per"] === "run" && call?.run === undefined) return undefined;
  const pointer = Object.keys(most).find((name) => name.startsWith("/"));
  return pointer === undefined ? 0 : millionthsOf(call?.args[pointer.slice(1)]);
}

function speaks(rule: RawRule, values: Readonly<Record<string, string | null>>, ask: RawAsk): boolean {
  const strict = rule.decision !== "ALLOW";
  const args = ask.call?.args ?? {};
  const all = (block: Record<string, unknown>, ifOdd: boolean) =>
    Object.entries(block).every(([name, wanted]) => {
      if (name === "args") return argumentsAgree(wanted as Record<string, unknown>, args, ifOdd);
      if (name === "path") return pathsAgree([wanted].flat().map(String), pathsOf(values, args), args["cwd"]) ?? ifOdd;
      if (values[name] === ODD) return ifOdd;
      return [wanted].flat().some((one) => agrees(name, one, values[name] ?? null));
    });
  // spec/a2h 8: only a rule that was written for the function decides a call.
  if (typeof values["fn"] === "string" && !("fn" in rule.when)) return false;
  if (rule.most && usedOf(rule.most, ask) === undefined) return false;
  return all(rule.when, strict) && !(rule.unless !== undefined && all(rule.unless, !strict));
}

/** The files of a call, or of an ask about one. */
function pathsOf(values: Readonly<Record<string, string | null>>, args: RawArguments): unknown[] {
  const { action, resource } = values;
  const isOnFile = !("fn" in values) && ["read", "write", "reconfigure"].includes(String(action));
  if (isOnFile) return [resource === ODD ? null : resource];
  return ["file_path", "path"].filter((name) => name in args).map((name) => args[name]);
}

function agrees(name: string, wanted: unknown, value: string | null): boolean {
  if (wanted === null) return value === null;
  if (value === null) return false;
  return like(tidy(name, String(wanted).replaceAll("*", STAR)), value);
}

function tidy(name: string, text: string): string {
  return ["action", "env"].includes(name) ? text.normalize("NFKC").trim().toLowerCase() : text.normalize("NFC");
}

function inputOf(ask: RawAsk): { values: Record<string, string | null>; claimed: Record<string, string> } {
  const agent = ask.principal.replace(/^(agent:|executor:)/, "");
  if (ask.call) {
    const fn = tidy("fn", ask.call.fn);
    const values = { action: tidy("action", fn) || "unknown", resource: "", env: "dev", tool: null, repo: null };
    return { values: { ...values, fn, agent, digest: ask.call.digest }, claimed: {} };
  }
  const scalar = (value: unknown) => {
    if (value === null || value === undefined) return undefined;
    const isWhole = typeof value === "number" && value % 1 === 0;
    return isWhole || ["string", "boolean"].includes(typeof value) ? String(value) : ODD;
  };
  const filled = (name: string, ...those: unknown[]) =>
    those.map(scalar).find((text) => text !== undefined && tidy(name, text) !== "");
  const byType: Record<string, string> = { CLARIFICATION: "clarify", CHOICE: "choose", RESOURCE_FETCH: "read" };

  const claims = { env: [ask.meta["env"], ask.envProfile], repo: [ask.snapshotRepo] };
  const env = ask.job.env ?? filled("env", ...claims.env) ?? "dev";
  const repo = ask.job.repo ?? filled("repo", ...claims.repo) ?? null;
  const claimed: Record<string, string> = {};
  for (const name of ["env", "repo"] as const) {
    const registered = ask.job[name];
    if (registered === null) continue;
    const different = claims[name].map(scalar).filter((text) => text !== undefined && tidy(name, text) !== "");
    const first = different.find((text) => tidy(name, text ?? "") !== tidy(name, registered));
    if (first !== undefined) claimed[name] = first === ODD ? "nothing that can be compared" : first;
  }
  const values: Record<string, string | null> = {
    action: tidy("action", filled("action", ask.meta["action"]) ?? byType[ask.type] ?? "unknown"),
    resource: tidy("resource", scalar(ask.meta["resource"]) ?? ""),
    env: tidy("env", env),
    ask_type: ask.type,
    role: ask.roleId,
    tool: ask.tool ?? null,
    agent,
    repo: repo === null ? null : tidy("repo", repo),
    job: ask.job.id,
  };
  for (const [key, value] of Object.entries(ask.meta)) {
    const text = scalar(value);
    if (text !== undefined) values[`meta.${key}`] = text.normalize("NFC");
  }
  return { values, claimed };
}
