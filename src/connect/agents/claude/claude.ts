import { join } from "node:path";
import {
  type AgentPrompt,
  type HttpHook,
  type PromptAnswers,
  type PromptQuestion,
  type Unclear,
  homeOf,
  type HooksBeside,
  type PromptDecision,
  type PromptingAgent,
  OVER_S,
  type UseOver,
} from "../../agent.ts";
import { holdsHookEntries, withHookEntries } from "../../hook-entries.ts";
import {
  eventNameOf,
  originOf,
  readObject,
  sentEventName,
  sessionOf,
  textOf,
  toolAndInput,
} from "../../prompt-json.ts";
import { questionsIn } from "../../prompt-questions.ts";
import { claudeSwitches, SWITCH_VARIABLES } from "./switches.ts";
import { wasDecidedThere } from "./transcript.ts";

/** The tool by which Claude Code asks its user. */
const ASKING_TOOL = "AskUserQuestion";
const EVENTS = ["PermissionRequest", "PreToolUse"] as const;
/** The events of a use that has run, has failed, or was denied by Claude Code's own rules. */
const OVER: readonly unknown[] = ["PostToolUse", "PostToolUseFailure", "PermissionDenied"];
/** Claude Code lets a tool run that its own rules allow after any other failure of a `PreToolUse` hook. */
const BLOCKS = 2;

const TRIED = { version: "2.1.332", on: "2026-11-28" };
const BESIDE: readonly HooksBeside[] = [
  {
    event: "PermissionRequest",
    runs: "at once, and beside the terminal and the prompt tool",
    decides: "the first to answer",
    input: "of the first to answer",
    means: {
      beside: "runs at the same time as Parley's, and the first answer counts: its allow overrides people's no",
    },
    tried: TRIED,
  },
  {
    event: "PreToolUse",
    runs: "at once; all are waited for",
    decides: "a deny, or an ask, before an allow",
    input: "of the last to answer",
    means: { beside: "comes before the prompt: after its allow no prompt appears, and people are not asked" },
    tried: TRIED,
  },
];

/** Claude Code: `PermissionRequest`, and `PreToolUse` for tools that are always asked about. */
export const claude: PromptingAgent = {
  name: "claude",
  title: "Claude Code",
  agentId: "claude-code",
  programs: ["claude"],
  file: (env) => join(env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude"), "settings.json"),
  events: EVENTS,
  uncovered: [
    { prompt: "trust in a folder", because: "Claude Code runs no hook before the folder is trusted" },
    { prompt: "a tool that its own rules allow", because: "no prompt appears; --always asks about it" },
  ],
  after: { events: ["PostToolUse", "PostToolUseFailure"], untold: "", read: readUseOver, givesNotes: true },
  beside: BESIDE,
  hookPlaces: (env, project) =>
    [claude.file(env), ...["settings.json", "settings.local.json"].map((name) => join(project, ".claude", name))].map(
      (path) => ({ path, turn: "beside" }),
    ),
  takesAlways: true,
  httpSince: "2.1.63",
  afterInstall: "",
  hookNote:
    "Start Claude Code without --permission-prompt-tool mcp__parley__approve: beside the hook it asks people a second time, without --to and --by, and the first answer counts.",
  takesEdits: false,
  withHook(text, hook, own = []) {
    const run = hook && { type: "command", command: hook.command, timeout: hook.timeoutSeconds };
    const sent = hook?.http && httpHook(hook.http);
    // Results of tools stay on this computer: its own server skips them, and for another one a program tells their digest.
    const told = sent && hook?.http?.tellsUses ? sent : hook?.over && { type: "command", command: hook.over };
    const over = told ? { matcher: "*", hooks: [{ ...told, timeout: OVER_S }] } : undefined;
    const asks = sent && hook ? { ...sent, timeout: hook.timeoutSeconds } : run;
    const addresses = [...own, ...(hook?.http ? [hook.http.url] : [])];
    const wanted = {
      PermissionRequest: asks ? { matcher: "*", hooks: [asks] } : undefined,
      // After a request that failed, Claude Code's own rules would decide.
      PreToolUse: run && hook.always !== undefined ? { matcher: hook.always, hooks: [run] } : undefined,
      PostToolUse: over,
      PostToolUseFailure: over,
    };
    return withHookEntries(text, "claude", wanted, addresses);
  },
  holds: (text, own) => holdsHookEntries(text, "claude", ["PermissionRequest"], own),
  switches: claudeSwitches,
  switchVariables: SWITCH_VARIABLES,
  read,
  print,
  fail(because, sent) {
    const event = sentEventName(sent) === "PermissionRequest" ? "PermissionRequest" : "PreToolUse";
    const out = print({ event, input: {} }, { kind: "deny", because });
    // Claude Code passes over every exit code of a PermissionRequest hook, and asks at its terminal.
    return { out, err: because, exit: event === "PermissionRequest" ? 0 : BLOCKS };
  },
  questionsOf,
  async wasDecidedThere({ event, transcript, tool, input }, clock, signal) {
    // Its terminal asks beside this event alone.
    if (event !== "PermissionRequest" || transcript === undefined) return false;
    return wasDecidedThere({ path: transcript, name: tool, input }, clock, signal);
  },
};

/** Claude Code puts variables into headers, those alone that the hook lists. */
function httpHook({ url, keyVariable }: HttpHook) {
  return {
    type: "http",
    url,
    ...(keyVariable !== undefined && {
      headers: { Authorization: `Bearer $${keyVariable}` },
      allowedEnvVars: [keyVariable],
    }),
  };
}

function read(bytes: Uint8Array): AgentPrompt | null {
  const { value, isExact } = readObject(bytes, "Claude Code");
  const event = eventNameOf(value);
  if (event !== "PermissionRequest" && event !== "PreToolUse") return null;
  return {
    event,
    session: sessionOf(value["session_id"]),
    ...toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value)),
    useId: textOf(value["tool_use_id"]),
    transcript: textOf(value["transcript_path"]),
  };
}

function readUseOver(bytes: Uint8Array): UseOver | null {
  const { value, isExact } = readObject(bytes, "Claude Code");
  const useId = textOf(value["tool_use_id"]);
  if (!OVER.includes(value["hook_event_name"]) || useId === undefined) return null;
  const { tool, input } = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
  const event = value["hook_event_name"];
  const takesNotesAt = originOf(value).subagent === undefined ? textOf(event) : undefined;
  const use = { session: sessionOf(value["session_id"]), tool, input, useId, takesNotesAt };
  if (event === "PostToolUse") return { ...use, end: "done", result: value["tool_response"] };
  if (event === "PermissionDenied") return { ...use, end: null };
  return { ...use, end: "failed", status: value["is_interrupt"] === true ? "interrupted" : exitIn(value["error"]) };
}

/** Returns the exit status in the error of a command, whose first line it is. */
function exitIn(error: unknown): string | undefined {
  const code = /^Exit code (\d+)$/m.exec(textOf(error)?.split("\n")[0] ?? "")?.[1];
  return code === undefined ? undefined : `exit ${code}`;
}

/**
 * Returns what Claude Code reads on standard output. Each event has its own form for no decision: it
 * leaves the decision to the person at the terminal, and never to a rule that allows.
 */
function print(prompt: Pick<AgentPrompt, "event" | "input">, decision: PromptDecision): string {
  const { event } = prompt;
  const { kind, because } = decision;
  const updated = decision.kind === "allow" && { updatedInput: approvedInput(prompt.input, decision.answers) };
  if (event === "PreToolUse") {
    const permissionDecision = kind === "undecided" ? "ask" : kind;
    const output = { hookEventName: event, permissionDecision, permissionDecisionReason: because, ...updated };
    return JSON.stringify({ hookSpecificOutput: output });
  }
  if (kind === "undecided") return JSON.stringify({ systemMessage: because });
  const reply = kind === "allow" ? { behavior: "allow", ...updated } : { behavior: "deny", message: because };
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, decision: reply } });
}

/**
 * Returns the input for Claude Code to run. It passes over a yes without one to a tool that asks its user by itself
 * (`ExitPlanMode`, and tools of MCP servers that say so); to any other tool it binds the run to what people saw.
 */
function approvedInput(input: AgentPrompt["input"], answers: PromptAnswers | undefined): object {
  return answers === undefined ? input : { ...input, answers: answersByWords(input, answers) };
}

/** Returns the questions that Claude Code would ask its user. */
function questionsOf({ tool, input }: Pick<AgentPrompt, "tool" | "input">): PromptQuestion[] | Unclear | null {
  return tool === ASKING_TOOL ? questionsIn(input["questions"], "multiSelect") : null;
}

/** Claude Code takes an answer by the words of its question, and several labels with commas between them. */
function answersByWords(input: AgentPrompt["input"], answers: PromptAnswers): Record<string, string> {
  const questions = questionsOf({ tool: ASKING_TOOL, input });
  if (questions === null || questions === "unclear") throw new Error("there are answers, and no questions");
  return Object.fromEntries(questions.map(({ question }, n) => [question, (answers[n] ?? []).join(", ")]));
}
