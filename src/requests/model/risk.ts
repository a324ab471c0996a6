import type { PolicyDecision } from "../../policy/model/policy.ts";
import { printableExactly } from "../../lib/printable.ts";
import { commandIn } from "../facts/commands.ts";
import { headOf } from "../facts/function-name.ts";
import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { leavesIn } from "../facts/read-leaves.ts";
import { statementsIn } from "../facts/statements.ts";
import { judgedArguments } from "../risk/arguments.ts";
import { judgedCommand } from "../risk/command.ts";
import { deletesFiles, judgedFiles } from "../risk/files.ts";
import type { AmountLimits } from "../risk/limits.ts";
import { placeOf } from "../risk/paths.ts";
import { unread, type FactKind, type Judgement } from "../risk/reason.ts";
import { judgedSql } from "../risk/sql.ts";
import { isRunner } from "../risk/verbs.ts";
import { isJoint } from "./audience.ts";
import type { Request } from "./request.ts";
import { isGuarded, maskedArguments } from "./view.ts";

/**
 * How much may be lost by a hasty yes, by the facts of a call (spec/security 4.9): `high` where one of them is grave, `low`
 * where it only reads, `unjudged` where a part that decides cannot be read, `normal` for everything else.
 */
export type Risk = "low" | "normal" | "high" | "unjudged";

/** Every risk, the lowest first. */
export const LOWEST_FIRST: readonly Risk[] = ["low", "normal", "unjudged", "high"];

/** Of all arguments, in characters: nobody reads more, and what goes by rules reads none of it then. */
export const LONGEST_READ = 100_000;
/** So many values of the arguments are looked at: a page of the inbox looks at those of fifty calls. */
export const MOST_LOOKED_AT = 1000;
const LONGEST_SAID = 160;
/** Facts beside a command that only reads, which are deeds of their own. */
const DEEDS: ReadonlySet<FactKind> = new Set(["forces", "money", "opens"]);

/** One reason for the risk of a call: a fact that is quoted, a trait of the request, or a rule of the operator. */
export interface RiskReason {
  kind: FactKind | "joint" | "unseen" | "long" | "secret" | "rule";
  /** The fact, from the call, or the words of the rule; empty for a trait. */
  says: string;
}

type Judged = Pick<Request, "form" | "audience" | "wire">;

/**
 * Returns how risky a call is. It warns and sets how much care a decision by button takes, and decides nothing. A
 * request other than a call is `normal`: nobody can know what follows from an answer.
 */
export function riskOf(request: Judged): Risk {
  return judgedRequest(request).risk;
}

/** Returns why a call has the risk that it has, a rule first, then the gravest fact. The reasons hold nothing unseen. */
export function riskReasonsOf(request: Judged): RiskReason[] {
  return judgedRequest(request).reasons;
}

/** Judges a request once, for its mark and its reasons. */
export function judgedRequest(request: Judged): { risk: Risk; reasons: RiskReason[] } {
  const { form } = request;
  if (form.kind !== "approval") return { risk: "normal", reasons: [] };
  if (form.calls !== undefined) return judgedPlan(request);
  const leaves = form.kwargs.length > LONGEST_READ ? null : leavesIn(maskedArguments(request, form.kwargs));
  const isLong = leaves === null || leaves.length > MOST_LOOKED_AT;
  const traits = traitsOf(request, form.fn, isLong);
  const { facts, onlyReads } = isLong ? { facts: [], onlyReads: false } : judgedCall(form.fn, leaves, request.wire);
  const grave = facts.filter(({ kind }) => kind !== "unread");
  const read = traits.length + grave.length > 0 ? "high" : facts.length > 0 ? "unjudged" : onlyReads ? "low" : "normal";
  const told = [...traits, ...(grave.length > 0 ? grave : facts)];
  // A rule knows the function alone, so that it lowers nothing that a trait of this request makes high.
  const rule = traits.length > 0 ? null : ruleReason(request, read, told[0]?.says);
  const risk = rule?.kind ?? read;
  const reasons = new Map<string, RiskReason>();
  for (const { kind, says } of rule === null ? told : [rule.reason, ...told]) {
    const printed = printableExactly(says.length > LONGEST_SAID ? `${says.slice(0, LONGEST_SAID)}…` : says);
    reasons.set(`${kind} ${printed}`, { kind, says: printed });
  }
  return { risk, reasons: [...reasons.values()] };
}

/** Returns the judgement of the riskiest of these calls, of the first where several are; there is at least one. */
export function riskiestOf(calls: readonly Judged[]): PlanRisk {
  const judged = calls.map(judgedRequest);
  const rankOf = ({ risk }: PlanRisk) => LOWEST_FIRST.indexOf(risk);
  return judged.reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
}

type PlanRisk = ReturnType<typeof judgedRequest>;

/** A plan is as risky as the riskiest of its calls, which were judged when it was made. Its evidence may be long. */
function judgedPlan(request: Judged): PlanRisk {
  const { risk, reasons } = request.wire["judged"] as PlanRisk;
  if (!isGuarded(request) || reasons.some(({ kind }) => kind === "secret")) return { risk, reasons };
  return { risk: "high", reasons: [{ kind: "secret", says: "" }, ...(risk === "high" ? reasons : [])] };
}

/** The risk that a rule of the policy gives a call in place of the one that is read from its facts, and the rule's words. */
function ruleReason({ wire }: Judged, read: Risk, fact: string | undefined): { kind: Risk; reason: RiskReason } | null {
  const ruled = wire["risk"] as PolicyDecision["risk"];
  if (ruled === undefined || ruled.kind === read) return null;
  const isLower = LOWEST_FIRST.indexOf(ruled.kind) < LOWEST_FIRST.indexOf(read);
  const beside = isLower && fact !== undefined ? `; Parley ${read === "high" ? "reads" : "cannot read"}: ${fact}` : "";
  return { kind: ruled.kind, reason: { kind: "rule", says: `rule ${ruled.rule} says ${ruled.kind}${beside}` } };
}

/** The traits of a request that count whatever its arguments are. */
function traitsOf(request: Judged, fn: string, isLong: boolean): RiskReason[] {
  const traits: [RiskReason["kind"], boolean][] = [
    ["joint", isJoint(request.audience)],
    ["unseen", printableExactly(fn) !== fn],
    // Part of the call is masked at first, and the author of the arguments chooses which part looks like a secret.
    ["secret", isGuarded(request)],
    ["long", isLong],
  ];
  return traits.flatMap(([kind, isSo]) => (isSo ? [{ kind, says: "" }] : []));
}

/** Judges a call by its parts; what changes something in a folder that is not the agent's is not judged. */
function judgedCall(fn: string, leaves: readonly ArgumentLeaf[], wire: Judged["wire"]): Judgement {
  const { folder, elsewhere } = foldersOf(wire, leaves);
  const judgement = judgedParts(fn, leaves, { folder, limits: (wire["limits"] ?? {}) as AmountLimits });
  if (elsewhere === null || judgement.onlyReads || judgement.facts.length > 0) return judgement;
  return unread(elsewhere);
}

/** Judges a call by its command, its SQL and its files, and by the rest of its arguments. */
function judgedParts(
  fn: string,
  leaves: readonly ArgumentLeaf[],
  { folder, limits }: { folder: string | null; limits: AmountLimits },
): Judgement {
  const parts: Judgement[] = [];
  const command = commandIn(fn, leaves);
  const isPatch = command !== null && /^\*\*\* Begin Patch/.test(command.text);
  if (command !== null && !isPatch) parts.push(judgedCommand(command.runs, folder));
  const { words } = headOf(fn);
  // A program of another language is read by nobody.
  const code = isRunner(words) && leaves.some((leaf) => leaf.words.includes("code") && leaf.value.kind === "text");
  if (code && command === null) parts.push(unread("code"));
  const sql = statementsIn(leaves);
  if (sql !== null) parts.push(judgedSql(textOf(sql.leaf) ?? ""));
  const files = command === null || isPatch ? judgedFiles(fn, leaves, folder) : null;
  if (files !== null) parts.push(files);
  const runs = parts.length > 0;
  const rest = leaves.filter((leaf) => !command?.leaves.includes(leaf) && leaf !== sql?.leaf);
  const facts = parts.flatMap((part) => part.facts);
  // Files that a call deletes say themselves what is lost.
  if (files !== null && deletesFiles(fn)) return { facts, onlyReads: false };
  const isRun = runs && isRunner(words);
  const others = judgedArguments(isRun ? "run" : fn, rest, limits);
  if (!isRun) return { facts: [...facts, ...others.facts], onlyReads: !runs && others.onlyReads };
  const onlyReads = parts.every((part) => part.onlyReads);
  // A read of production, or of many rows, is a read.
  const counted = onlyReads ? others.facts.filter(({ kind }) => DEEDS.has(kind)) : others.facts;
  return { facts: [...facts, ...counted], onlyReads: onlyReads && counted.length === 0 };
}

/**
 * The folder that an agent works in: as its prompt says it, else as the call itself does. Beside the prompt's, a call may
 * name another one to run in.
 */
function foldersOf(
  wire: Judged["wire"],
  leaves: readonly ArgumentLeaf[],
): { folder: string | null; elsewhere: string | null } {
  const { folder } = (wire["agent_prompt"] ?? {}) as { folder?: string };
  const named = leaves.find(({ path }) => /^(?:cwd|workdir|working_directory|dir_path)$/.test(path.at(-1) ?? ""));
  const text = named === undefined ? null : textOf(named);
  if (folder === undefined) return { folder: text?.startsWith("/") ? text : null, elsewhere: null };
  return { folder, elsewhere: text !== null && placeOf(text, folder).isOutside ? text : null };
}
