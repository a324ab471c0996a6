import { sumOf } from "../facts/batch.ts";
import { headOf } from "../facts/function-name.ts";
import { isNamed, textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { mailIn } from "../facts/mail.ts";
import { changesIn } from "../facts/changes.ts";
import { codeOf } from "../facts/money-names.ts";
import { currencyFor, moneyIn } from "../facts/money.ts";
import { knownSet, knownWords } from "../facts/name-words.ts";
import { roleOf } from "../facts/roles.ts";
import { switchFact } from "../facts/switches.ts";
import { type AmountLimits, overLimit } from "./limits.ts";
import { isProduction, type RiskFact, type Judgement } from "./reason.ts";
import { changes, isReader, REMOVES, TAKES_AWAY } from "./verbs.ts";

const GRAVE = knownSet(
  "user account member database table repository bucket volume cluster server host domain project organization org team backup tenant workspace vault key instance service customer employee subscription",
  "redis queue index disk certificate mfa 2fa firewall encryption protection audit sso waf",
);
/** One of these is soon made again; all of them at once are not. */
const SMALL = knownSet("comment label reaction draft reminder bookmark todo cache");
const AT_ONCE = knownSet("all bulk many batch every");
const MAKES = knownSet("create add generate issue register rotate upload set update");
const ACCESS = knownSet("ssh api deploy access gpg personal auth");
/** Functions that set who may do something. */
const GRANTS = knownSet("access permission policy acl grant share allow sharing privilege");
const HANDS_OVER = knownSet("owner ownership impersonate assume elevate");
const SHOWS = knownSet("make set share expose change turn");
const GROUPS = knownSet("segment audience cohort");
const SUBJECTS = knownSet("table collection dataset report entity model");
const CHOOSES = knownSet("action method operation op verb mode state command type strategy");
const SIZES = knownSet("replica instance node capacity desired size scale concurrency worker pod min count");
const SCALES = knownSet("scale resize replica autoscale set update");
const PLACES = knownSet(
  "env environment namespace stage workspace cluster database project context region target tenant account site host server profile folder directory",
);
const PERSONAL = knownSet(
  "email mail phone birth birthdate birthday dob address ssn iban passport name surname firstname lastname salary gender religion health diagnosis location ip card",
);
const PEOPLE = knownSet(
  "customer user patient employee member contact person people subscriber lead student tenant applicant",
);
const HANDS_OUT = knownSet("export download dump share send upload sync transfer extract copy publish");
const RECEIVER_COUNT = knownSet(
  "recipient recipients receiver receivers subscriber subscribers audience contact contacts member members people",
);
const OWNS =
  /(?:^|[^a-z])(?:owner|admin|administrator|superuser|super[-_ ]?admin|root|sudo|wheel|sysadmin|db_owner|administratoraccess|poweruser\w*|iamfullaccess)(?:s|istrators)?(?:$|[^a-z])/i;
const SENSITIVE = knownSet("secret password passphrase token credential key private wallet");
const RUNS = knownSet("command cmd code script sql query statement expression eval exec program");
const BOUGHT_OR_REACHED = new Set([...RECEIVER_COUNT, "quantity", "seat"]);
const MANY = 50;
const LONGEST_LOOKED_THROUGH = 20_000;

/** Judges a call by its arguments, whatever its function does with them; by the function's name only what it takes away. */
export function judgedArguments(fn: string, leaves: readonly ArgumentLeaf[], limits: AmountLimits): Judgement {
  const { head, words } = headOf(fn);
  const mutations = leaves.flatMap(mutated);
  if (isReader(words) && mutations.length === 0) {
    return { facts: [], onlyReads: opensNothing(words, leaves) && leaves.every((leaf) => switched(leaf).length === 0) };
  }
  const facts = [
    ...taken(head, words, leaves),
    ...leaves.flatMap(switched),
    ...amounts(leaves, limits),
    ...addressed(words, leaves),
    ...mutations,
    ...leaves.flatMap(opened),
    ...published(head, words, leaves),
    ...handedOver(head, words, leaves),
    ...leaves.flatMap(scaledToNothing(words)),
    ...leaves.flatMap(inProduction),
    ...handedOut(words, leaves),
  ];
  return { facts, onlyReads: false };
}

/** A call that reads has no key or secret, no address elsewhere, and runs nothing. */
function opensNothing(fn: readonly string[], leaves: readonly ArgumentLeaf[]): boolean {
  if (fn.some((word) => SENSITIVE.has(word))) return false;
  return leaves.every((leaf) => {
    const text = textOf(leaf) ?? "";
    return !isNamed(leaf, SENSITIVE) && !isNamed(leaf, RUNS) && !/[a-z][a-z\d+.-]{0,40}:\/\//i.test(text);
  });
}

function taken(head: string, fn: readonly string[], leaves: readonly ArgumentLeaf[]): RiskFact[] {
  const isSmall = fn.some((word) => SMALL.has(word)) && !fn.some((word) => AT_ONCE.has(word));
  const takes =
    (fn.some((word) => TAKES_AWAY.has(word)) && !isSmall) ||
    (fn.some((word) => REMOVES.has(word)) && fn.some((word) => GRAVE.has(word)));
  const facts: RiskFact[] = [];
  for (const leaf of leaves) {
    const text = textOf(leaf) ?? "";
    const role = roleOf(leaf);
    const number = leaf.value.kind === "number" ? Number(leaf.value.text) : 0;
    if (
      role === "effect" &&
      number > 0 &&
      leaf.words.some((word) => TAKES_AWAY.has(word) || REMOVES.has(word) || word === "replace")
    ) {
      const names = leaves.flatMap((one) =>
        one.value.kind === "list" && startsAlike(one, leaf) ? one.value.items.map(String) : [],
      );
      facts.push({
        kind: "loses",
        says: `${leaf.words.join(" ")}s ${text}${names.length > 0 ? `: ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}` : ""}`,
      });
    } else if (role === "count" && number >= (takes ? 2 : MANY) && !isNamed(leaf, BOUGHT_OR_REACHED)) {
      facts.push({ kind: "loses", says: `${leaf.path.at(-1) ?? ""}: ${grouped(text)}` });
    } else if (role === "filter" && text === "" && changes(fn)) {
      facts.push({ kind: "loses", says: `no ${leaf.path.at(-1) ?? ""}` });
    } else if (isNamed(leaf, CHOOSES) && leaf.value.kind === "text" && text.length <= 40) {
      const chosen = text.toLowerCase().split(/[^a-z]+/);
      const removes = chosen.some((word) => TAKES_AWAY.has(word) || word === "remove");
      if (removes) facts.push({ kind: "loses", says: `${leaf.path.at(-1) ?? ""}: ${text}` });
    }
  }
  return takes ? [{ kind: "loses", says: head }, ...facts] : facts;
}

/** `destroy` and `destroyed`. */
function startsAlike(one: ArgumentLeaf, other: ArgumentLeaf): boolean {
  const [word = ""] = other.words;
  return one.words.some((each) => each.startsWith(word.replace(/e$/, "")));
}

function switched(leaf: ArgumentLeaf): RiskFact[] {
  const fact = switchFact(leaf);
  if (fact === null || fact.kind === "dry run") return [];
  // An agent asks no second question by it: a person is asked here.
  if (fact.kind === "on" && /^(?:auto|recursive$|replace|delete (?:\w+ )?branch$)/.test(fact.words)) return [];
  return [{ kind: "forces", says: fact.kind === "without" ? `without ${fact.words}` : fact.words }];
}

function amounts(leaves: readonly ArgumentLeaf[], limits: AmountLimits): RiskFact[] {
  const changed = new Set(changesIn(leaves).map(({ after }) => after));
  return leaves.flatMap((leaf): RiskFact[] => {
    const sum = sumOf(leaf, leaves);
    if (sum !== null) return judgedAmount(amountOf(sum.amount), codeOf(sum.currency), limits);
    const digits = textOf(leaf);
    const isChanged = changed.has(leaf) && currencyFor(leaf, leaves) !== null;
    if (digits === null || (roleOf(leaf) !== "amount" && !isChanged)) return [];
    const money = moneyIn([...leaf.above, ...leaf.words], digits, currencyFor(leaf, leaves));
    const [, sign = "", before = "", after = ""] =
      /^([€$£¥]?)([A-Z]{3})? ?[-+]?[\d.,'’ ]+? ?([€$£¥]|[A-Z]{3})?$/.exec(digits.trim()) ?? [];
    const currency = codeOf(money?.currency) ?? codeOf(before) ?? codeOf(after) ?? SIGNS[sign || after] ?? null;
    const amount = amountOf(money?.amount ?? digits.replace(/[^\d.,'’ -]/g, "").trim());
    return judgedAmount(amount, currency, limits);
  });
}

function judgedAmount(amount: number | null, currency: string | null, limits: AmountLimits): RiskFact[] {
  const over = amount === null ? "no" : overLimit(Math.abs(amount), currency, limits);
  if (over === "no") return [];
  const says = `${grouped(String(amount))}${currency === null ? "" : ` ${currency}`}`;
  return [{ kind: over === "yes" ? "money" : "unread", says }];
}

const SIGNS: Readonly<Record<string, string>> = { "€": "EUR", $: "USD", "£": "GBP", "¥": "JPY" };

/** The number of an amount: the last of a point and a comma, if one to two digits follow, stands before the fraction. */
function amountOf(text: string): number | null {
  const [, whole = "", fraction = ""] = /^(-?\d[\d.,'’\s]*?)(?:[.,](\d{1,2}|\d{4,}))?$/.exec(text) ?? [];
  const digits = whole.replace(/[.,'’\s]/g, "");
  return digits === "" ? null : Number(`${digits}.${fraction || "0"}`);
}

/** `48211` is 48,211. */
function grouped(digits: string): string {
  const number = Number(digits);
  return Number.isFinite(number) ? number.toLocaleString("en", { maximumFractionDigits: 2 }) : digits;
}

function addressed(fn: readonly string[], leaves: readonly ArgumentLeaf[]): RiskFact[] {
  const mail = mailIn(fn, leaves);
  const isSent =
    mail !== null ||
    fn.some((word) => ["send", "notify", "mail", "email", "broadcast", "post", "push", "sms", "invite"].includes(word));
  if (!isSent) return [];
  const receivers = mail?.receivers ?? [];
  const written = receivers.flatMap((one) =>
    [...one.matchAll(/(?<![\p{L}\d.@-])\d{1,3}(?:[,.' ]\d{3})+(?!\d)|\((\d+)\)/gu)].map(([whole]) =>
      Number(whole.replace(/\D/g, "")),
    ),
  );
  const counted = leaves.flatMap((leaf) =>
    leaf.value.kind === "number" && isNamed(leaf, RECEIVER_COUNT) ? [Number(leaf.value.text)] : [],
  );
  const most = Math.max(receivers.length, ...written, ...counted);
  if (most >= MANY) return [{ kind: "people", says: grouped(String(most)) }];
  const wide = receivers.find((one) =>
    /^(?:list|group|segment|audience|all|everyone)[:@-]|^(?:all|everyone|alle)$|newsletter/i.test(one),
  );
  const loud = leaves
    .map(textOf)
    .find(
      (text) => text !== null && /(?:^|\s)(?:@(?:channel|everyone|here|all)|<!(?:channel|everyone|here)>)/.test(text),
    );
  if (loud !== undefined && loud !== null)
    return [{ kind: "people", says: /@?(?:channel|everyone|here|all)/.exec(loud)?.[0] ?? "" }];
  if (wide !== undefined) return [{ kind: "unread", says: wide }];
  // Nobody sees how many belong to it, unless they are counted.
  const group =
    counted.length > 0 ? undefined : leaves.find((leaf) => isNamed(leaf, GROUPS) && leaf.value.kind === "text");
  return group === undefined ? [] : [{ kind: "unread", says: textOf(group) ?? "" }];
}

/** A mutation of GraphQL by the name of its field; it stands where a question may stand. */
function mutated(leaf: ArgumentLeaf): RiskFact[] {
  const text = (textOf(leaf) ?? "").slice(0, LONGEST_LOOKED_THROUGH);
  if (!/^\s*mutation\b/.test(text)) return [];
  const lost = /\b(?:delete|destroy|drop|purge|wipe|erase|truncate|terminate|revoke|remove)[A-Z_]\w{0,60}/.exec(text);
  return lost === null ? [{ kind: "unread", says: "mutation" }] : [{ kind: "loses", says: lost[0] }];
}

/** Returns what opens a thing of a few people to everybody: by the function's name, or by a switch or a word of a grave thing. */
function published(head: string, fn: readonly string[], leaves: readonly ArgumentLeaf[]): RiskFact[] {
  const isGrave = fn.some((word) => GRAVE.has(word) || GRANTS.has(word));
  if (fn.includes("public") && (isGrave || SHOWS.has(fn[0] ?? ""))) return [{ kind: "opens", says: head }];
  if (!isGrave) return [];
  return leaves.flatMap((leaf): RiskFact[] => {
    const name = leaf.path.at(-1) ?? "";
    const { value } = leaf;
    const isOpen =
      value.kind === "switch"
        ? leaf.words.includes(value.on ? "public" : "private")
        : roleOf(leaf) === "visibility" && /^(?:public|everyone|anyone|world)$/i.test(textOf(leaf) ?? "");
    const said = value.kind === "switch" ? String(value.on) : (textOf(leaf) ?? "");
    return isOpen ? [{ kind: "opens", says: `${name}: ${said}` }] : [];
  });
}

function opened(leaf: ArgumentLeaf): RiskFact[] {
  const isGrant =
    roleOf(leaf) === "grant" || isNamed(leaf, knownSet("role group permission access level policy privilege scope"));
  const texts: readonly unknown[] = leaf.value.kind === "list" ? leaf.value.items : [textOf(leaf)];
  const name = leaf.path.at(-1) ?? "";
  if (leaf.value.kind === "switch")
    return leaf.value.on && OWNS.test(name.replaceAll("_", " ")) ? [{ kind: "opens", says: name }] : [];
  const written = texts.map((one) => (typeof one === "string" ? one : (JSON.stringify(one) ?? "")));
  const everybody = written.find((text) => isEverybody(text.slice(0, LONGEST_LOOKED_THROUGH)));
  if (everybody !== undefined) return [{ kind: "opens", says: `${name}: ${everybody}` }];
  if (!isGrant) return [];
  return texts.flatMap((text): RiskFact[] =>
    typeof text === "string" && text.length <= 200 && (OWNS.test(text) || /^\*(?::\*)?$|public-read/.test(text))
      ? [{ kind: "opens", says: `${name}: ${text}` }]
      : [],
  );
}

/** Who may act: another owner, somebody's place, a key or a token, a share for everybody; and where events go. */
function handedOver(head: string, fn: readonly string[], leaves: readonly ArgumentLeaf[]): RiskFact[] {
  const has = (kind: ReadonlySet<string>) => fn.some((word) => kind.has(word));
  const isMoved = fn[0] === "transfer" && has(GRAVE) && !leaves.some((leaf) => roleOf(leaf) === "amount");
  const isKey = has(MAKES) && has(ACCESS) && fn.some((word) => ["key", "token", "credential"].includes(word));
  if (has(HANDS_OVER) || isMoved || isKey) return [{ kind: "opens", says: head }];
  const texts = leaves.map((leaf) => textOf(leaf) ?? "");
  const members = leaves.flatMap(({ value }) =>
    value.kind === "list" ? value.items.filter((one) => typeof one === "string") : [],
  );
  const everybody = [...texts, ...members].find((text) => /^(?:\*|anyone|everyone|everybody|public)$/i.test(text));
  if (has(GRANTS) && everybody !== undefined) return [{ kind: "opens", says: `${head}: ${everybody}` }];
  const url = texts.find((text) => /^https?:\/\//i.test(text));
  return fn.includes("webhook") && has(MAKES) && url !== undefined ? [{ kind: "data", says: url }] : [];
}

/** The whole internet as an address, and a policy of a cloud for everybody or for every action. */
function isEverybody(text: string): boolean {
  if (/^(?:0\.0\.0\.0\/0|::\/0)$|"(?:0\.0\.0\.0\/0|::\/0)"/.test(text)) return true;
  return /"(?:Principal|AWS|Action)"\s*:\s*(?:\[\s*)?"\*"/.test(text);
}

function scaledToNothing(fn: readonly string[]): (leaf: ArgumentLeaf) => RiskFact[] {
  const scales = fn.some((word) => SCALES.has(word));
  return (leaf) => {
    const isAfter =
      ["to", "new", "target"].includes(leaf.path.at(-1) ?? "") && leaf.above.some((word) => SIZES.has(word));
    const isNone =
      scales && leaf.value.kind === "number" && Number(leaf.value.text) === 0 && (isAfter || isNamed(leaf, SIZES));
    const isOld = leaf.words.some((word) => ["old", "min", "from"].includes(word));
    return isNone && !isOld ? [{ kind: "loses", says: `${leaf.path.join(" ")}: 0` }] : [];
  };
}

function inProduction(leaf: ArgumentLeaf): RiskFact[] {
  const text = leaf.value.kind === "text" ? leaf.value.text : "";
  const isPlace = leaf.words.some((word) => PLACES.has(word));
  return isPlace && text.length <= 200 && isProduction(text)
    ? [{ kind: "place", says: `${leaf.path.at(-1) ?? ""}: ${text}` }]
    : [];
}

function handedOut(fn: readonly string[], leaves: readonly ArgumentLeaf[]): RiskFact[] {
  const isAboutPeople =
    fn.some((word) => PEOPLE.has(word)) ||
    leaves.some((leaf) => isNamed(leaf, SUBJECTS) && knownWords(textOf(leaf) ?? "").some((word) => PEOPLE.has(word)));
  if (
    !fn.some((word) => HANDS_OUT.has(word)) ||
    (!["field", "column", "attribute", "include", "select", "property"].some((name) =>
      leaves.some(({ words }) => words.includes(name)),
    ) &&
      !isAboutPeople)
  )
    return [];
  const fields = leaves.flatMap((leaf) =>
    leaf.value.kind === "list" ? leaf.value.items.filter((item): item is string => typeof item === "string") : [],
  );
  const personal = fields.filter((field) => field.split(/[^a-z]+/i).some((word) => PERSONAL.has(word.toLowerCase())));
  const rows = leaves.find((leaf) => leaf.value.kind === "number" && roleOf(leaf) === "count");
  const to = leaves.find((leaf) => /^[a-z][a-z\d+.-]{0,40}:\/\/|@/i.test(textOf(leaf) ?? ""));
  if (personal.length === 0 && (to === undefined || !isAboutPeople)) return [];
  const said = [
    personal.slice(0, 4).join(", "),
    rows ? `${grouped(textOf(rows) ?? "")} rows` : "",
    to ? (textOf(to) ?? "").slice(0, 80) : "",
  ];
  return [{ kind: "data", says: said.filter((part) => part !== "").join("; ") }];
}
