import type { RequestForm, Outcome } from "../../requests/model/request.ts";
import { titleOfPrompt } from "./names.ts";
import type { Attempt, AttemptUsage, Diffstat, Task, ReviewDecision } from "./task.ts";
import { cutTo } from "../../core/model/title.ts";

/** The door of what people are asked about tasks. */
export const ASSIGNMENT_DOOR = "assignment";

const REQUEST_CHANGES = "Request changes";

/** The answers to a request about finished work; a text without an option requests changes. */
export const REVIEW_FORM: RequestForm = {
  kind: "reply",
  options: [
    { name: "approve", title: "Approve", description: "The work stands as it is.", interactive: false },
    {
      name: "request_changes",
      title: REQUEST_CHANGES,
      interactive: true,
      description: "The agent goes on from its work, with your words.",
    },
    {
      name: "reject",
      title: "Reject",
      description: "The work is not wanted; it is kept for 30 days.",
      interactive: false,
    },
  ],
};

/** The answers to a request about dependencies that do not merge. */
export const CONFLICT_FORM: RequestForm = {
  kind: "reply",
  listed: true,
  options: [
    { name: "resolve", title: "The agent resolves it", interactive: false },
    { name: "wait", title: "Wait for another commit of a dependency", interactive: false },
    { name: "give_up", title: "Give up", interactive: false },
  ],
};

/** Returns what a person says of the work; null where changes are wanted and nobody says which. */
export function reviewDecisionOf({
  option,
  text,
}: Pick<Outcome, "option" | "text">): { decision: ReviewDecision; comment: string | null } | null {
  const named = [REVIEW_FORM, CONFLICT_FORM].flatMap((form) => (form.kind === "reply" ? form.options : []));
  const words = text?.trim() ?? "";
  // A choice that was written out is no comment.
  const comment = words === "" || named.some(({ name, title }) => words === name || words === title) ? null : words;
  const chosen = option ?? (words === REQUEST_CHANGES ? "request_changes" : undefined);
  if (chosen === "approve" || chosen === "reject") return { decision: chosen, comment };
  return comment === null ? null : { decision: "request_changes", comment };
}

/** The facts about an attempt's result that a reviewer sees. */
export interface ReviewFacts {
  changed: boolean;
  diffstat: Diffstat;
  /** Changed files with their lines. */
  files: string;
  branch: string | null;
  ref: string;
  warnings: readonly string[];
}

/** The requests that an attempt made, and their outcomes. */
export interface AskedOnTheWay {
  /** Requests to people with their outcomes, the newest last. */
  people: readonly { title: string; outcome: string }[];
  /** How many a rule decided. */
  byPolicy: number;
}

const MOST_PROMPT_LINES = 12;
const MOST_PROMPT_CHARS = 1500;
const MOST_FILES_CHARS = 4000;
const MOST_PATHS = 40;
const MOST_ASKED = 20;

/** Returns one line that says which task an ask is about. */
export function taskTitle(does: string, { id, prompt }: Pick<Task, "id" | "prompt">): string {
  return cutTo(200, `${does} ${id}: ${titleOfPrompt(prompt)}`);
}

/** Returns the text about finished work for its reviewer. */
export function reviewWords(
  task: Pick<Task, "repo" | "id" | "prompt" | "stale">,
  attempt: Pick<Attempt, "n" | "agent" | "sandbox" | "usage">,
  facts: ReviewFacts,
  asked: AskedOnTheWay,
): string {
  const { changed, diffstat, files, branch, ref, warnings } = facts;
  const { people, byPolicy } = asked;
  const shown = people.slice(-MOST_ASKED);
  return paragraphs([
    promptLines(task.prompt),
    lines([
      `Task ${task.id} in ${task.repo}, attempt ${attempt.n} by ${attempt.agent}, on ${branch ?? ref}.`,
      attempt.sandbox === "bubblewrap"
        ? "It ran in a sandbox (bubblewrap)."
        : "It ran without a sandbox, with your files and your network.",
      ...(task.stale ? ["A task it builds on has another commit by now."] : []),
    ]),
    changed
      ? lines([
          `${count(diffstat.files, "file")}, +${diffstat.insertions} -${diffstat.deletions}:`,
          cutTo(MOST_FILES_CHARS, files.replace(/^\n+/, "").trimEnd()),
        ])
      : "Nothing was changed.",
    lines([
      ...(shown.length > 0 ? ["Asked on the way:"] : []),
      ...shown.map(({ title, outcome }) => `- ${title}: ${outcome}`),
      ...(people.length > shown.length ? [`and ${people.length - shown.length} before`] : []),
      ...(byPolicy > 0 ? [`Rules decided ${count(byPolicy, "permission")}.`] : []),
    ]),
    usageWords(attempt.usage),
    lines(warnings.map((warning) => `Warning: ${warning}`)),
  ]);
}

/** Returns the text about a conflict for the person who decides it. */
export function conflictWords(
  task: Pick<Task, "repo" | "id" | "prompt">,
  { paths, deps }: { paths: readonly string[]; deps: readonly string[] },
): string {
  const shown = paths.slice(0, MOST_PATHS);
  return paragraphs([
    `What task ${task.id} in ${task.repo} depends on does not merge: ${deps.join(", ")}.`,
    lines([
      "In conflict:",
      ...shown.map((path) => `- ${path}`),
      ...(paths.length > shown.length ? [`and ${paths.length - shown.length} more`] : []),
    ]),
    promptLines(task.prompt),
    "The agent can begin with the conflicts in its files and resolve them as part of its work. The task can wait until " +
      "one of these has another commit. Or it fails.",
  ]);
}

function promptLines(prompt: string): string {
  const all = prompt.trim().split(/\r\n|\n|\r/);
  const shown = all.slice(0, MOST_PROMPT_LINES).join("\n");
  return cutTo(MOST_PROMPT_CHARS, all.length > MOST_PROMPT_LINES ? `${shown}\n…` : shown);
}

function usageWords(usage: AttemptUsage | null): string {
  const { turns, inputTokens, outputTokens, costUsd, workMs } = usage ?? {};
  const parts = [
    ...(turns === undefined ? [] : [count(turns, "turn")]),
    ...(inputTokens === undefined && outputTokens === undefined
      ? []
      : [`${(inputTokens ?? 0) + (outputTokens ?? 0)} tokens`]),
    ...(costUsd === undefined ? [] : [`${costUsd.toFixed(2)} USD`]),
    ...(workMs === undefined ? [] : [`${Math.max(1, Math.round(workMs / 60_000))} min of work`]),
  ];
  return parts.length === 0 ? "" : `Used: ${parts.join(", ")}.`;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;
const lines = (all: readonly string[]): string => all.filter((one) => one !== "").join("\n");
const paragraphs = (all: readonly string[]): string => all.filter((one) => one !== "").join("\n\n");
