import type { Question } from "@parley/sdk/wire";
import { localTime } from "../../lib/local-time.ts";
import { printable, printableLines } from "../../lib/printable.ts";

const BAR_WIDTH = 24;

/** Returns a question and its answers: each one, or the tally of a choice. */
export function questionLines(question: Question): string[] {
  return [
    ...printableLines(question.prompt),
    ...talliedLines(question),
    `${countText(question)}${networksText(question)}, ${stateText(question)}`,
  ];
}

/** Returns the lines of one item of a list. */
export function itemLines(words: string): string[] {
  return printableLines(words).map((line, i) => (i === 0 ? `  - ${line}` : `    ${line}`));
}

/** Returns a line for each option of a choice, or those of each answer. */
export function talliedLines({
  options,
  summary,
  responses = [],
}: Pick<Question, "options" | "summary"> & Partial<Pick<Question, "responses">>): string[] {
  if (!options) {
    return responses.flatMap(({ answer = "", confidence }) => {
      return [...itemLines(answer), ...(confidence === undefined ? [] : [`    (confidence ${confidence} of 5)`])];
    });
  }
  const votes = options.map((option) => summary?.[option] ?? 0);
  const width = Math.max(...options.map((option) => printable(option).length));
  const most = Math.max(1, ...votes);
  return options.map((option, i) => {
    const count = votes[i] ?? 0;
    const bar = "█".repeat(Math.round((count / most) * BAR_WIDTH));
    return `  ${printable(option).padEnd(width)}  ${String(count).padStart(3)}  ${bar}`.trimEnd();
  });
}

/** Returns "n of m answers". */
export function countText({ current_responses, required_responses }: Question): string {
  return `${current_responses} of ${required_responses} ${required_responses === 1 ? "answer" : "answers"}`;
}

/**
 * Returns from how many networks the answers came; one program can be behind a network. The text is empty where there
 * are no answers, or where an older server does not send the number.
 */
function networksText({ current_responses: n, integrity }: Partial<Question>): string {
  if (n === 0 || integrity === undefined) return "";
  return integrity.networks === 1 ? " from one network" : ` from ${integrity.networks} networks`;
}

function stateText({ status, cancelled, closed_at, expires_at }: Question): string {
  if (status === "CLOSED") return `closed ${localTime(closed_at ?? "")}`;
  if (status === "EXPIRED") return cancelled ? "cancelled" : `expired ${localTime(expires_at)}`;
  return `open until ${localTime(expires_at)}`;
}
