import type { AskView } from "../../model/ask-view.ts";
import type { Notice } from "../channel.ts";
import type { PhoneKind } from "./settings.ts";

/** The longest arguments a message shows whole, in characters. */
export const WHOLE_LIMIT: Readonly<Record<PhoneKind, number>> = { sms: 300, whatsapp: 900 };
const WORDS_MOST: Readonly<Record<PhoneKind, number>> = { sms: 300, whatsapp: 900 };
const OPTIONS_MOST = 9;

/** Returns a whole message: who asks, what, until when, how to answer by words, and the page. */
export function textOf(kind: PhoneKind, notice: Notice): string {
  const { view, link, opening, reminder } = notice;
  return lines(
    reminder && "Reminder:",
    opening,
    `${view.agent} (a program) asks: ${view.title}`,
    ...callLines(notice),
    view.words && cut(view.words, WORDS_MOST[kind]),
    ...optionLines(view),
    view.expiresAt !== null && `Until ${timeOf(view.expiresAt)}.`,
    howToAnswer(notice),
    link,
  );
}

/** Returns the variables of a WhatsApp template; their values must be single lines. */
export function templateVariables(notice: Notice): Readonly<Record<string, string>> {
  const { view, code, link, delivery } = notice;
  const asked = lines(view.title, ...callLines(notice), view.words && cut(view.words, WORDS_MOST.whatsapp));
  const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
  return { "1": oneLine(view.agent), "2": oneLine(asked), "3": code, "4": link, "5": delivery };
}

function callLines({ view, whole }: Notice): readonly (string | null)[] {
  if (view.fn === null) return [];
  if (whole) return [`Function: ${view.fn}`, view.argumentsText];
  const names = view.argumentNames.join(", ");
  return [`Function: ${view.fn}`, `Arguments: ${cut(names, 200)}. ${view.argumentsLength} characters are on the page.`];
}

function optionLines({ options }: AskView): string[] {
  const shown = options.slice(0, OPTIONS_MOST).map((option, i) => `#${i + 1} ${option.title ?? option.name}`);
  return options.length > OPTIONS_MOST ? [...shown, "More are on the page."] : shown;
}

function howToAnswer({ view, whole, code }: Notice): string {
  if (view.kind === "approval") return whole ? `Reply YES ${code} or NO ${code}, or decide here:` : "Decide here:";
  return `Reply with your answer (${code} first if several requests wait), or answer here:`;
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
