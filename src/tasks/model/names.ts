import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { withoutSteering } from "../../lib/printable.ts";
import { cutTo } from "../../core/model/title.ts";

const LONGEST_SLUG_WORD = 40;
const LONGEST_SUBJECT = 72;

/**
 * Returns the name of a task in refs, branches and folders: its id in lower case with `-` for whatever is no letter of
 * ASCII or digit, at most 40 characters, and eight digits of its hash, so that no two ids share one
 * (spec/assignment 4).
 */
export function slugOf(id: string): string {
  const word = Array.from(id.toLowerCase(), (letter) => (/^[a-z0-9]$/.test(letter) ? letter : "-")).join("");
  return `${word.slice(0, LONGEST_SLUG_WORD)}-${sha256Hex(id).slice(0, 8)}`;
}

/** Returns the first line of a prompt that says something, as the subject of a commit: at most 72 characters. */
export function titleOfPrompt(prompt: string): string {
  for (const line of prompt.split(/\r\n|\n|\r/)) {
    const words = withoutSteering(line).replace(/\s+/gu, " ").trim();
    if (words !== "") return cutTo(LONGEST_SUBJECT, words.toWellFormed());
  }
  return "(no words)";
}

/** The task that a commit belongs to, as its message states it. */
export interface TaskOfCommit {
  id: string;
  prompt: string;
  attempt: number;
  agent: string;
  /** In the order in which they were merged. */
  dependencies: readonly { id: string; commit: string }[];
}

/**
 * Returns the message of a task's one commit: a subject, the whole prompt with line ends of LF, and trailers that name
 * the task (spec/assignment 4.3). NUL in the prompt is replaced, because no commit can hold it.
 */
export function commitMessage({ id, prompt, attempt, agent, dependencies }: TaskOfCommit): string {
  const body = prompt
    .toWellFormed()
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll("\0", "\ufffd")
    .replace(/(?<!\n)\n+$/, "");
  const trailers = [
    `AA-Task: ${inTrailer(id)}`,
    `AA-Attempt: ${attempt}`,
    `AA-Agent: ${inTrailer(agent)}`,
    ...dependencies.map((one) => `AA-Depends-On: ${inTrailer(one.id)} ${one.commit}`),
  ];
  return `${titleOfPrompt(prompt)}\n\n${body}\n\n${trailers.join("\n")}\n`;
}

function inTrailer(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}
