import { inQuotes, quoted } from "../../requests/model/agent-words.ts";
import type { RequestView } from "../../requests/model/view.ts";
import type { Notice } from "../channel.ts";
import type { PhoneChannel } from "../kinds.ts";

/** The longest arguments a message shows whole, in characters. */
export const WHOLE_LIMIT: Readonly<Record<PhoneChannel, number>> = { sms: 300, whatsapp: 900 };
const WORDS_MOST: Readonly<Record<PhoneChannel, number>> = { sms: 300, whatsapp: 900 };
const OPTIONS_MOST = 9;
/** The most characters of one possible answer in a template, and in a message that is long. */
const OPTION_MOST = 60;
const LEAST_WORDS = 200;
/** The shortest a name or title is cut to, in characters. Approval never depends on this text. */
const LEAST_NAME = 100;
/** Twilio takes no longer message, in UTF-16 units (its errors 21617 and 21658). */
const MESSAGE_MOST = 1600;
/** WhatsApp takes no longer message of a template: its own words with all that is filled in (Twilio's error 63021). */
const TEMPLATE_MOST = 1024;
/** So much of that is left to the words of the template itself (docs/how-to/phones.md). */
const TEMPLATE_WORDS = 200;

/** Limits of an agent's text: of its words, of its earlier words, of each answer it offers, of names. */
interface TextLimits {
  words: number;
  opening: number;
  /** 0 where the answers are on the page alone. */
  option: number;
  name: number;
}

/** From all that a message shows to the least: a call that may be approved is in each but the last. */
const limitsOf = (kind: PhoneChannel): readonly TextLimits[] => [
  { words: WORDS_MOST[kind], opening: Infinity, option: Infinity, name: Infinity },
  { words: LEAST_WORDS, opening: LEAST_WORDS, option: OPTION_MOST, name: Infinity },
  { words: 0, opening: LEAST_WORDS, option: 0, name: Infinity },
  LEAST,
];
const LEAST: TextLimits = { words: 0, opening: LEAST_NAME, option: 0, name: LEAST_NAME };

/** Returns the first text that is not too long, of those that say less and less. */
function longestTaken(texts: readonly string[], most = MESSAGE_MOST): string {
  return texts.find(({ length }) => length <= most) ?? texts.at(-1) ?? "";
}

/** Where a message is approved by its code, what is approved is not cut: `showsWhole` says that it need not be. */
const mayCut = ({ view, whole }: Notice): boolean => view.kind !== "approval" || !whole;

/**
 * Returns whether each message that may go out shows the function and all of its arguments: with a template of WhatsApp
 * also that.
 */
export function showsWhole(kind: PhoneChannel, notice: Notice, hasTemplate: boolean): boolean {
  if (textOf(kind, notice).length > MESSAGE_MOST) return false;
  return kind !== "whatsapp" || !hasTemplate || askedIn(notice).length <= roomInTemplate(notice);
}

/**
 * Returns a whole message: who asks, what, until when, how to answer by words, and the page. Every line that is not ours
 * begins with a mark. Where it would be longer than Twilio takes, the agent's words and the answers it offers make room.
 */
export function textOf(kind: PhoneChannel, notice: Notice): string {
  const rooms = limitsOf(kind).filter((room) => room !== LEAST || mayCut(notice));
  return longestTaken(rooms.map((limits) => textIn(limits, notice)));
}

function textIn(room: TextLimits, notice: Notice): string {
  const { view, link, opening, reminder, renewal } = notice;
  return lines(
    reminder && (renewal ? "In place of an earlier message, whose link a program can read:" : "Reminder:"),
    ...(opening ? ["The program says:", quoted(cut(opening, room.opening))] : []),
    `${cut(view.agent, room.name)} (a program) asks:`,
    quoted(cut(view.sentence ?? view.title, room.name)),
    view.risk !== undefined && `${view.risk.word}.`,
    ...callLines(notice, room),
    ...wordLines(view.words, room),
    ...optionLines(view, room),
    (view.shape?.kind === "number" || view.shape?.kind === "text") &&
      `The answer is ${cut(view.shape.says, room.name)}.`,
    view.expiresAt !== null && `Until ${timeOf(view.expiresAt)}.`,
    howToAnswer(notice),
    link,
  );
}

/**
 * Returns the variables of a WhatsApp template; their values must be single lines. The possible answers are listed in
 * full while WhatsApp takes them, and the agent's words are shortened for them.
 */
export function templateVariables(notice: Notice): Readonly<Record<string, string>> {
  const { code, link, delivery } = notice;
  return { "1": agentIn(notice), "2": askedIn(notice), "3": code, "4": link, "5": delivery };
}

const agentIn = ({ view }: Notice): string => oneLine(cut(view.agent, LEAST_NAME));

/** Returns the characters left for the question. The last variable stands in buttons, which are counted separately. */
function roomInTemplate(notice: Notice): number {
  return TEMPLATE_MOST - TEMPLATE_WORDS - [agentIn(notice), notice.code, notice.link].join("").length;
}

function askedIn(notice: Notice): string {
  const { view } = notice;
  const answers = answersIn(view);
  const forWords = Math.max(LEAST_WORDS, WORDS_MOST.whatsapp - answers.join(" ").length);
  const call = (most: number) =>
    view.fn === null
      ? []
      : [
          `Function: ${quotedLine(cut(view.fn, most))}. Arguments: ${quotedLine(argumentsOf(notice, most))}`,
          restOf(notice),
        ];
  const risk = view.risk === undefined ? [] : [`${view.risk.word}.`];
  const words = (most: number) => (view.words ? [`It says: ${quotedLine(cut(view.words, most))}`] : []);
  const asked = (most: number, ...parts: readonly string[]) =>
    oneLine([quotedLine(cut(view.sentence ?? view.title, most)), ...risk, ...call(most), ...parts].join(" "));
  return longestTaken(
    [
      asked(Infinity, ...answers, ...words(forWords)),
      asked(Infinity, ...answers, ...words(LEAST_WORDS)),
      asked(Infinity, ...answers, ...(view.words ? [ON_PAGE] : [])),
      asked(Infinity, ON_PAGE),
      ...(mayCut(notice) ? [asked(LEAST_NAME, ON_PAGE)] : []),
    ],
    roomInTemplate(notice),
  );
}

const ON_PAGE = "More is on the page.";
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
const quotedLine = (text: string): string => inQuotes(oneLine(text));

function wordLines(words: string, limits: TextLimits): string[] {
  if (!words) return [];
  return limits.words === 0 ? [ON_PAGE] : ["It says:", quoted(cut(words, limits.words))];
}

function callLines(notice: Notice, { name }: TextLimits): readonly string[] {
  const { fn } = notice.view;
  if (fn === null) return [];
  return ["Function:", quoted(cut(fn, name)), "Arguments:", quoted(argumentsOf(notice, name)), restOf(notice)];
}

/** The arguments where all of them fit, else their names. */
function argumentsOf({ view, whole }: Notice, most: number): string {
  return whole ? (view.argumentsText ?? "") : cut(view.argumentNames.join(", "), Math.min(200, most));
}

function restOf({ view, whole }: Notice): string {
  return whole ? "" : `${view.argumentsLength} characters are on the page.`;
}

function optionLines({ kind, options }: RequestView, limits: TextLimits): string[] {
  if (options.length === 0) return [];
  if (limits.option === 0) return [`${headOf(kind)} on the page.`];
  const each = options
    .slice(0, OPTIONS_MOST)
    .map((option, i) => quoted(`#${i + 1} ${cut(option.title ?? option.name, limits.option)}`));
  const shown = [headOf(kind), ...each];
  return options.length > OPTIONS_MOST ? [...shown, "More are on the page."] : shown;
}

/** Returns the possible answers, as parts of a line. */
function answersIn({ kind, options, shape }: RequestView): string[] {
  if (shape?.kind === "number" || shape?.kind === "text") return [`The answer is ${quotedLine(shape.says)}.`];
  if (shape?.kind === "object" || shape?.kind === "json") return ["It is filled in on the page."];
  if (options.length === 0) return [];
  const each = options
    .slice(0, OPTIONS_MOST)
    .map(({ title, name }, i) => `#${i + 1} ${quotedLine(cut(title ?? name, OPTION_MOST))}`);
  const comment = shape?.kind === "decision" && shape.comment !== "none" ? " A comment may follow after a comma." : "";
  const more = options.length > OPTIONS_MOST ? " More are on the page." : "";
  return [`${headOf(kind)} ${each.join(", ")}.${comment}${more}`];
}

const headOf = (kind: RequestView["kind"]): string => (kind === "approval" ? "Ways to reject:" : "Ready-made answers:");

function howToAnswer({ view, whole, code }: Notice): string {
  if (view.kind === "approval")
    return whole ? `Reply YES ${code} or NO ${code}, or decide here:` : `Decide here, with the code ${code}:`;
  const { shape } = view;
  if (shape?.kind === "object" || shape?.kind === "json") return `Fill it in here, with the code ${code}:`;
  const what = shape?.kind === "decision" ? "YES or NO, and a comment after a comma" : "your answer";
  return `Reply with ${what} (${code} first if several requests wait), or answer here with that code:`;
}

function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function cut(text: string, most: number): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join("")}… (the rest is on the page)`;
}

function lines(...parts: readonly (string | null | false | undefined)[]): string {
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n");
}
