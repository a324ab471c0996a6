import { join } from "node:path";
import {
  type AgentPrompt,
  homeOf,
  type HooksBeside,
  OVER_S,
  type PromptDecision,
  type PromptingAgent,
  type UseOver,
} from "../../agent.ts";
import { holdsHookEntries, withVersionedEntries } from "../../hook-entries.ts";
import {
  eventNameOf,
  isObject,
  objectOrText,
  originOf,
  type PromptOrigin,
  readObject,
  sessionOf,
  textOf,
  toolAndInput,
} from "../../prompt-json.ts";

const EVENTS = ["beforeShellExecution", "beforeMCPExecution"] as const;

const AFTER = ["afterShellExecution", "afterMCPExecution"] as const;

const BESIDE: readonly HooksBeside[] = EVENTS.map((event) => ({
  event,
  runs: "not tried",
  decides: "not tried",
  means: { beside: "runs beside Parley's, and it is not known which of them decides" },
}));

/** Cursor: the hooks that come before each command in a shell, and before each tool of an MCP server. */
export const cursor: PromptingAgent = {
  name: "cursor",
  title: "Cursor",
  agentId: "cursor",
  programs: ["cursor", "cursor-agent"],
  file: (env) => join(homeOf(env), ".cursor", "hooks.json"),
  events: EVENTS,
  uncovered: [
    { prompt: "edits and deletions of files", because: "Cursor's hooks of files see them afterwards, and cannot ask" },
    { prompt: "trust in a workspace, and questions", because: "Cursor has no hook for them" },
  ],
  after: {
    events: AFTER,
    untold: "the exit status: a command that failed counts as done",
    read: readUseOver,
    // Its events after a tool do not name the server.
    inputOf: ({ input: { server: _, ...input } }) => input,
  },
  beside: BESIDE,
  hookPlaces: (env, project) =>
    [cursor.file(env), join(project, ".cursor", "hooks.json")].map((path) => ({ path, turn: "beside" })),
  takesAlways: false,
  afterInstall: "They include every command and every tool of an MCP server: its own lists decide nothing any more.",
  takesEdits: false,
  withHook(text, hook) {
    // Without failClosed a hook that crashes or takes too long would let the tool run.
    const entry = hook ? { command: hook.command, timeout: hook.timeoutSeconds, failClosed: true } : undefined;
    const over = hook?.over ? { command: hook.over, timeout: OVER_S } : undefined;
    const entries = [...EVENTS.map((event) => [event, entry]), ...AFTER.map((event) => [event, over])] as const;
    return withVersionedEntries(text, "cursor", Object.fromEntries(entries));
  },
  holds: (text) => holdsHookEntries(text, "cursor", EVENTS),
  read,
  print: (_prompt, decision) => printed(decision),
  // Cursor sends the command itself, and people see nothing else.
  testEvent: ({ hook_event_name, session_id: conversation_id, tool_input: { command, description } }) => ({
    hook_event_name,
    conversation_id,
    command: `${command} # ${description}`,
  }),
  // With another exit code Cursor would show its model this text as it stands.
  fail: (because) => ({ out: printed({ kind: "deny", because }), err: because, exit: 0 }),
};

function read(bytes: Uint8Array): AgentPrompt | null {
  const { value, isExact } = readObject(bytes, "Cursor");
  const eventName = eventNameOf(value);
  const event = EVENTS.find((one) => one === eventName);
  if (event === undefined) return null;
  const session = sessionOf(value["conversation_id"]);
  const origin = cursorOrigin(value);
  if (event === "beforeShellExecution") {
    const { command } = value;
    if (textOf(command) === undefined) throw new Error("the hook names no command");
    return { event, session, ...toolAndInput("Shell", { command }, isExact, origin) };
  }
  const { tool_name: name, url, command } = value;
  const sent = objectOrText(value["tool_input"], isExact);
  const { tool, input } = toolAndInput(name, sent.input, sent.isExact, origin);
  // Two servers may have a tool of one name.
  const server = url ?? command;
  const whole = { ...(server !== undefined && { server }), tool_input: input };
  return { event, session, ...toolAndInput(`MCP:${tool}`, whole, sent.isExact, origin) };
}

function readUseOver(bytes: Uint8Array): UseOver | null {
  const { value, isExact } = readObject(bytes, "Cursor");
  const event = AFTER.find((one) => one === value["hook_event_name"]);
  if (event === undefined) return null;
  const session = sessionOf(value["conversation_id"]);
  const { command, output } = value;
  if (event === "afterShellExecution")
    return { session, tool: "Shell", input: { command }, end: "done", result: output };
  const sent = objectOrText(value["tool_input"], isExact);
  const { tool, input } = toolAndInput(value["tool_name"], sent.input, sent.isExact, cursorOrigin(value));
  const result = value["result_json"];
  const end = hasFailed(result) ? "failed" : "done";
  return { session, tool: `MCP:${tool}`, input: { tool_input: input }, end, result };
}

/** Returns whether a tool of an MCP server says in its result that it failed. */
function hasFailed(result: unknown): boolean {
  try {
    const { input: value } = objectOrText(result, true);
    return isObject(value) && value["isError"] === true;
  } catch {
    return false;
  }
}

/** Cursor names the folder of a command, and of every event the folders that are open. */
function cursorOrigin(value: Readonly<Record<string, unknown>>): PromptOrigin {
  const origin = originOf(value);
  const open = value["workspace_roots"];
  if (origin.folder !== undefined || !Array.isArray(open) || open.length === 0) return origin;
  return { ...origin, folder: open.length === 1 ? textOf(open[0]) : JSON.stringify(open) };
}

/** Returns what Cursor reads. Some of its versions refuse where they are to ask; none of them allows. */
function printed({ kind, because }: PromptDecision): string {
  if (kind === "allow") return JSON.stringify({ permission: "allow" });
  const permission = kind === "undecided" ? "ask" : "deny";
  return JSON.stringify({ permission, user_message: because, agent_message: because });
}
