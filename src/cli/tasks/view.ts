import type { Task, TaskEvent, WholeTask } from "@parley/sdk/tasks";
import { printable, printableLines } from "../../lib/printable.ts";
import { table } from "../print.ts";

const LISTED_LENGTH = 60;
/** The most characters of a tool's input or output in one line; `--json` has all of it. */
const SHOWN_LENGTH = 200;

/** Returns a line for each task. */
export function taskRows(tasks: readonly Task[]): string[] {
  const rows = tasks.map((task) => [
    printable(task.id),
    stateText(task),
    cut(task.title, LISTED_LENGTH),
    printable(task.agent ?? "-"),
    task.commit?.slice(0, 12) ?? "-",
  ]);
  return table(["ID", "STATE", "TITLE", "AGENT", "COMMIT"], rows);
}

function stateText({ state, stale }: Pick<Task, "state" | "stale">): string {
  return `${state.replaceAll("_", " ")}${stale === true ? ", stale" : ""}`;
}

/** Returns in one line where a task is, and why. */
export function standText(task: Task): string {
  const why = task.blockedReason ?? task.error ?? task.question?.summary;
  return `${stateText(task)}${why === undefined ? "" : `: ${printable(why)}`}`;
}

/** Returns what came of a task: its commit, the branch it is on, how much it changes. */
export function resultLines(task: Task): string[] {
  const { commit, branch, ref, diffstat, changed, error } = task;
  const isDone = commit !== undefined;
  return [
    ...(isDone ? [`commit  ${commit}`] : []),
    ...(isDone && (branch ?? ref) !== undefined ? [`branch  ${printable(branch ?? ref ?? "")}`] : []),
    ...(isDone && changed === false ? ["change  none"] : []),
    ...(isDone && changed !== false && diffstat ? [`change  ${diffstatText(diffstat)}`] : []),
    ...(error === undefined ? [] : [`error   ${printable(error)}`]),
  ];
}

function diffstatText({ files, insertions, deletions }: NonNullable<Task["diffstat"]>): string {
  return `${files === 1 ? "1 file" : `${files} files`}, +${insertions} -${deletions}`;
}

/** Returns everything there is to know about a task, but its log. */
export function wholeTaskLines(task: WholeTask, board: string): string[] {
  const { attempts, reviews, asks, warnings = [] } = task;
  return [
    `${printable(task.id)}: ${standText(task)}`,
    ...(task.agent === undefined ? [] : [`agent   ${printable(task.agent)}${sandboxText(task)}`]),
    ...(task.dependencies.length > 0 ? [`after   ${task.dependencies.map(printable).join(", ")}`] : []),
    ...conflictLines(task),
    ...resultLines(task),
    ...(task.tree === undefined ? [] : [`tree    ${printable(task.tree.path)}`]),
    `board   ${board}`,
    ...(task.reviewUrl === undefined ? [] : [`review  ${task.reviewUrl}`]),
    ...warnings.map((warning) => `warning ${printable(warning)}`),
    ...attempts.map(({ n, state, outcome, agent, startedAt }) =>
      [`attempt ${n}`, printable(agent), `began ${startedAt}`, outcome ?? state].join("  "),
    ),
    ...asks.map(({ summary, state, answer, url }) => {
      const words = answer === undefined ? state : `${state}: ${printable(answer)}`;
      return `asked   ${printable(summary)} (${words})${url === undefined ? "" : ` ${url}`}`;
    }),
    ...reviews.map(({ verdict: decision, comment, by, at }) => {
      const words = comment ? `: ${printable(comment)}` : "";
      return `review  ${decision.replaceAll("_", " ")} by ${printable(by)}, ${at}${words}`;
    }),
    "",
    ...printableLines(task.prompt).map((line) => `  ${line}`),
  ];
}

/** Every file that does not merge: the line above names the first of them. */
function conflictLines({ conflict }: Task): string[] {
  const { paths = [], morePaths = 0 } = conflict ?? {};
  return [
    ...paths.map((path) => `clash   ${printable(path)}`),
    ...(morePaths > 0 ? [`clash   ${morePaths} more`] : []),
  ];
}

function sandboxText({ sandbox }: Task): string {
  if (sandbox === undefined) return "";
  return sandbox === "none" ? ", no sandbox" : `, in ${printable(sandbox)}`;
}

/** Returns what an event says, as lines a terminal can show; the first names its kind. */
export function eventLines(event: TaskEvent): string[] {
  const [first = "", ...more] = printableLines(eventText(event));
  return [`${event.type.padEnd(10)}  ${first}`.trimEnd(), ...more.map((line) => `            ${line}`)];
}

function eventText(event: TaskEvent): string {
  const word = (name: string): string => (typeof event[name] === "string" ? event[name] : "");
  // A later server may tell of other kinds.
  const type: string = event.type;
  switch (type) {
    case "state":
      return [word("state").replaceAll("_", " "), word("error") || word("blockedReason")].filter(Boolean).join(": ");
    case "tool": {
      const given = event["input"] === undefined ? "" : ` ${cut(shortJson(event["input"]), SHOWN_LENGTH)}`;
      const result = word("result") === "" ? "" : `\n${cut(word("result"), SHOWN_LENGTH)}`;
      return `${word("name")}${given}${event["isError"] === true ? " (failed)" : ""}${result}`;
    }
    case "permission":
      return `wants to use ${word("tool")}: ${word("resource") || cut(shortJson(event["input"]), SHOWN_LENGTH)}`;
    case "answer":
      return answerText(event);
    case "usage":
      return usageText(event);
    default:
      return word("text") || word("message") || word("diff") || restOf(event);
  }
}

function answerText(event: TaskEvent): string {
  const { allow, why, text, by } = event;
  if (allow === true) return "allowed";
  if (typeof text === "string") return typeof by === "string" ? `${by}: ${text}` : text;
  return `${allow === false ? "denied" : "no answer"}${typeof why === "string" ? `: ${why}` : ""}`;
}

function usageText({ turns, inputTokens, outputTokens, costUsd }: TaskEvent): string {
  const parts = [
    typeof turns === "number" ? `${turns} turns` : "",
    typeof inputTokens === "number" ? `${inputTokens} tokens in` : "",
    typeof outputTokens === "number" ? `${outputTokens} out` : "",
    typeof costUsd === "number" ? `${costUsd.toFixed(2)} USD` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function restOf({ seq: _, at: __, attempt: ___, type: ____, ...rest }: TaskEvent): string {
  return shortJson(rest);
}

function shortJson(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function cut(text: string, length: number): string {
  const whole = printable(text);
  const short = [...whole].slice(0, length).join("");
  return short.length < whole.length ? `${short} ...` : short;
}
