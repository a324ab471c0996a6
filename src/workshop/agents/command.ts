import type { Agent, AgentOrder, AgentPipes, Launch, AgentCallbacks } from "./agent.ts";
import { shown } from "./json-lines.ts";

/** Stands for the first message among a command's arguments, and names it in its environment. */
const PROMPT = "AA_PROMPT";
/** Linux takes no longer argument, and no longer variable of an environment with its name. */
const MOST_ARGUMENT_BYTES = 131_000;

/** Any program that takes its task from its arguments or its input. It cannot ask, and cannot go on later. */
export const command: Agent = {
  type: "command",
  needsSandbox: true,
  launch: (order) => Promise.resolve(launch(order)),
  async converse(order, pipes, callbacks, interrupt) {
    callbacks.session(order.sessionId);
    if (!takesArgument(order)) pipes.write(order.message);
    pipes.closeInput();
    await tellLines(pipes, callbacks);
    const { code, signal, stderr } = await pipes.exited;
    if (interrupt.aborted) return { kind: "interrupted" };
    if (code === 0) return { kind: "done" };
    if (signal !== null) return { kind: "died", error: `The command was ended by ${signal}.`, canResume: false };
    return { kind: "failed", error: `The command ended with exit code ${code}.${stderr && `\n${stderr}`}` };
  },
};

/** @throws {Error} when there is no program, or the message is too long for an argument */
function launch({ settings, message, env, mcp }: AgentOrder): Launch {
  const [program, ...args] = settings.command;
  if (program === undefined) throw new Error(`agents.${settings.name}.command is missing`);
  const isLong = Buffer.byteLength(message) > MOST_ARGUMENT_BYTES;
  if (isLong && args.includes(PROMPT)) {
    throw new Error(`The message is too long for an argument; without ${PROMPT} among them it comes as input.`);
  }
  return {
    argv: [program, ...args.map((arg) => (arg === PROMPT ? message : arg))],
    env: {
      ...env,
      ...(!isLong && { [PROMPT]: message }),
      PARLEY_MCP_URL: mcp.url,
      PARLEY_MCP_TOKEN: mcp.token,
    },
  };
}

const takesArgument = ({ settings }: AgentOrder): boolean => settings.command.slice(1).includes(PROMPT);

async function tellLines({ lines }: AgentPipes, callbacks: AgentCallbacks): Promise<void> {
  for await (const line of lines) if (line.trim() !== "") callbacks.message(shown(line));
}
