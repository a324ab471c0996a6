import type { LineComment } from "./task.ts";

const CLOSING = [
  "Work only in this folder and what is below it. Do not push, and do not commit: the files as you leave them are the result.",
  "When a decision is not yours to make, ask a person with the tool `contact_human` of the MCP server `parley`, and wait for the answer.",
].join(" ");

/** A file of the repository that its agents are to read, at the commit the work starts from. */
export interface ProjectNote {
  path: string;
  text: string;
}

/**
 * Returns the first message of a new session: the prompt as it was written, with necessary facts before and after it.
 */
export function firstMessage(input: {
  prompt: string;
  /** For agents that do not read them by themselves. */
  projectNotes?: readonly ProjectNote[];
  /** Files in which dependencies have left conflict markers. */
  conflictPaths?: readonly string[];
}): string {
  const { prompt, projectNotes = [], conflictPaths = [] } = input;
  const notes = projectNotes.map(({ path, text }) => `# Notes of this project (${path})\n\n${text.trim()}`);
  const conflict = conflictPaths.length > 0 ? [conflictPart(conflictPaths)] : [];
  const before = [...notes, ...conflict];
  return [...before, ...(before.length > 0 ? ["# The task"] : []), prompt, CLOSING].join("\n\n");
}

/** Returns the message to a session that goes on after it was cut off. */
export function resumeMessage(): string {
  return "Continue the task where you stopped.";
}

/** Returns the message to a session when a person requested changes of the work. */
export function changesMessage(input: {
  prompt: string;
  comment?: string | null;
  comments: readonly LineComment[];
  /** For each of the comments, the lines of the diff it stands at. */
  diffContext: readonly string[];
}): string {
  const { prompt, comment, comments, diffContext } = input;
  const remarks = comments.map(({ path, line, text }, i) => {
    const context = diffContext[i]?.replace(/\n$/, "");
    return [`${path}:${line}`, ...(context ? [fenced(context)] : []), text].join("\n");
  });
  return [
    "A person has looked at your work and asks for changes. It is in this folder as you left it.",
    ...(comment?.trim() ? [comment] : []),
    ...remarks,
    "# The task was",
    prompt,
    CLOSING,
  ].join("\n\n");
}

function conflictPart(paths: readonly string[]): string {
  return [
    "# First resolve the conflicts",
    "The work this task builds on did not merge. These files hold conflict markers; resolve every one of them and leave no marker:",
    paths.map((path) => `- ${path}`).join("\n"),
  ].join("\n\n");
}

/** Returns a text between fences that nothing in it closes. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}
