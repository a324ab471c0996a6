import { printableExactly } from "../../lib/printable.ts";
import { RUNS, wordsIn, wordsOfName } from "./argument-order.ts";
import { isJoint } from "./audience.ts";
import type { Request } from "./request.ts";
import { isGuarded } from "./view.ts";

/**
 * How much may be lost by a hasty yes: `high` where a call looks as if it destroyed something or went around a safeguard,
 * where an argument holds a secret or where several must agree; `low` where it only reads; `normal` for everything else.
 */
export type Risk = "low" | "normal" | "high";

/** In the name of a function, in what it runs, and in what is chosen by an argument such as `method`. */
const DESTROYS = wordsIn(
  "delete del destroy drop purge wipe erase truncate remove rm rmdir unlink shred overwrite prune terminate kill shutdown",
  "revoke uninstall disable absent",
);
/** In a command, beside the above. */
const DESTROYS_IN_COMMAND = wordsIn("mkfs dd killall pkill reboot halt poweroff sudo");
const FORCED = /(?:^|\s)--(?:force|hard|no-verify|no-preserve-root|allow-data-loss)\b/i;
const CHOOSES = wordsIn("action method operation op verb mode state");
/** Switched on. */
const GOES_AROUND = wordsIn("force cascade overwrite permanent permanently hard skip bypass disable unsafe");
/** Switched off, or switched on with one of `WITHOUT` in the name. */
const SAFEGUARDS = wordsIn(
  "backup verify verification validate validation confirm confirmation approval check test hook sandbox auth tls ssl safe",
);
const WITHOUT = wordsIn("no without ignore");
const READS = wordsIn("get list read search find show view describe count lookup");
const SENSITIVE = wordsIn("secret password passphrase token credential key private wallet");
const IS_ADDRESS = /[a-z][a-z0-9+.-]{0,40}:\/\//i;
/** Of all arguments, in characters: nobody reads more, and what goes by rules reads none of it then. */
export const LONGEST_READ = 100_000;
/** So many values of the arguments are looked at: a page of the inbox looks at those of fifty calls. */
export const MOST_LOOKED_AT = 1000;

/** One thing that makes a call look risky: a fact about the call, a word in its name, or an argument. */
export type RiskReason =
  { kind: "joint" | "unseen" | "long" | "secret" } | { kind: "function" | "argument"; name: string };

/**
 * Returns how risky an ask looks. It goes by plain rules on English names, as the order of the arguments does
 * (`argument-order.ts`), so it warns and sets how much care a decision by button takes, and decides nothing. A request
 * other than a call is `normal`: nobody can know what follows from an answer.
 */
export function riskOf(request: Judged): Risk {
  const { form } = request;
  if (form.kind !== "approval") return "normal";
  if (!reasonsOf(request).next().done) return "high";
  return readsOnly(form.fn, argumentsIn(JSON.parse(form.kwargs))) ? "low" : "normal";
}

/** Returns why a call is of high risk, the gravest reason first; empty for every other request. Names hold nothing unseen. */
export function riskReasonsOf(request: Judged): RiskReason[] {
  const named = new Map<string, RiskReason>();
  for (const reason of reasonsOf(request)) named.set(JSON.stringify(reason), reason);
  return [...named.values()];
}

type Judged = Pick<Request, "form" | "audience" | "wire">;

/** Finds one reason after the other: the first is enough for a list, and later ones take longer. */
function* reasonsOf(request: Judged): Generator<RiskReason> {
  const { form } = request;
  if (form.kind !== "approval") return;
  // A rule or an agent that wants several to agree says that it is grave; a name with something unseen in it wants to mislead.
  if (isJoint(request.audience)) yield { kind: "joint" };
  if (printableExactly(form.fn) !== form.fn) yield { kind: "unseen" };
  // Part of the call is masked at first, and the author of the arguments chooses which part looks like a secret.
  if (isGuarded(request)) yield { kind: "secret" };
  const values = form.kwargs.length > LONGEST_READ ? [] : argumentsIn(JSON.parse(form.kwargs));
  const isLong = form.kwargs.length > LONGEST_READ || values.length > MOST_LOOKED_AT;
  if (isLong) yield { kind: "long" };
  for (const word of wordsOfName(form.fn)) if (DESTROYS.has(word)) yield { kind: "function", name: word };
  if (isLong) return;
  for (const value of values) if (looksGrave(value)) yield { kind: "argument", name: printableExactly(value.name) };
}

/** An argument, at whatever depth, under the name it stands below. */
interface NamedValue {
  name: string;
  value: string | number | boolean | null;
}

/** Returns whether an argument by itself looks as if something were destroyed, or a safeguard gone around. */
export function looksGrave({ name, value }: NamedValue): boolean {
  const words = wordsOfName(name);
  const has = (kind: ReadonlySet<string>) => words.some((word) => kind.has(word));
  const isWithout = has(SAFEGUARDS) && has(WITHOUT);
  if (value === true || value === "true") return has(GOES_AROUND) || has(DESTROYS) || isWithout;
  if (value === false || value === "false") return has(SAFEGUARDS) && !isWithout && !has(GOES_AROUND);
  if (typeof value !== "string") return false;
  if (has(CHOOSES)) return wordsOfName(value).some((word) => DESTROYS.has(word));
  return has(RUNS) && destroysByCommand(value);
}

function destroysByCommand(command: string): boolean {
  const words = wordsOfName(command);
  return (
    FORCED.test(command) ||
    pushesByForce(command) ||
    words.some((word) => DESTROYS.has(word) || DESTROYS_IN_COMMAND.has(word))
  );
}

/** One pattern for both words would look through the rest of the command from each `push`. */
function pushesByForce(command: string): boolean {
  return command.split(/[|;&]/).some((step) => {
    const at = step.search(/\bpush\b/i);
    return at >= 0 && /\s-f\b/i.test(step.slice(at));
  });
}

/** Nothing is run by it, no address is called, and nothing that opens doors is read. */
function readsOnly(fn: string, values: readonly NamedValue[]): boolean {
  const called = lastPart(fn);
  if (!READS.has(wordsOfName(called)[0] ?? "")) return false;
  const isPlain = ({ name, value }: NamedValue) =>
    !wordsOfName(name).some((word) => RUNS.has(word) || SENSITIVE.has(word)) && !IS_ADDRESS.test(String(value));
  return !wordsOfName(fn).some((word) => SENSITIVE.has(word)) && values.every(isPlain);
}

/** Returns the name of a function without the server or the module it belongs to: of `mcp__github__get_issue`, the last. */
export function lastPart(fn: string): string {
  return fn.split(/__|[./:]/).findLast((part) => part !== "") ?? fn;
}

/** Returns every value that an argument holds, each under the name nearest to it. */
export function argumentsIn(value: unknown, name = ""): NamedValue[] {
  if (typeof value === "object" && value !== null) {
    const isList = Array.isArray(value);
    return Object.entries(value).flatMap(([key, member]) => argumentsIn(member, isList ? name : key));
  }
  return [{ name, value: value as NamedValue["value"] }];
}
