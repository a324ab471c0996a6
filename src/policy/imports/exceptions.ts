import type { PolicyEffect } from "../model/policy.ts";
import type { ListEntry, RulePart } from "./agent-list.ts";

const RANK: Readonly<Record<PolicyEffect, number>> = { ALLOW: 0, ESCALATE: 1, DENY: 2 };
const MOST = 100;

/**
 * Returns entries of which the last that matches decides, as rules whose order does not count: a DENY or an ESCALATE
 * gets the weaker entries behind it as exceptions. Those that cannot be said leave it wider.
 */
export function withExceptions(entries: readonly ListEntry[]): ListEntry[] {
  return entries.map((entry, at) => {
    if (entry.decision === "ALLOW" || entry.parts.length === 0) return entry;
    const isNeeded = entry.decision === "DENY" || entries.slice(0, at).some((one) => isAllowNear(one, entry));
    if (!isNeeded) return { ...entry, parts: [], note: "needs no rule: calls without one go to people" };
    const weaker = entries.slice(at + 1).filter(({ decision }) => RANK[decision] < RANK[entry.decision]);
    const within = weaker.flatMap((one) => one.within ?? []);
    const parts = entry.parts.flatMap((part) => exceptedParts(part, within));
    if (parts.length === 0) return { ...entry, parts, note: "needs no rule: a later entry covers it" };
    const isExcepted = parts.some(({ unless }) => unless !== undefined);
    return { ...entry, parts, note: isExcepted ? joined(entry.note, "not for later entries") : entry.note };
  });
}

const joined = (first: string | undefined, then: string): string => (first === undefined ? then : `${first}; ${then}`);

function isAllowNear(one: ListEntry, { parts }: ListEntry): boolean {
  const names = (list: readonly RulePart[]) => list.flatMap(({ fn }) => fn);
  return (
    one.decision === "ALLOW" &&
    names(one.parts).some((fn) => names(parts).some((other) => coversName(fn, other) || coversName(other, fn)))
  );
}

/** Each function that has exceptions gets a part of its own. */
function exceptedParts(part: RulePart, within: readonly RulePart[]): RulePart[] {
  return part.fn.flatMap((fn): RulePart[] => {
    const covering = within.filter((one) => one.fn.some((name) => coversName(name, fn)));
    if (covering.some(isWhole)) return [];
    const below = within.filter((one) => one.fn.some((name) => name !== fn && coversName(fn, name)));
    const named = [...new Set(below.flatMap((one) => one.fn.filter((name) => coversName(fn, name))))].slice(0, MOST);
    const own = exceptionsOf(part, covering);
    // A rule has one list of exceptions: the functions within a glob leave it, and get parts of their own.
    const rest = named.length > 0 ? { fn: named } : own;
    const whole = { ...part, fn: [fn], ...(rest && { unless: rest }) };
    return [whole, ...named.flatMap((name) => exceptedParts({ ...part, fn: [name] }, within))];
  });
}

const isWhole = ({ fn: _, ...conditions }: RulePart): boolean => Object.keys(conditions).length === 0;

/** A call has a command or a path; the kind of most exceptions is kept. */
function exceptionsOf({ command: denied }: RulePart, parts: readonly RulePart[]): RulePart["unless"] {
  const programs = denied?.map(programOf);
  const plain = parts.filter(({ args, expr, folder }) => !args && !expr && !folder);
  const command = plain.flatMap((part) => part.command ?? []);
  const isNear = programs === undefined || command.some((pattern) => programs.includes(programOf(pattern)));
  const path = plain.flatMap((part) => part.path ?? []);
  // All of a line must be excepted, so that the patterns of other programs count as well.
  if (command.length > 0 && isNear) return { command: [...new Set(command)].slice(0, MOST) };
  return path.length > 0 && !denied ? { path: [...new Set(path)].slice(0, MOST) } : undefined;
}

const programOf = (pattern: string): string => pattern.split(" ", 1)[0] ?? "";

function coversName(pattern: string, name: string): boolean {
  if (pattern === name || pattern === "*") return true;
  const [begin = "", end, ...more] = pattern.split("*");
  return end === "" && more.length === 0 && name.startsWith(begin);
}
