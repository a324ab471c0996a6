/** The words of the pages about the work of coding agents. */
import type { Task, TaskReview, WholeTask } from "@parley/sdk/tasks";
import { count, duration, number } from "../../format.ts";
import { usd } from "./money.ts";

type TaskState = Task["state"];
type ReviewDecision = TaskReview["verdict"];
type Usage = NonNullable<WholeTask["attempts"][number]["usage"]>;

const STATES: Record<TaskState, string> = {
  blocked: "Blocked",
  queued: "In line",
  conflict: "Does not merge",
  preparing: "Preparing",
  running: "Running",
  awaiting_answer: "Waits for an answer",
  interrupted: "Interrupted",
  committing: "Committing",
  review: "To be reviewed",
  approved: "Approved",
  rejected: "Rejected",
  failed: "Failed",
  canceled: "Canceled",
};
const DECISIONS: Record<ReviewDecision, string> = {
  approve: "approved it",
  request_changes: "asked for changes",
  reject: "rejected it",
};
const EVENTS: Record<string, string> = {
  state: "State",
  message: "Agent",
  tool: "Tool",
  diff: "Change",
  permission: "Permission",
  question: "Question",
  answer: "Answer",
  usage: "Usage",
  git: "Git",
  setup: "Setup",
  note: "Note",
  error: "Error",
};

export const text = {
  state: (state: TaskState): string => STATES[state],
  title: "Assignments",
  failed: "The tasks could not be loaded",
  new: "New task",
  off: "Agents get no work here",
  offHint: "Name a repository under repos in parley.yaml, and start the server again.",
  empty: "No task was given yet",
  emptyHint: "Give an agent its first one here, with parley assign, or from a program.",
  repo: "Repository",
  allRepos: "All repositories",
  columns: {
    queued: "In line",
    working: "In progress",
    waiting: "Waiting for a person",
    review: "To be reviewed",
    done: "Done",
  },
  nothing: "None",
  more: (n: number) => `Show ${count(n, "more", "more")}`,
  live: (name: string, state: TaskState) => `${name}: ${STATES[state]}`,
  after: "After",
  dependency: (id: string, state: TaskState | undefined) =>
    state === undefined ? `${id} (not known yet)` : `${id} (${STATES[state].toLowerCase()})`,
  stale: "Stale: a task it builds on has a newer commit",
  unchanged: "Nothing changed",
  diffstat: ({ files, insertions, deletions }: NonNullable<Task["diffstat"]>) =>
    `${count(files, "file", "files")}, +${number(insertions)} −${number(deletions)}`,
  attempt: (n: number) => `Attempt ${number(n)}`,
  asked: "Asks",

  /** Why a task is where it is, in a sentence. */
  why: (task: Task): string | undefined => {
    if (task.state === "awaiting_answer" || task.state === "conflict")
      return task.question?.summary ?? task.blockedReason;
    return task.error ?? task.blockedReason;
  },

  page: {
    failed: "The task could not be loaded",
    stands: "How it stands",
    prompt: "Prompt",
    agent: "Agent",
    sandbox: "Sandbox",
    sandboxes: { bubblewrap: "bubblewrap", none: "None" } as Record<string, string>,
    submitted: "Submitted",
    base: "Starts from",
    dependencies: "Builds on",
    commit: "Commit",
    branch: "Branch",
    ref: "Ref",
    change: "Change",
    answerInInbox: "Answer in the inbox",
    wholeTask: "Everything of this task",
    attempts: "Attempts",
    noAttempts: "None has begun.",
    ended: (outcome: string) => outcome.replaceAll("_", " "),
    asks: "Questions asked",
    noAsks: "Nobody was asked.",
    reviews: "Reviews",
    reviewed: (by: string | null | undefined, decision: ReviewDecision) => `${by ?? "Somebody"} ${DECISIONS[decision]}`,
    onLine: (path: string, line: number) => `${path}, line ${number(line)}`,
    cancel: "Cancel the task",
    cancelTitle: "Cancel this task?",
    cancelHint: "Its agent is stopped and everything it started with it. What it has done so far is kept under a ref.",
    retry: "Do it again",
    retryTitle: "Do this task again?",
    retryHint: "It is submitted anew as it was: a new attempt begins, from the start.",
    back: "Back to the board",
  },

  log: {
    title: "Log",
    empty: "Nothing has happened yet.",
    pause: "Pause",
    resume: (n: number) => (n === 0 ? "Go on" : `Go on (${count(n, "new entry", "new entries")})`),
    toEnd: "To the end",
    cut: (n: number) => `The newest ${count(n, "entry", "entries")} are shown; “parley task log” prints all of them.`,
    kind: (type: string): string => EVENTS[type] ?? type,
    given: "Given",
    result: "Result",
    failed: "failed",
    wants: (tool: string, resource: string) => `Wants to use ${tool}: ${resource}`,
    allowed: "Allowed",
    denied: (why: string) => (why === "" ? "Denied" : `Denied: ${why}`),
    unanswered: (why: string) => (why === "" ? "No answer" : `No answer: ${why}`),
    answer: (by: string, words: string) => (by === "" ? words : `${by}: ${words}`),
  },

  usage: ({ turns, inputTokens, outputTokens, costUsd, workMs }: Usage): string =>
    [
      turns === undefined ? "" : count(turns, "turn", "turns"),
      inputTokens === undefined ? "" : `${number(inputTokens)} tokens in`,
      outputTokens === undefined ? "" : `${number(outputTokens)} out`,
      costUsd === undefined ? "" : usd(costUsd),
      workMs === undefined ? "" : `${duration(workMs)} of work`,
    ]
      .filter((part) => part !== "")
      .join(", "),
  usageTitle: "Usage",

  diff: {
    title: "Changes",
    against: "Against",
    start: "Its start",
    base: "The base",
    none: "Nothing changed.",
    failed: "The changes could not be loaded.",
    long: (files: number) => `${count(files, "file", "files")} changed. Each opens on its own.`,
    tooLong: "These changes cannot be drawn here.",
    raw: "Open them as a patch",
    binary: "A binary file.",
    modeOnly: "No line changed: it is empty, or only its name or mode changed.",
    renamed: (from: string, to: string) => `${from} → ${to}`,
    counts: (insertions: number, deletions: number) => `+${number(insertions)} −${number(deletions)}`,
    kinds: { add: "new", delete: "deleted", rename: "renamed", copy: "copied" } as Record<string, string>,
    region: (path: string) => `Changes of ${path}`,
    comment: "Comment on a line",
    tap: "Press a line to comment on it.",
    commentOn: (path: string) => `Comment on ${path}`,
    line: "Line, after the change",
    words: "Comment",
    add: "Add the comment",
    remove: (path: string, line: number) => `Remove the comment on ${path}, line ${number(line)}`,
    removeShort: "Remove",
    commentLabel: (line: number) => `Line ${number(line)}`,
  },

  review: {
    title: "Review",
    approve: "Approve",
    request_changes: "Request changes",
    reject: "Reject",
    titles: {
      approve: "Approve this work?",
      request_changes: "Ask for changes?",
      reject: "Reject this work?",
    } as Record<ReviewDecision, string>,
    hints: {
      approve: "Its commit stays as it is. Tasks that wait for it to be approved start.",
      request_changes: "The agent goes on with what it has done, and is told your comments.",
      reject: "Its branch goes. Tasks that build on it stay blocked until it is done again.",
    } as Record<ReviewDecision, string>,
    comment: "Comment (optional)",
    wanted: "Say what is to change, here or on a line.",
    remarks: (n: number) => (n === 0 ? "" : `${count(n, "comment", "comments")} on lines go with it.`),
    keys: "a approves, c asks for changes, r rejects; each is confirmed first.",
    failed: "This could not be loaded.",
  },

  form: {
    id: "Id",
    idHint: "What the task is called. Submitting an id again begins that task anew.",
    prompt: "What is to be done",
    promptHint: "It is given to the agent as it stands, and becomes part of the commit message.",
    dependencies: "After",
    dependenciesHint: "Ids of tasks whose commits it builds on, with a comma between them.",
    agent: "Agent",
    usual: (name: string) => `The repository’s usual one (${name})`,
    notReady: (name: string, why: string | undefined) => (why === undefined ? name : `${name} (${why})`),
    submit: "Give it to the agent",
    pad: "Write it in Prompt Pad",
    cancel: "Back to the board",
  },

  pad: {
    title: "Prompt Pad",
    lead: "Write a prompt and press Submit in it: it becomes a task of the repository chosen here.",
    repo: "Tasks go to",
    frame: "Prompt Pad",
    sent: "Sent from here",
    taken: (title: string) => `Given to an agent: ${title}`,
    asks: "Prompt Pad has sent this although nobody pressed anything. Give it to an agent?",
    give: "Give it to an agent",
    drop: "Drop it",
  },
};

export type TaskTexts = typeof text;
