import type { WantedHook } from "../../agent.ts";
import { OWN_TOOLS } from "../../own-tools.ts";
import { hookReplyCode, PLUGIN_MARGIN_MS } from "../../plugin-hook.ts";
import { PLUGIN_ID } from "./settings.ts";

const FIRST_LINE =
  "// Parley: people decide about OpenClaw's tool calls. parley disconnect openclaw removes this file.";

/** OpenClaw's gateway loads a plugin that says so in this file beside its code, and skips any other in silence. */
export const MANIFEST = `${JSON.stringify(
  {
    id: PLUGIN_ID,
    name: "Parley",
    activation: { onStartup: true },
    configSchema: { type: "object", additionalProperties: false },
  },
  null,
  2,
)}\n`;

/** Returns whether a text is a plugin that Parley wrote. */
export function isPlugin(text: string): boolean {
  return text.startsWith(FIRST_LINE);
}

/** The tools that only look at something or lead to another tool; Parley's own ask people already. */
const QUIET_TOOLS =
  "read|ls|find|grep|view_image|ask_user|update_plan|progress_card|session_status|sessions_(list|history|search|yield)|" +
  `agents_(list|wait)|memory_(search|get)|get_goal|tool_(search|describe|call)|parley__(${OWN_TOOLS})`;
const USUAL_TOOLS = `^(?!(${QUIET_TOOLS})$)`;

const PLUGIN = `async function beforeToolCall({ toolName, params }, { agentId, sessionKey, sessionId, abortSignal }) {
  if (!ASKED.test(toolName)) return undefined;
  const session_id = sessionKey ?? sessionId;
  const call = { tool_name: toolName, tool_input: params };
  const prompt = { hook_event_name: "before_tool_call", session_id, agent_id: agentId, ...call };
  const { decision, reason } = await hookReply(prompt, abortSignal);
  if (abortSignal?.aborted) return { block: true, blockReason: "The call was cancelled." };
  // The params that people saw run, whatever another plugin has made of them.
  if (decision === "allow") return { params };
  if (decision === "deny") return { block: true, blockReason: reason };
  // OpenClaw asks by itself then, and denies where it has nobody to ask.
  const description = (reason ?? "Parley's hook ended without a decision.").slice(0, 250);
  const allowedDecisions = ["allow-once", "deny"];
  return { requireApproval: { title: ("Run " + toolName).slice(0, 70), description, severity: "warning", allowedDecisions } };
}

// It is told of each call, and waits for none: only a digest of the result leaves this computer.
async function afterToolCall({ toolName, params, result, error }, { sessionKey, sessionId }) {
  if (!ASKED.test(toolName)) return;
  const call = { tool_name: toolName, tool_input: params, error, exit: result?.details?.exitCode, tool_response: result };
  await tellOver({ hook_event_name: "after_tool_call", session_id: sessionKey ?? sessionId, ...call });
}

export default {
  id: ID,
  name: "Parley",
  description: "People decide about tool calls.",
  register(api) {
    // The last one to be asked: another plugin's refusal needs nobody, and the params of the last one run.
    api.on("before_tool_call", beforeToolCall, { timeoutMs: WAIT_MS, priority: Number.MIN_SAFE_INTEGER });
    api.on("after_tool_call", afterToolCall);
  },
};`;

/**
 * Returns the plugin that runs this hook before each use of a tool. OpenClaw waits meanwhile; a cancelled turn ends the
 * hook, which withdraws its request. OpenClaw denies a tool whose plugin throws or takes too long.
 *
 * @throws {SyntaxError} where `always` is no regular expression
 */
export function pluginText(hook: WantedHook): string {
  const tools = hook.always ?? USUAL_TOOLS;
  new RegExp(tools);
  return `${FIRST_LINE}
${hookReplyCode("openclaw", hook)}

const ID = ${JSON.stringify(PLUGIN_ID)};
const WAIT_MS = TIMEOUT_MS + ${PLUGIN_MARGIN_MS};
const ASKED = new RegExp(${JSON.stringify(tools)});

${PLUGIN}
`;
}
