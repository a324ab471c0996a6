import type { ArgumentLeaf } from "./leaves.ts";
import { knownSet, spokenWords } from "./name-words.ts";

const DESTROYS = knownSet(
  "force cascade hard purge permanent overwrite wipe erase destroy delete truncate drop unsafe remove irreversible recursive",
  "revoke invalidate",
);
const GOES_AROUND = knownSet("skip bypass disable no without ignore omit ohne");
const SAFEGUARDS = knownSet(
  "backup backups verify verification validate validation confirm confirmation approval check checks test tests hook hooks",
  "sandbox auth tls ssl safe snapshot review recoverable protection protected lock wait soft",
);
/** On, such a switch gives somebody all there is. */
const OPENS = knownSet("admin administrator superuser root sudo owner");
/** A deletion that is asked about in the filter of a call, and not done by it. */
const HARMLESS = knownSet("include included show list with on after");

/** A safeguard that is missing, or the name of a switch that is on. */
export type SwitchFact = { kind: "without" | "on"; words: string } | { kind: "dry run" };

/** Returns what a switch destroys or leaves out; null for a switch that does neither. */
export function switchFact({ path, words, value }: ArgumentLeaf): SwitchFact | null {
  if (value.kind !== "switch") return null;
  const name = spokenWords(path.at(-1) ?? "");
  const has = (kind: ReadonlySet<string>) => words.some((word) => kind.has(word));
  const isDryRun = words.join(" ") === "dry run";
  if (isDryRun) return value.on ? { kind: "dry run" } : null;
  const [first = "", ...rest] = name;
  const isAround = has(GOES_AROUND);
  if (!value.on)
    return has(SAFEGUARDS) && !isAround && !has(DESTROYS) ? { kind: "without", words: name.join(" ") } : null;
  if (isAround && GOES_AROUND.has(first) && rest.length > 0) return { kind: "without", words: rest.join(" ") };
  if (isAround && (has(SAFEGUARDS) || has(DESTROYS))) return { kind: "on", words: name.join(" ") };
  const isAuto = words[0] === "auto" && (has(SAFEGUARDS) || words.includes("approve"));
  if (isAuto || has(OPENS) || (has(DESTROYS) && !HARMLESS.has(words[0] ?? "")))
    return { kind: "on", words: name.join(" ") };
  return null;
}

const ALL = new Set(["all", "everything", "everyone", "entire"]);

/** Returns whether a switch that is on makes a call reach everything there is. */
export function reachesAll({ words, value }: ArgumentLeaf): boolean {
  return value.kind === "switch" && value.on && words.length === 1 && ALL.has(words[0] ?? "");
}

const STATES = knownSet("enabled enable active activated state online published public live");

/** Returns whether a switch is the state that a call sets: `enabled`, `public`. */
export function isState({ words, value }: ArgumentLeaf): boolean {
  return value.kind === "switch" && words.length === 1 && STATES.has(words[0] ?? "");
}
