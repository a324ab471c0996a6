import type { Tool } from "@modelcontextprotocol/client";
import { openDeadline } from "../../lib/deadline.ts";
import type { RunnerDeps, ToolDefinition } from "./deps.ts";
import { openToolServer, ToolError, type ToolServer } from "./mcp.ts";
import { ARTIFACT_WRITE, CODE_RUN, type PlannedTool } from "./tool-plan.ts";
import type { ShownTool } from "./wire.ts";

/** A tool that failed ends its ask, so that the executor can ask for less (spec/relay 7). */
export class ToolFailure extends Error {
  readonly code: "E_TOOL_TIMEOUT" | "E_TOOL_ERROR";

  constructor(code: "E_TOOL_TIMEOUT" | "E_TOOL_ERROR", says: string) {
    super(says);
    this.code = code;
  }
}

/** A tool that the model is offered in one run. */
export interface OpenTool {
  plan: PlannedTool;
  shown: ShownTool;
  isReadOnly: boolean;
  /** Absent for those that are Parley's own. */
  server?: ToolServer;
}

export interface OpenTools {
  tools: readonly OpenTool[];
  close(): Promise<void>;
}

const OPEN_WITHIN_MS = 15_000;
const MOST_NAME_CHARS = 60;
const MOST_DEFINITION_BYTES = 65_536;

const OWN_TOOLS: Readonly<Record<string, Omit<ShownTool, "name">>> = {
  [CODE_RUN]: {
    description:
      "Runs JavaScript and returns the value of its last expression as JSON. There are no files, network, clock, " +
      "randomness, modules or promises, and it has 2 seconds. `input` is the input of the task, or its facts; " +
      "`results` lists what tools gave before: {tool, result}.",
    inputSchema: {
      type: "object",
      properties: { code: { type: "string", maxLength: 65_536 } },
      required: ["code"],
      additionalProperties: false,
    },
  },
  [ARTIFACT_WRITE]: {
    description:
      "Writes a new text file among the files of the job. The path is relative: letters, digits, dots, dashes, " +
      "underscores, and slashes between folders. Name the path in `artifacts` of your reply.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", maxLength: 200 }, content: { type: "string" } },
      required: ["path", "content"],
      additionalProperties: false,
    },
  },
};

/**
 * Opens the servers of the planned tools and returns those tools that may be offered: one that its server does not have,
 * that has changed since it was accepted, or whose arguments could not be checked, is left out with a log line.
 *
 * @throws {ToolFailure} when a server cannot be reached
 */
export async function openTools(
  plan: readonly PlannedTool[],
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<OpenTools> {
  const names = new Set(plan.flatMap(({ settings }) => (settings ? [settings.server] : [])));
  const opened = new Map<string, ToolServer>();
  const close = async (): Promise<void> => {
    await Promise.allSettled([...opened.values()].map((server) => server.close()));
  };
  const opening = await Promise.allSettled(
    [...names].map(async (name) => opened.set(name, await openServer(name, deps, signal))),
  );
  const failed = opening.find((one) => one.status === "rejected");
  if (failed) {
    void close();
    throw failed.reason;
  }

  const taken = new Set<string>();
  const tools: OpenTool[] = [];
  for (const one of plan) {
    const tool = one.settings ? await describe(one, opened, deps) : own(one);
    if (tool) tools.push({ ...tool, shown: { ...tool.shown, name: shownName(one.name, taken) } });
  }
  return { tools, close };
}

async function openServer(name: string, deps: RunnerDeps, signal: AbortSignal): Promise<ToolServer> {
  const settings = Object.hasOwn(deps.servers, name) ? deps.servers[name] : undefined;
  if (!settings) throw new ToolFailure("E_TOOL_ERROR", `there is no server ${name} of tools`);
  using deadline = openDeadline(deps.clock, OPEN_WITHIN_MS, signal);
  try {
    return await openToolServer(settings, { env: deps.env, fetch: deps.fetch, signal: deadline.signal });
  } catch (error) {
    deps.log.warn({ server: name, error: sentenceOf(error) }, "a server of tools cannot be reached");
    if (deadline.signal.aborted && !signal.aborted) {
      throw new ToolFailure("E_TOOL_TIMEOUT", `${name} did not start in ${OPEN_WITHIN_MS / 1000} s`);
    }
    throw new ToolFailure("E_TOOL_ERROR", `${name} cannot be reached`);
  }
}

async function describe(
  plan: PlannedTool,
  opened: ReadonlyMap<string, ToolServer>,
  deps: RunnerDeps,
): Promise<OpenTool | null> {
  const { name, settings } = plan;
  const server = settings && opened.get(settings.server);
  const tool = server?.tools.find((one) => one.name === settings?.tool);
  const leftOut = (why: string): null => {
    deps.log.warn({ tool: name }, `a tool is not offered: ${why}`);
    return null;
  };
  if (!settings || !server || !tool) return leftOut("its server does not have it");
  const definition: ToolDefinition = {
    name: tool.name,
    description: tool.description ?? "",
    inputSchema: tool.inputSchema as Readonly<Record<string, unknown>>,
  };
  if (Buffer.byteLength(JSON.stringify(definition)) > MOST_DEFINITION_BYTES)
    return leftOut("it says too much of itself");
  if (deps.schemas.examine(definition.inputSchema) !== null) return leftOut("its arguments cannot be checked");
  if ((await deps.pins.check(name, definition)) === "changed") {
    return leftOut(`it has changed; look at it with parley tools list, and accept it with parley tools accept ${name}`);
  }
  return { plan, server, shown: { ...definition, name }, isReadOnly: settings.read_only && !saysItWrites(tool) };
}

/** Whether a tool itself states that it writes. This overrides `read_only` in the settings. */
function saysItWrites({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint === false || annotations?.destructiveHint === true;
}

function own(plan: PlannedTool): OpenTool | null {
  const shown = OWN_TOOLS[plan.name];
  return shown ? { plan, shown: { ...shown, name: plan.name }, isReadOnly: plan.name === CODE_RUN } : null;
}

function shownName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MOST_NAME_CHARS);
  let shown = plain;
  for (let n = 2; taken.has(shown); n += 1) shown = `${plain}_${n}`;
  taken.add(shown);
  return shown;
}

/** Returns a tool's own report of its failure, short. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ToolError) return error.message.slice(0, 300);
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
