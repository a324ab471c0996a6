import { inFolder } from "../facts/files.ts";
import type { FunctionWords } from "../facts/function-name.ts";
import { isNamedAmong, isSpeaking, labelOf, type Sorted } from "../facts/labels.ts";
import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { spokenWords } from "../facts/name-words.ts";
import { strongestFirst } from "../facts/strongest.ts";
import { isState, reachesAll, switchFact } from "../facts/switches.ts";
import { bare, pathText, quoted, short, type Part } from "./sentence-parts.ts";
import type { SentenceWords } from "./sentence-words.ts";
import { settingParts, timeParts } from "./setting-parts.ts";

/** The arguments of a call, and all that the parts of its sentence need beside them. */
export interface CallFacts extends Sorted {
  all: readonly ArgumentLeaf[];
  called: FunctionWords;
  say: SentenceWords;
  /** The working folder, if the call names it. */
  folder: string | null;
  /** A tool of a coding agent: names and numbers beside its command or file are settings. */
  isTool: boolean;
  /** Nothing stands behind the function yet. */
  isAlone: boolean;
  money: readonly Part[];
}

const NAMED = ["place", "detail", "version"] as const;
const TITLES = /(?:^|_)(?:title|subject|headline|betreff|titre)$/i;
/** Functions that give something to somebody. */
const GIVES = new Set("grant give assign add invite promote share allow enable".split(" "));
const DESTROYS = /^(?:destroy|delete|remove|drop|purge|replace|revoke|disable)/;
const LONGEST_WORDS = 60;
const LONGEST_QUERY = 30;
const MOST_FILTERS = 3;
const MAIN_WEIGHTS = [9, 7, 5, 4];

/** Returns the facts of a call in the order in which they are read. */
export function factParts(facts: CallFacts): Part[] {
  const { called, isTool, money, byRole } = facts;
  const targets = isTool ? [] : byRole("target", "link");
  const named = isTool ? [] : [...targets, ...byRole(...NAMED)].filter((leaf) => isNamedAmong(leaf, called.words));
  const others = targets.filter((leaf) => !named.includes(leaf) && !isParentOf(named, leaf));
  const details = isTool ? [] : byRole("detail").filter((leaf) => !named.includes(leaf));
  const parts = [
    ...grouped(named).map((group, i) => namedPart(group, facts, i === 0)),
    ...grantParts(facts, named.length === 0).filter(({ isNamed }) => isNamed),
    ...(facts.changes.length > 0 ? targetParts(others, facts, named.length > 0) : []),
    ...money,
    ...(facts.changes.length > 0 ? [] : targetParts(others, facts, named.length > 0)),
    ...stateParts(facts),
    ...endpointParts(facts),
    ...grantParts(facts, false).filter(({ isNamed }) => !isNamed),
    ...versionParts(facts),
    ...countParts(facts),
    ...filterParts(facts),
    ...effectParts(facts),
    ...placeParts(facts),
    ...(isTool ? [] : [...settingParts(facts, called, facts.all, facts.say), ...timeParts(facts, facts.all)]),
    ...switchParts(facts),
    ...details.map((leaf): Part => ({ joint: ", ", weight: 3, say: (most) => labelled(leaf, facts, most) })),
  ];
  return facts.isAlone || targets.length > 0
    ? [...parts, ...wordParts(facts, !parts.some(({ weight }) => weight === Infinity))]
    : parts;
}

function namedPart(group: readonly ArgumentLeaf[], facts: CallFacts, isFirst: boolean): Part {
  return { joint: isFirst ? " " : ", ", weight: Infinity, say: (most) => valuesOf(group, facts, most) };
}

/** The name and the number of one thing belong together. */
function grouped(leaves: readonly ArgumentLeaf[]): ArgumentLeaf[][] {
  const groups = new Map<string, ArgumentLeaf[]>();
  for (const leaf of leaves) {
    const key = leaf.path.length > 1 ? leaf.path.slice(0, -1).join("\n") : `\n${leaf.path.join("\n")}`;
    const group = groups.get(key) ?? [];
    groups.set(key, [...group, leaf]);
  }
  return [...groups.values()].map((group) =>
    group.toSorted((one, other) => Number(isNumberLike(one)) - Number(isNumberLike(other))),
  );
}

const isNumberLike = ({ words }: ArgumentLeaf): boolean => !words.some((word) => word === "name" || word === "title");

/** Within the object that is named already, other values are details. */
function isParentOf(named: readonly ArgumentLeaf[], leaf: ArgumentLeaf): boolean {
  return leaf.path.length > 1 && named.some(({ path }) => path.length > 1 && path[0] === leaf.path[0]);
}

function targetParts(leaves: readonly ArgumentLeaf[], facts: CallFacts, hasMain: boolean): Part[] {
  const groups = grouped(leaves).toSorted(([one], [other]) => scoreOf(other) - scoreOf(one));
  return groups.map((group, i): Part => {
    const [first] = group;
    const isList = first?.value.kind === "list" && first.value.items.some((item) => typeof item === "object");
    const place = i + (hasMain ? 1 : 0);
    const weight = place === 0 ? Infinity : isList ? 2 : (MAIN_WEIGHTS[place - 1] ?? 3);
    const isMain = i === 0 && !hasMain && facts.isAlone && !hasNamedGrant(facts);
    const text = first && group.length === 1 ? textOf(first) : null;
    const isBare = isMain && first !== undefined && text !== null && isSpeaking(first, text);
    const isGiven = isBare && facts.called.words.some((word) => GIVES.has(word)) && /@|^@/.test(text ?? "");
    return {
      joint: isBare && (isGiven || facts.changes.length > 0 || facts.money.length === 0) ? " " : ", ",
      weight,
      say: (most) => {
        const said = first && group.length === 1 ? labelled(first, facts, most) : groupText(group, facts, most);
        return isGiven ? facts.say.to(said) : said;
      },
    };
  });
}

/** Things are told by their names before their numbers, and by either before other texts. */
function scoreOf(leaf: ArgumentLeaf | undefined): number {
  if (!leaf) return 0;
  const text = textOf(leaf);
  if (text === null)
    return leaf.value.kind === "list" && leaf.value.items.every((item) => typeof item !== "object") ? 3 : 1;
  if (isSpeaking(leaf, text)) return 6;
  if (leaf.words.some((word) => THINGS.has(word))) return 5;
  return leaf.value.kind === "text" ? 4 : 2;
}

function hasNamedGrant({ byRole, called }: CallFacts): boolean {
  return byRole("grant").some(
    (leaf) => leaf.path.length === 1 && isNamedAmong(leaf, called.words) && leaf.value.kind === "list",
  );
}

const THINGS = new Set(
  "order customer user account table record service product sku invoice ticket employee table flag job file page host device id".split(
    " ",
  ),
);

function groupText(group: readonly ArgumentLeaf[], facts: CallFacts, most: number): string {
  const parent = spokenWords(group[0]?.path.at(-2) ?? "").join(" ");
  return `${parent} ${valuesOf(group, facts, most)}`;
}

function valuesOf([first, ...rest]: readonly ArgumentLeaf[], facts: CallFacts, most: number): string {
  if (!first) return "";
  const value = valueText(first, facts, most);
  const [second] = rest;
  return second ? `${value} (${valueText(second, facts, Math.floor(most / 2))})` : value;
}

function labelled(leaf: ArgumentLeaf, facts: CallFacts, most: number): string {
  const text = textOf(leaf);
  const value = valueText(leaf, facts, most);
  if (text !== null && leaf.words.join(" ") === "path") return facts.say.in(value);
  if (text !== null && (isSpeaking(leaf, text) || leaf.words.length === 0)) return value;
  if (leaf.value.kind === "list" && /^\d+ /.test(value)) return `${labelOf(leaf, facts.all)}: ${value}`;
  return `${labelOf(leaf, facts.all)} ${value}`;
}

function valueText(leaf: ArgumentLeaf, { say, folder }: CallFacts, most: number): string {
  const { value, path } = leaf;
  if (value.kind === "switch") return value.on ? say.on : say.off;
  if (value.kind === "list") return listText(value.items, say, most);
  if (value.kind === "number") return value.text;
  if (TITLES.test(path.at(-1) ?? "")) return quoted(value.text, most);
  if (/^https?:\/\//i.test(value.text)) return hostText(value.text, most);
  return /^(?:[a-z][\w+.-]*:\/\/|~?[\\/]|[A-Z]:\\)\S*$/i.test(value.text)
    ? pathText(inFolder(value.text, folder), most)
    : bare(value.text, most);
}

/** The member that grants or reaches most, and how many others there are. */
function listText(items: readonly unknown[], say: SentenceWords, most: number): string {
  const scalars = items.filter((item) => typeof item !== "object" || item === null);
  if (scalars.length < items.length) return say.items(items.length);
  const [first = "", ...others] = strongestFirst(items.map(String));
  return `${bare(first, most)}${others.length > 0 ? ` ${say.more(others.length)}` : ""}`;
}

/** The host is the one that a program goes to, whatever the text looks like. */
function hostText(url: string, most: number): string {
  if (!URL.canParse(url)) return bare(url, most);
  const { host, pathname, search, username } = new URL(url);
  if (username !== "") return pathText(host, most);
  return pathText(pathname === "/" ? host : `${host}${pathname}`, most) + short(search, LONGEST_QUERY);
}

/** On or off, where the call sets the state of something. */
function stateParts({ byRole, say, isTool }: CallFacts): Part[] {
  if (isTool) return [];
  return byRole("switch")
    .filter(isState)
    .map((leaf): Part => {
      const isOn = leaf.value.kind === "switch" && leaf.value.on;
      const name = leaf.words[0] ?? "";
      const isEnabling = ["enabled", "enable", "active", "activated", "state"].includes(name);
      const text = isEnabling ? (isOn ? say.on : say.off) : isOn ? name : say.without(name);
      return { joint: ", ", weight: 8, say: () => text };
    });
}

function grantParts({ byRole, called, say, all }: CallFacts, isFirst: boolean): (Part & { isNamed: boolean })[] {
  return byRole("grant").map((leaf) => {
    const isNamed = isNamedAmong(leaf, called.words) && leaf.path.length === 1;
    const label = labelOf(leaf, all);
    const value = (most: number) =>
      leaf.value.kind === "list" ? listText(leaf.value.items, say, most) : bare(textOf(leaf) ?? "", most);
    return {
      isNamed,
      joint: isNamed && isFirst ? " " : ", ",
      weight: Infinity,
      say: (most) => (isNamed && isFirst ? value(most) : `${label} ${value(most)}`),
    };
  });
}

/** Receivers come before sources: who gets it matters more. */
function endpointParts(facts: CallFacts): Part[] {
  const { byRole, say } = facts;
  const part = (leaves: readonly ArgumentLeaf[], join: (value: string) => string, weight: number): Part[] => {
    const sorted = leaves.toSorted((one, other) => rankOfEndpoint(one) - rankOfEndpoint(other));
    const isOne = sorted.length > 0;
    return isOne ? [{ joint: " ", weight, say: (most) => join(valuesOf(sorted, facts, most)) }] : [];
  };
  const [to, from] = [byRole("receiver"), byRole("source")];
  return [...part(to, say.to, Infinity), ...part(from, say.from, 7).map((one) => ({ ...one, joint: ", " as const }))];
}

function rankOfEndpoint({ words, path }: ArgumentLeaf): number {
  if (words.some((word) => ["name", "title"].includes(word))) return 0;
  if (words.some((word) => ["iban", "account", "address", "bank", "bic"].includes(word))) return 2;
  return path.length;
}

/** Functions whose version is the one after the call. */
const GOES_BACK = new Set("rollback roll revert upgrade downgrade restore bump".split(" "));
const AIMS = new Set(["to", "target"]);

function versionParts({ byRole, called, say }: CallFacts): Part[] {
  const versions = byRole("version")
    .filter((leaf) => !isNamedAmong(leaf, called.words))
    .map((leaf): Part => {
      const text = textOf(leaf) ?? "";
      const isBare = /^v?\d+\.|^v\d/.test(text);
      const label = spokenWords(leaf.path.at(-1) ?? "").filter((word) => !AIMS.has(word));
      const goesTo = GOES_BACK.has(called.words[0] ?? "") || label.length < leaf.words.length;
      const said = (most: number) => (isBare ? bare(text, most) : `${label.join(" ")} ${bare(text, most)}`.trim());
      return { joint: " ", weight: Infinity, say: (most) => (goesTo ? say.to(said(most)) : said(most)) };
    });
  const percents = byRole("percent").map((leaf): Part => {
    const text = (textOf(leaf) ?? "").replace(/%$/, "");
    const label = leaf.words.filter((word) => word !== "percent").join(" ");
    return { joint: ", ", weight: 10, say: () => `${label === "" || label === "rollout" ? "" : `${label} `}${text}%` };
  });
  return [...versions, ...percents];
}

function countParts({ byRole, isTool }: CallFacts): Part[] {
  if (isTool) return [];
  return byRole("count").map((leaf, i): Part => {
    const label = spokenWords(leaf.path.at(-1) ?? "").filter(
      (word) => !["count", "number", "total", "of", "num"].includes(word),
    );
    const digits = textOf(leaf) ?? "";
    const isQuantity = leaf.words.includes("quantity");
    const text =
      label.length === 0
        ? `count ${digits}`
        : isQuantity
          ? `${label.join(" ")} ${digits}`
          : `${digits} ${label.join(" ")}`;
    return { joint: ", ", weight: i < 2 ? Infinity : 6, say: () => text };
  });
}

function filterParts(facts: CallFacts): Part[] {
  const filters = facts.byRole("filter");
  if (filters.length === 0) return [];
  const more = filters.length > MOST_FILTERS ? ` ${facts.say.more(filters.length - MOST_FILTERS)}` : "";
  const text = (most: number) =>
    filters
      .slice(0, MOST_FILTERS)
      .map((leaf) => {
        const name = spokenWords(leaf.path.at(-1) ?? "").join(" ");
        return textOf(leaf) === "" ? facts.say.without(name) : `${name} ${valueText(leaf, facts, most)}`;
      })
      .join(" & ") + more;
  return [{ joint: ", ", weight: Infinity, say: text }];
}

/** How many things a plan destroys, adds and changes, and which. */
function effectParts({ byRole, say }: CallFacts): Part[] {
  const effects = byRole("effect");
  const lists = effects.filter(({ value }) => value.kind === "list");
  const numbers = effects.filter(({ value }) => value.kind !== "list");
  const listed = (leaf: ArgumentLeaf, most: number) =>
    leaf.value.kind === "list" ? listText(leaf.value.items, say, most) : "";
  const parts = numbers.map((leaf): Part => {
    const name = leaf.words.at(-1) ?? "";
    const list = lists.find(({ words }) => (words.at(-1) ?? "").startsWith(name.replace(/e$/, "")));
    const said = `${spokenWords(leaf.path.at(-1) ?? "").join(" ")} ${textOf(leaf) ?? ""}`;
    const weight = DESTROYS.test(name) ? Infinity : 4;
    return {
      joint: ", ",
      weight,
      say: (most) => (list && weight === Infinity ? `${said}: ${listed(list, most)}` : said),
    };
  });
  const alone = lists.filter(
    ({ words }) => !numbers.some((one) => (words.at(-1) ?? "").startsWith((one.words.at(-1) ?? "").replace(/e$/, ""))),
  );
  return [
    ...parts.toSorted((one, other) => other.weight - one.weight || 0),
    ...alone.map((leaf): Part => {
      const name = spokenWords(leaf.path.at(-1) ?? "").join(" ");
      const weight = DESTROYS.test(leaf.words.at(-1) ?? "") ? Infinity : 4;
      return { joint: ", ", weight, say: (most) => `${name} ${listed(leaf, most)}` };
    }),
  ];
}

function placeParts(facts: CallFacts): Part[] {
  const { byRole, say, called, isTool } = facts;
  const environments = byRole("environment").map((leaf): Part => {
    return { joint: ", ", weight: Infinity, say: (most) => bare(textOf(leaf) ?? "", most) };
  });
  const places = byRole("place").filter((leaf) => !isNamedAmong(leaf, called.words));
  const owner = places.find(({ words }) => ["owner", "org", "organization"].includes(words.at(-1) ?? ""));
  const repository = places.find(({ words }) => words.at(-1) === "repository");
  const pair = owner && repository ? `${textOf(owner) ?? ""}/${textOf(repository) ?? ""}` : null;
  const rest = places.filter((leaf) => pair === null || (leaf !== owner && leaf !== repository));
  const first: Part[] =
    pair === null ? [] : [{ joint: "~", weight: Infinity, say: (most) => say.in(bare(pair, most)) }];
  const others = rest.map((leaf, i): Part => {
    const isFirst = i === 0 && pair === null;
    return {
      joint: isFirst ? "~" : ", ",
      weight: isFirst ? Infinity : isTool ? 3 : 7,
      say: (most) =>
        isFirst && !/^\d+$/.test(textOf(leaf) ?? "")
          ? say.in(valueText(leaf, facts, most))
          : labelled(leaf, facts, most),
    };
  });
  const visible = byRole("visibility").map((leaf): Part => {
    return { joint: ", ", weight: 8, say: (most) => bare(textOf(leaf) ?? "", most) };
  });
  return [...first, ...others, ...environments, ...visible];
}

/** Switches come last and replace nothing. */
function switchParts({ byRole, say }: CallFacts): Part[] {
  return byRole("switch").flatMap((leaf): Part[] => {
    const fact = switchFact(leaf);
    if (!fact && reachesAll(leaf)) return [{ joint: ", ", weight: Infinity, say: () => leaf.words.join(" ") }];
    if (!fact) return [];
    if (fact.kind === "dry run") return [{ joint: ", ", weight: 8, say: () => say.dryRun }];
    return [
      { joint: ", ", weight: Infinity, say: () => (fact.kind === "without" ? say.without(fact.words) : fact.words) },
    ];
  });
}

/** The words of a note or a message, where they are short; other words about the call only where there is nothing else. */
function wordParts(facts: CallFacts, isNothingElse: boolean): Part[] {
  if (facts.isTool) return [];
  const isShort = (leaf: ArgumentLeaf) => {
    const text = textOf(leaf) ?? "";
    return text.length <= LONGEST_WORDS && !/[\r\n]/.test(text);
  };
  const hasTitle = facts.all.some(({ path }) => TITLES.test(path.at(-1) ?? ""));
  const said = facts
    .byRole("about")
    .filter(
      (leaf) =>
        leaf.value.kind !== "list" &&
        (isNothingElse || (!hasTitle && isShort(leaf) && SAID.has(leaf.path.at(-1) ?? ""))),
    );
  return said.slice(0, 1).map((leaf) => ({ joint: ": ", weight: 2, say: (most) => quoted(textOf(leaf) ?? "", most) }));
}

const SAID = new Set(["text", "message", "comment", "note", "body", "content"]);
