import { printableLines } from "../../lib/printable.ts";
import { inQuotes, quoted } from "../../requests/model/agent-words.ts";
import type { RequestView, ToldRisk } from "../../requests/model/view.ts";
import type { Closing, Notice } from "../channel.ts";
import {
  type Block,
  cut,
  escaped,
  linkLine,
  MOST_BUTTON,
  MOST_HEADER,
  plain,
  preformatted,
  quote,
  section,
  small,
} from "./blocks.ts";
import type { SlackTarget } from "./target.ts";

/** The longest arguments shown whole, as they are shown; beyond it no message decides. */
export const WHOLE_LIMIT = 2800;
const MOST_WORDS = 3000;
/** A name that is cut could pass for another; a question is on the page. */
const MOST_TITLE = 1000;
/** The most characters of name, arguments and words together: Slack refuses a message that is much longer in all. */
const MOST_TOGETHER = 5500;
const MOST_HELP = 500;
const MOST_SCHEMA = 1000;
const MOST_OPENING = 600;
const MOST_NAMES = 1000;
/** The most characters of one possible answer in plain text, and of all together. */
const MOST_LINE = 200;
const MOST_CHOICES = 2000;
/** The most of the agent's words without blocks. Escaped, `&`, `<` and `>` take up to five; Slack takes 40,000. */
const MOST_PLAIN_WORDS = 2000;
/** The most characters that describe the wanted value. */
const MOST_SAYS = 1000;
/** The most characters of all entries of a menu. */
const MOST_MENU = 5000;
const MOST_RUN = 150;
/** More ready-made answers than this become one menu. */
const MOST_BUTTONS = 5;

/** A message to post. `text` is the whole message where there are no blocks, else the text of its notification. */
export interface Message {
  text: string;
  blocks?: readonly Block[];
}

/**
 * Renders a request. It has buttons only where everything is shown and presses can be received; else it has the link. A
 * message that the asker can read is plain text without buttons.
 */
export function askMessage(notice: Notice<SlackTarget>, hears: boolean): Message {
  const { view, whole } = notice;
  if (notice.target.settings.plain || notice.informsOnly) return { text: plainText(notice) };
  const hasButtons = hears && whole;
  const linked = !hasButtons || view.words.length > roomForWords(view) || isLong(view);
  return {
    text: headline(view),
    blocks: [
      ...opening(notice),
      ...body(view, whole),
      ...(hasButtons ? [...help(view), actions(notice)] : []),
      ...(hasButtons && view.kind !== "approval" ? [small("Or answer in the thread of this message.")] : []),
      ...(linked ? [linkLine("The whole of it: ", notice.link, "open the page", codeOf(notice))] : []),
    ],
  };
}

/** Renders a request that is over: the same without anything to press, and how it ended. */
export function closedMessage(view: RequestView, { says, at }: Closing, { settings }: SlackTarget): Message {
  const outcome = `${says.charAt(0).toUpperCase()}${says.slice(1)}`;
  if (settings.plain) {
    const lines = [headline(view), ...argumentLines(view, true), "", `${escaped(outcome)} ${timeText(at)}`];
    return { text: lines.join("\n") };
  }
  const whole = view.fn === null || isShown(view);
  const when = { type: "mrkdwn", text: dateText(at) };
  return {
    text: `${headline(view)}: ${escaped(outcome)}`,
    blocks: [...body(view, whole), { type: "context", elements: [plain(outcome), when] }],
  };
}

/** One line, as notifications show it. */
function headline({ kind, agent, fn, title, sentence }: RequestView): string {
  const what = kind === "approval" ? `asks for a decision: ${sentence ?? fn}` : `asks: ${inQuotes(title)}`;
  return escaped(cut(`The agent ${agent} ${what}`, 500));
}

function opening({ opening: words, reminder, renewal }: Notice): Block[] {
  return [
    ...(reminder ? [small(againLine(renewal))] : []),
    ...(words ? [small("The agent says, in its own words:"), quote(cut(words, MOST_OPENING))] : []),
  ];
}

function againLine(renewal: boolean | undefined): string {
  return renewal
    ? "The link of an earlier message stood in words that a program can read, and is dead. Answer this message instead."
    : "Reminder: this still waits for an answer.";
}

/**
 * Returns the question, its asker and its deadline, and of a call the function and its arguments. The agent's own words
 * come last and are marked as such.
 */
function body(view: RequestView, whole: boolean): Block[] {
  const subject = view.sentence ?? view.fn ?? inQuotes(cut(view.title, MOST_TITLE));
  return [
    // A sentence or a name that is cut could pass for another.
    subject.length <= MOST_HEADER ? { type: "header", text: plain(subject) } : section(subject),
    ...(view.risk === undefined ? [] : [section(riskLine(view.risk))]),
    { type: "context", elements: facts(view) },
    ...callBlocks(view, whole),
    ...(view.words === "" || !whole
      ? []
      : [small("The agent's own words:"), quote(cut(view.words, roomForWords(view)))]),
    ...answerBlocks(view),
  ];
}

const functionLine = (fn: string): string => `Function: ${fn}`;

/** Without a sentence, the function itself stands at the head. */
function callBlocks(view: RequestView, whole: boolean): Block[] {
  const { fn, sentence, argumentsText } = view;
  if (fn === null) return [];
  const call = whole && argumentsText !== null ? preformatted(argumentsText) : section(missing(view));
  return sentence === undefined ? [call] : [section(functionLine(fn)), call];
}

/** A value that is more than a press or a line is easier to give on the page. */
function isLong({ kind, shape }: RequestView): boolean {
  return kind === "value" && (shape === null || shape.kind === "object" || shape.kind === "json");
}

/** Returns the description of an answer that cannot be given by a button. */
function answerBlocks({ schema, shape }: RequestView): Block[] {
  if (shape?.kind === "number" || shape?.kind === "text")
    return [small(`The answer is ${cut(shape.says, MOST_SAYS)}.`)];
  if (schema === null || shape?.kind !== "json") return [];
  return [small("The answer has to fit this schema:"), preformatted(schemaText(schema))];
}

function riskLine({ word, because }: ToldRisk): string {
  return `${word}: ${because}`;
}

function roomForWords({ fn, title, sentence, risk, argumentsText, options }: RequestView): number {
  const inMenu = options.length > MOST_BUTTONS ? menuLabels(options).join("").length : 0;
  const taken =
    (sentence?.length ?? 0) +
    (risk ? riskLine(risk).length : 0) +
    (fn ?? cut(title, MOST_TITLE)).length +
    (argumentsText?.length ?? 0) +
    inMenu;
  return Math.min(MOST_WORDS, Math.max(300, MOST_TOGETHER - taken));
}

function facts(view: RequestView): object[] {
  const { agent, run, digest, expiresAt, onSilence } = view;
  const who = `Asked by the agent ${cut(agent, MOST_RUN)}, a program`;
  return [
    plain([who, ...(run === null ? [] : [`run ${cut(run, MOST_RUN)}`])].join(" · ")),
    ...(expiresAt === null ? [] : [{ type: "mrkdwn", text: `until ${dateText(expiresAt)}` }]),
    ...(digest === null ? [] : [plain(`digest ${digest.replace("sha256:", "").slice(0, 8)}`)]),
    plain(onSilence),
  ];
}

function isShown({ argumentsText }: RequestView): boolean {
  return argumentsText !== null && argumentsText.length <= WHOLE_LIMIT;
}

function missing({ argumentNames, argumentsLength }: RequestView): string {
  const names = cut(argumentNames.join(", "), MOST_NAMES);
  return `Arguments: ${names}\n${argumentsLength} characters are on the page.`;
}

function schemaText(schema: object): string {
  return cut(printableLines(JSON.stringify(schema, null, 2)).join("\n"), MOST_SCHEMA);
}

/** Returns the agent's descriptions of its ready-made answers. */
function help({ options }: RequestView): Block[] {
  const words = options.flatMap(({ title, name, description }) =>
    description ? [`${title ?? name}: ${description}`] : [],
  );
  return words.length === 0 ? [] : [small("The agent says of the choices:"), quote(cut(words.join("\n"), MOST_HELP))];
}

/** The buttons; each carries the delivery's id, and a menu's entries their place too. */
function actions({ view, delivery }: Notice): Block {
  const { kind, options, shape } = view;
  const button = (action: string, text: string, style?: string) => ({
    type: "button",
    action_id: `parley:${action}`,
    text: plain(text, MOST_BUTTON),
    value: delivery,
    ...(style && { style }),
  });
  const choices =
    options.length <= MOST_BUTTONS
      ? options.map((option, i) => button(`opt:${i}`, labelOf(option, i)))
      : [menu(delivery, menuLabels(options), kind === "approval" ? "Reject because…" : "Choose an answer")];
  return {
    type: "actions",
    elements:
      kind === "approval"
        ? [button("approve", "Approve", "primary"), ...choices, button("reject", "Reject…", "danger")]
        : shape && options.length > 0
          ? choices
          : [...choices, button("answer", options.length > 0 ? "Something else…" : "Answer…")],
  };
}

function labelOf({ title, name }: RequestView["options"][number], place: number): string {
  return (title ?? name).trim() || `#${place + 1}`;
}

/** The entries of a menu, which all together have a place in the message. */
function menuLabels(options: RequestView["options"]): string[] {
  const most = Math.min(MOST_BUTTON, Math.floor(MOST_MENU / options.length));
  return options.map((option, i) => cut(labelOf(option, i), most));
}

function menu(delivery: string, labels: readonly string[], placeholder: string): object {
  return {
    type: "static_select",
    action_id: "parley:options",
    placeholder: plain(placeholder),
    options: labels.map((label, i) => ({ text: plain(label, MOST_BUTTON), value: `${delivery}:${i}` })),
    // Letting go of a menu is no decision yet.
    confirm: {
      title: plain("Answer with this?"),
      text: plain("This is your answer to the agent."),
      confirm: plain("Answer"),
      deny: plain("Back"),
    },
  };
}

/** The whole message without blocks. Whatever decides is a link; a reply may be written in the thread. */
function plainText(notice: Notice<SlackTarget>): string {
  const { view, whole, reminder, renewal, opening: words, link } = notice;
  const { run, expiresAt, onSilence, kind } = view;
  const until = expiresAt === null ? "No deadline" : `Until ${timeText(expiresAt)}`;
  return [
    ...(reminder ? [againLine(renewal)] : []),
    ...(words ? ["The agent says, in its own words:", quoted(escaped(cut(words, MOST_OPENING))), ""] : []),
    headline(view),
    ...(view.risk === undefined ? [] : [escaped(riskLine(view.risk))]),
    `${until}${run === null ? "" : `, run ${escaped(cut(run, MOST_RUN))}`}. ${onSilence}`,
    ...argumentLines(view, whole),
    ...(view.words === "" || !whole
      ? []
      : ["", "The agent's own words:", quoted(escaped(cut(view.words, MOST_PLAIN_WORDS)))]),
    ...answerLines(view),
    "",
    `${kind === "approval" ? "Decide" : "Answer in the thread of this message, or"} on the page: <${link}>${codeOf(notice)}`,
  ].join("\n");
}

/** Returns the possible answers as text, for a message without buttons. */
function answerLines({ kind, options, schema, shape }: RequestView): string[] {
  const each = options.map(({ title, name, description }, i) => {
    const about = description ? ` (${description})` : "";
    return cut(`#${i + 1} ${title ?? name}${about}`, MOST_LINE);
  });
  const head =
    kind === "approval"
      ? "Ways to reject:"
      : shape?.kind === "decision"
        ? "Answers, by name or number, and a comment after a comma:"
        : "Answers, by name or number:";
  if (each.length > 0) return ["", head, quoted(escaped(cut(each.join("\n"), MOST_CHOICES)))];
  switch (shape?.kind) {
    case "number":
    case "text":
      return ["", "The answer is:", quoted(escaped(cut(shape.says, MOST_SAYS)))];
    case "object": {
      const labels = shape.fields.map(({ label }) => cut(label, MOST_LINE)).join("\n");
      return ["", "The answer has these fields:", quoted(escaped(cut(labels, MOST_CHOICES)))];
    }
    case "json":
      return schema === null ? [] : ["", "The answer has to fit this schema:", quoted(escaped(schemaText(schema)))];
    case "choice":
    case "decision":
    case undefined:
      return [];
  }
}

function argumentLines(view: RequestView, whole: boolean): string[] {
  if (view.fn === null) return [];
  const shown = whole && isShown(view);
  const fn = escaped(functionLine(cut(view.fn, MOST_TITLE)));
  return ["", fn, ...(shown ? ["Arguments:", quoted(escaped(view.argumentsText ?? ""))] : [escaped(missing(view))])];
}

/** The page asks for it before anything is decided; it is never in the link, and the inbox asks for none. */
function codeOf({ code }: Notice): string {
  return code === "" ? "" : ` (code ${code})`;
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** A time in the reader's own zone. */
function dateText(ms: number): string {
  return `<!date^${Math.floor(ms / 1000)}^{date_short_pretty} {time}|${timeText(ms)}>`;
}
