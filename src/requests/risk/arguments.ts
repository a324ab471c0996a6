import { headOf } from "../facts/function-name.ts";
import { isNamed, textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { mailIn } from "../facts/mail.ts";
import { codeOf } from "../facts/money-names.ts";
import { currencyFor, moneyIn } from "../facts/money.ts";
import { knownSet } from "../facts/name-words.ts";
import { roleOf } from "../facts/roles.ts";
import { switchFact } from "../facts/switches.ts";
import { overLimit } from "./limits.ts";
import { isProduction, type RiskFact, type Judgement } from "./reason.ts";
import { isReader, REMOVES, TAKES_AWAY } from "./verbs.ts";

const GRAVE = knownSet(
  "user account member database table repository bucket volume cluster server host domain project organization org team backup tenant workspace vault key instance service customer employee subscription",
);
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
const MANY = 50;

/** Judges a call by its arguments, whatever its function does with them; by the function's name only what it takes away. */
export function judgedArguments(fn: string, leaves: readonly ArgumentLeaf[]): Judgement {
  const { head, words } = headOf(fn);
  if (isReader(words)) {
    return { facts: [], onlyReads: opensNothing(words, leaves) && leaves.every((leaf) => switched(leaf).length === 0) };
  }
  const facts = [
    ...taken(head, words, leaves),
    ...leaves.flatMap(switched),
    ...amounts(leaves),
    ...addressed(words, leaves),
    ...leaves.flatMap(opened),
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
  const takes =
    fn.some((word) => TAKES_AWAY.has(word)) ||
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
    } else if (role === "count" && number >= (takes ? 2 : MANY) && !isNamed(leaf, RECEIVER_COUNT)) {
      facts.push({ kind: "loses", says: `${leaf.path.at(-1) ?? ""}: ${grouped(text)}` });
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
  if (fact.kind === "on" && /^(?:auto|recursive$|replace)/.test(fact.words)) return [];
  return [{ kind: "forces", says: fact.kind === "without" ? `without ${fact.words}` : fact.words }];
}

function amounts(leaves: readonly ArgumentLeaf[]): RiskFact[] {
  return leaves.flatMap((leaf): RiskFact[] => {
    const digits = textOf(leaf);
    if (digits === null || roleOf(leaf) !== "amount") return [];
    const money = moneyIn([...leaf.above, ...leaf.words], digits, currencyFor(leaf, leaves));
    const [, sign = "", before = "", after = ""] =
      /^([€$£¥]?)([A-Z]{3})? ?[-+]?[\d.,'’ ]+? ?([€$£¥]|[A-Z]{3})?$/.exec(digits.trim()) ?? [];
    const currency = codeOf(money?.currency) ?? codeOf(before) ?? codeOf(after) ?? SIGNS[sign || after] ?? null;
    const amount = amountOf(money?.amount ?? digits.replace(/[^\d.,'’ -]/g, "").trim());
    if (amount === null) return [];
    const over = overLimit(Math.abs(amount), currency);
    if (over === "no") return [];
    return [
      {
        kind: over === "yes" ? "money" : "unread",
        says: `${grouped(String(amount))}${currency === null ? "" : ` ${currency}`}`,
      },
    ];
  });
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
  return wide === undefined ? [] : [{ kind: "unread", says: wide }];
}

function opened(leaf: ArgumentLeaf): RiskFact[] {
  const isGrant =
    roleOf(leaf) === "grant" || isNamed(leaf, knownSet("role group permission access level policy privilege scope"));
  const texts: readonly unknown[] = leaf.value.kind === "list" ? leaf.value.items : [textOf(leaf)];
  const name = leaf.path.at(-1) ?? "";
  if (leaf.value.kind === "switch")
    return leaf.value.on && OWNS.test(name.replaceAll("_", " ")) ? [{ kind: "opens", says: name }] : [];
  if (!isGrant) return [];
  return texts.flatMap((text): RiskFact[] =>
    typeof text === "string" && text.length <= 200 && (OWNS.test(text) || /^\*(?::\*)?$|public-read/.test(text))
      ? [{ kind: "opens", says: `${name}: ${text}` }]
      : [],
  );
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
  if (
    !fn.some((word) => HANDS_OUT.has(word)) ||
    (!["field", "column", "attribute", "include", "select", "property"].some((name) =>
      leaves.some(({ words }) => words.includes(name)),
    ) &&
      !fn.some((word) => PEOPLE.has(word)))
  )
    return [];
  const fields = leaves.flatMap((leaf) =>
    leaf.value.kind === "list" ? leaf.value.items.filter((item): item is string => typeof item === "string") : [],
  );
  const personal = fields.filter((field) => field.split(/[^a-z]+/i).some((word) => PERSONAL.has(word.toLowerCase())));
  const rows = leaves.find((leaf) => leaf.value.kind === "number" && roleOf(leaf) === "count");
  const to = leaves.find((leaf) => /^[a-z][a-z\d+.-]{0,40}:\/\/|@/i.test(textOf(leaf) ?? ""));
  if (personal.length === 0 && (to === undefined || !fn.some((word) => PEOPLE.has(word)))) return [];
  const said = [
    personal.slice(0, 4).join(", "),
    rows ? `${grouped(textOf(rows) ?? "")} rows` : "",
    to ? (textOf(to) ?? "").slice(0, 80) : "",
  ];
  return [{ kind: "data", says: said.filter((part) => part !== "").join("; ") }];
}
