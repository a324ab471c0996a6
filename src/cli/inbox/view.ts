import { systemClock } from "../../lib/clock.ts";
import { clockText } from "../../lib/duration.ts";
import { printable, printableExactly, printableLines, printableLinesExactly } from "../../lib/printable.ts";
import type { InboxRequest, InboxRequestDetail } from "./client.ts";
import { table } from "../print.ts";

const LISTED_LENGTH = 60;
const RULE = "─".repeat(40);
const KINDS = { approval: "approve?", reply: "answer", value: "answer" } as const;
const MARKS = { low: "low risk", normal: "normal risk", high: "high risk", unjudged: "not judged" } as const;

/** Returns a numbered line for each ask, of which `before` came on earlier pages. */
export function listLines(asks: readonly InboxRequest[], before = 0): string[] {
  const rows = asks.map((ask, i) => {
    const line = ask.sentence ?? ask.title;
    const sentence = ask.kind === "approval" ? printableExactly(line) : printable(line);
    const cut = [...sentence].slice(0, LISTED_LENGTH).join("");
    const shown = cut.length < sentence.length ? `${cut} ...` : cut;
    const what =
      ask.risk === "high" || ask.risk === "unjudged" ? `${KINDS[ask.kind]} ${MARKS[ask.risk]}` : KINDS[ask.kind];
    return [String(before + i + 1), what, shown, printable(ask.agent), leftText(ask), ask.id];
  });
  return table(["", "WHAT", "TITLE", "FROM", "LEFT", "ID"], rows);
}

function leftText({ expires_at: at }: Pick<InboxRequest, "expires_at">): string {
  return at === null ? "-" : clockText(Date.parse(at) - systemClock.now());
}

/** Returns everything there is to see of an ask, its arguments in full; secrets in them are masked without `secrets`. */
export function wholeLines(ask: InboxRequestDetail, secrets: boolean): string[] {
  const from = ask.run === null ? printable(ask.agent) : `${printable(ask.agent)}, run ${printable(ask.run)}`;
  return [
    ask.kind === "approval" ? `${from} wants to run ${printableExactly(ask.fn ?? ask.title)}` : `${from} asks:`,
    ...(ask.kind === "approval" && ask.sentence !== undefined ? [`  ${printableExactly(ask.sentence)}`] : []),
    ...riskLines(ask),
    ...argumentLines(ask, secrets),
    ...wordLines(ask),
    ...ask.options.flatMap(optionLines),
    ...schemaLines(ask),
    ...ask.decisions.map(({ by, approved, comment }) => {
      const what = approved === null ? "answered" : approved ? "approved" : "rejected";
      return `${printable(by.name ?? "somebody")} has ${what}${comment === null ? "" : `: ${printable(comment)}`}`;
    }),
    ...stateLines(ask),
  ];
}

/** How risky an open call looks, and why; an ordinary one has no line. */
function riskLines({ kind, state, risk, risk_reasons: reasons }: InboxRequestDetail): string[] {
  if (kind !== "approval" || state !== "open" || risk === undefined) return [];
  if ((risk === "low" || risk === "normal") && (reasons ?? []).length === 0) return [];
  const why = (reasons ?? []).map((reason) => printableExactly(reason.says || TRAITS[reason.kind] || reason.kind));
  return [`  ${MARKS[risk]}${why.length === 0 ? "" : `: ${why.join("; ")}`}`];
}

/** Reasons that quote nothing. */
const TRAITS: Readonly<Record<string, string>> = {
  joint: "several people must agree",
  unseen: "its name holds characters that nobody can see",
  long: "its arguments are too long to look through",
  secret: "an argument holds a secret",
};

/** Returns whether some of the arguments hold a secret. */
export function holdsSecrets({ arguments: rows }: Pick<InboxRequestDetail, "arguments">): boolean {
  return rows?.some(({ secret }) => secret) ?? false;
}

/** The arguments are exactly what is hashed; a line break within a text begins a new line here. */
function argumentLines({ arguments: rows, digest }: InboxRequestDetail, secrets: boolean): string[] {
  if (rows === null) return [];
  const lines = rows.flatMap(({ name, text, secret, masked }) => {
    const isMasked = secret && !secrets;
    const [first = "", ...more] = printableLinesExactly(isMasked ? (masked ?? "") : text);
    const notice = [`  ${printableExactly(name)}: ${first}`, ...more.map((line) => `      ${line}`)];
    return isMasked ? [...notice.slice(0, -1), `${(notice.at(-1) ?? "").trimEnd()} (holds a secret)`] : notice;
  });
  return [...(lines.length > 0 ? lines : ["  (no arguments)"]), `  ${printable(digest ?? "")}`];
}

function wordLines({ kind, words, agent }: InboxRequestDetail): string[] {
  if (words.trim() === "") return [];
  const lines = printableLines(words).map((line) => `| ${line}`);
  return kind === "approval" ? [RULE, `${printable(agent)} says, which is not part of what runs:`, ...lines] : lines;
}

function schemaLines({ schema, options }: InboxRequestDetail): string[] {
  if (schema === null || options.length > 0) return [];
  return ["The answer fits this schema:", ...printableLines(JSON.stringify(schema, null, 2))];
}

function optionLines({ title, description }: InboxRequestDetail["options"][number], i: number): string[] {
  const about = description === null ? [] : printableLines(description).map((line) => `       | ${line}`);
  return [`  ${i + 1}  ${printable(title)}`, ...about];
}

function stateLines(ask: InboxRequestDetail): string[] {
  if (ask.state !== "open") return [outcomeText(ask)];
  const many = ask.needs.least > 1 ? [`${ask.needs.least} of ${ask.needs.of} have to agree.`] : [];
  const left = ask.expires_at === null ? [] : [`${leftText(ask)} left.`];
  return [[...left, ...many, printable(ask.on_silence)].join(" ")];
}

/** Returns in one line what became of an ask. */
export function outcomeText({ state, kind, outcome }: InboxRequestDetail): string {
  if (state === "open") return "Counted; more people have to agree.";
  if (state !== "answered")
    return state === "expired" ? "It is over: nobody decided in time." : "Its agent withdrew it.";
  const by = outcome?.by?.name ? ` by ${printable(outcome.by.name)}` : "";
  if (kind !== "approval") return `Answered${by}.`;
  return `${outcome?.approved ? "Approved" : "Rejected"}${by}.`;
}
