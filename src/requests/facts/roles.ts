import { isNamed, textOf, type ArgumentLeaf } from "./leaves.ts";
import { FILTERS } from "./read-leaves.ts";
import { isSmallUnit, isSum } from "./money-names.ts";
import { isAmount } from "./money.ts";
import { knownSet } from "./name-words.ts";

/** The part that an argument plays in the sentence of a call. */
export type ArgumentRole =
  | "amount"
  | "currency"
  | "before"
  | "after"
  | "switch"
  | "filter"
  | "receiver"
  | "source"
  | "grant"
  | "count"
  | "effect"
  | "percent"
  | "time"
  | "version"
  | "environment"
  | "place"
  | "link"
  | "visibility"
  | "target"
  | "detail"
  | "about"
  | "nothing";

const CURRENCY = knownSet("currency");
const ABOUT = knownSet(
  "description reason comment note message explanation summary why context prompt text body content html memo",
  "justification instruction instructions rationale markdown remark",
);
const TIMES = knownSet(
  "at date time timestamp until since before deadline expire expires expiry expiration ttl timeout duration day days hour hours",
  "minute minutes second seconds ms millis interval delay schedule due valid created updated modified start end when cron",
);
const PAST_OR_PATIENCE = knownSet("created updated modified timestamp timeout delay interval retry ms milli poll");
/** `user_id: 4711` is a name, and no count of users. */
const NUMBERED = knownSet("id number");
const TUNING = knownSet(
  "limit offset page size retry retries attempt attempts max min priority depth concurrency parallel batch buffer index",
  "width height lines line column verbose quality weight precision head tail background async session mode output",
);
const DIGESTS = knownSet(
  "digest hash sha checksum etag trace tracing nonce signature fingerprint idempotency correlation span uuid guid md5 sum256",
);
const LOOKS_DIGEST =
  /^(?:sha\d+[:-])?[0-9a-f]{32,}$|^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[\w+/=-]{40,}$/i;
const LOOKS_DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[^a-z]*)?$|^\d\d?:\d\d(?: ?[ap]m)?$/i;
const RECEIVERS = knownSet("to with recipient destination dest target payee iban assignee receiver invitee reviewer");
const SOURCES = knownSet("from source origin");
const GRANTS = knownSet(
  "role roles group groups permission permissions scope scopes privilege privileges acl grant grants",
);
const COUNTS = knownSet(
  "count rows row matched affected recipients users records items members accounts copies replicas instances quantity seats",
  "nodes customers people contacts subscribers files messages emails hosts machines pods audience reach",
);
const PERCENT = knownSet("percent percentage");
const VERSIONS = knownSet("version tag release revision build");
const ENVIRONMENTS = knownSet("environment environments namespace");
const PLACES = knownSet(
  "cluster region zone database schema project workspace site repository owner org organization organisation tenant bucket",
  "channel server host domain folder directory queue topic branch base stage realm team vault keyspace subscription datacenter",
);
const VISIBILITY = knownSet("visibility");
const DETAILS = knownSet(
  "format type method language locale ticket slug protocol dialect strategy kind encoding category status state ref",
  "reference run request plan color colour sort direction provider model head",
);
const EFFECTS =
  /^(?:destroy|delete|remove|drop|create|add|change|update|replace|import|insert|move|archive|purge|revoke|disable)(?:d|ed|s|ion|ions|n)?$/;

/** Returns the role of an argument by its name, the names above it and its value. */
export function roleOf(leaf: ArgumentLeaf): ArgumentRole {
  const { value, words, above } = leaf;
  if (value.kind === "switch") return above.some((word) => FILTERS.has(word)) ? "filter" : "switch";
  if (isNamed(leaf, CURRENCY)) return "currency";
  if (isSmallUnit(leaf)) return "nothing";
  const last = words.at(-1) ?? "";
  const isFiltered = above.some((word) => FILTERS.has(word)) || FILTERS.has(last);
  const text = textOf(leaf);
  if (text !== null && isFiltered) return "filter";
  if (text !== null && isMoney(leaf, text)) return "amount";
  if (value.kind === "number" || (text !== null && /^\d[\d.,' ]*%?$/.test(text))) return numberRole(leaf, text ?? "");
  if (value.kind === "list") return listRole(leaf);
  return text === null ? "nothing" : textRole(leaf, text);
}

function isMoney(leaf: ArgumentLeaf, text: string): boolean {
  const all = [...leaf.above, ...leaf.words];
  if (!isAmount(text) || leaf.words.some((word) => PERCENT.has(word) || COUNTS.has(word))) return false;
  return isSum(leaf.words) || (isSum(all) && knownAmount(leaf.words));
}

/** Within an amount, its parts have names such as `value` and `units`. */
function knownAmount(words: readonly string[]): boolean {
  return words.every((word) =>
    ["value", "unit", "minor", "amount", "decimal", "old", "new", "from", "to"].includes(word),
  );
}

function numberRole(leaf: ArgumentLeaf, text: string): ArgumentRole {
  const { words } = leaf;
  const last = words.at(-1) ?? "";
  if (words.some((word) => PERCENT.has(word)) || text.endsWith("%")) return "percent";
  if (words.filter((word) => word !== "to").length === 1 && EFFECTS.test(last))
    return text === "0" ? "nothing" : "effect";
  if (words.some((word) => DIGESTS.has(word)) && !words.includes("count")) return "nothing";
  if (words.some((word) => TIMES.has(word)) && !words.includes("count")) return timeRole(leaf);
  if (words.some((word) => COUNTS.has(word)) && !NUMBERED.has(last)) return "count";
  if (words.some((word) => VERSIONS.has(word))) return "version";
  if (words.some((word) => TUNING.has(word))) return "nothing";
  return textRole(leaf, text);
}

/** When, or for how long; a tool's patience and a record's past say nothing about what would happen. */
function timeRole({ words }: ArgumentLeaf): ArgumentRole {
  return words.some((word) => PAST_OR_PATIENCE.has(word)) ? "nothing" : "time";
}

function listRole(leaf: ArgumentLeaf): ArgumentRole {
  const { words } = leaf;
  if (isNamed(leaf, GRANTS)) return "grant";
  if (words.some((word) => EFFECTS.test(word))) return "effect";
  if (words.some((word) => RECEIVERS.has(word))) return "receiver";
  return isNamed(leaf, ABOUT) || isNamed(leaf, DIGESTS) ? "about" : "target";
}

function textRole(leaf: ArgumentLeaf, text: string): ArgumentRole {
  const { words, above } = leaf;
  const last = words.at(-1) ?? "";
  const has = (kind: ReadonlySet<string>) => words.some((word) => kind.has(word));
  if (words.join(" ") === "output mode" || has(DIGESTS) || LOOKS_DIGEST.test(text)) return "nothing";
  if (ABOUT.has(last)) return "about";
  if (LOOKS_DATE.test(text) || (TIMES.has(last) && !has(VERSIONS))) return timeRole(leaf);
  if (/[\r\n]/.test(text.trim())) return "about";
  if (has(GRANTS)) return "grant";
  if (has(VISIBILITY)) return "visibility";
  if (has(VERSIONS)) return "version";
  if (words.some((word) => RECEIVERS.has(word)) || above.some((word) => RECEIVERS.has(word))) return "receiver";
  if (words.some((word) => SOURCES.has(word)) || above.some((word) => SOURCES.has(word))) return "source";
  if (/^https?:\/\/\S+$/i.test(text)) return "link";
  if (has(ENVIRONMENTS)) return "environment";
  if (PLACES.has(last) || words.includes("directory") || words.includes("folder")) return "place";
  return DETAILS.has(last) || TUNING.has(last) ? "detail" : "target";
}
