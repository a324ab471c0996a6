import { printableExactly } from "../../lib/printable.ts";
import { cutTo } from "../../core/model/title.ts";
import { knownWords, spokenWords } from "./name-words.ts";

/** Letters, digits and what joins words: such a name can stand in a sentence without hiding anything. */
const IS_SPEAKABLE = /^[\p{Script=Latin}][\p{Script=Latin}\p{N}]*(?:(?:_{1,2}|[-.:/])[\p{Script=Latin}\p{N}]+)*$/u;
const LONGEST = 60;
/** Verbs that say nothing without the thing before them: `refunds.create`. */
const BARE_VERBS = new Set(
  "create update delete get list cancel remove add set modify upsert retrieve destroy".split(" "),
);
/** They add nothing before a noun that is an action itself. */
const LIGHT = new Set("issue execute perform process initiate trigger submit do".split(" "));
const ACTIONS = new Set("refund transfer payout payment rollback deployment deploy restart".split(" "));
const TWO_WORDS: Readonly<Record<string, string>> = { rollback: "roll back", signup: "sign up", shutdown: "shut down" };

/** A function's name for people. */
export interface FunctionWords {
  head: string;
  /** As the rules know them. */
  words: readonly string[];
  /** The server or the module that the function belongs to; empty for none. */
  server: string;
}

/** `delete_database` is "Delete database", `mcp__github__deleteRepo` "Delete repo" of `github`; any other name stays. */
export function headOf(fn: string): FunctionWords {
  const name = fn.length > 1000 ? fn.slice(0, 1000) : fn;
  if (!IS_SPEAKABLE.test(name) || name !== fn) {
    return { head: cutTo(LONGEST, printableExactly(name)), words: knownWords(name), server: "" };
  }
  const [server, last] = partsOf(name);
  const [first = "", ...rest] = spokenWords(last);
  const said = LIGHT.has(first) && ACTIONS.has(rest[0] ?? "") ? rest : [first, ...rest];
  const text = said.map((word) => TWO_WORDS[word] ?? word).join(" ");
  const head = cutTo(LONGEST, `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
  return { head, words: knownWords(last), server };
}

function partsOf(fn: string): [server: string, last: string] {
  if (fn.startsWith("mcp__") && fn.indexOf("__", 5) > 0) return cutAt(fn.slice(5), "__");
  if (/^mcp_[^_]+_./.test(fn)) return cutAt(fn.slice(4), "_");
  const at = Math.max(...["__", ".", "/", ":"].map((joint) => fn.lastIndexOf(joint)));
  if (at <= 0) return ["", fn];
  const [module, last] = [fn.slice(0, at), fn.slice(at).replace(/^(?:__|[./:])/, "")];
  if (!BARE_VERBS.has(last.toLowerCase())) return [module, last];
  const [server, thing] = partsOf(module);
  return [server, `${last}_${thing}`];
}

function cutAt(name: string, joint: string): [before: string, after: string] {
  const at = name.indexOf(joint);
  return [name.slice(0, at), name.slice(at + joint.length)];
}
