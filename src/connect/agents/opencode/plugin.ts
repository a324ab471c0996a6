import type { WantedHook } from "../../agent.ts";
import { hookReplyCode } from "../../plugin-hook.ts";

const FIRST_LINE =
  "// Parley: people answer opencode's permission prompts. parley disconnect opencode removes this file.";

/** Returns whether a text is a plugin that Parley wrote. */
export function isPlugin(text: string): boolean {
  return text.startsWith(FIRST_LINE);
}

/** Hears of prompts and questions, and answers them. */
const PLUGIN = `const GO_ON =
  "\\n\\nopencode has refused your other calls too, about which nobody has decided. " +
  "Go on with the task, if there is still something to do.";

export const Parley = async ({ client, directory: cwd }) => {
  const asking = new Map();
  // The approved prompts of each call.
  const running = new Map();

  // The arguments of a call stand in the session once the call is more than pending.
  async function inputOf({ sessionID, tool }, signal) {
    for (let tries = 0; tries < 20 && tool && !signal.aborted; tries += 1) {
      const found = await client.session.message({ path: { id: sessionID, messageID: tool.messageID } });
      const { status, input } = found.data?.parts.find((part) => part.callID === tool.callID)?.state ?? {};
      if (status !== undefined && status !== "pending") return input;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return undefined;
  }

  async function post(url, requestID, body) {
    const headers = { "content-type": "application/json" };
    const sent = await client._client?.post({ url, path: { requestID }, body, headers }).catch(() => undefined);
    return sent?.response?.ok === true;
  }

  function begin(id, sessionID) {
    const stop = new AbortController();
    asking.set(id, { sessionID, stop });
    return stop.signal;
  }

  // A rejection takes all that waits in its session, and ends the turn: its model would not read the reason.
  async function othersWait(id, sessionID) {
    const { data } = (await client._client?.get({ url: "/permission" }).catch(() => undefined)) ?? {};
    return Array.isArray(data) && data.some((one) => one.sessionID === sessionID && one.id !== id);
  }

  // The agent and the model stay those of the call. The session of a subagent is over with its turn.
  async function goOn({ sessionID, messageID }, reason) {
    const { data: session } = await client.session.get({ path: { id: sessionID } });
    const { data: message } = await client.session.message({ path: { id: sessionID, messageID } });
    if (!session || session.parentID || !message) return;
    const { agent, mode, providerID, modelID } = message.info;
    const parts = [{ type: "text", text: reason + GO_ON }];
    const body = { agent: agent ?? mode, model: { providerID, modelID }, parts };
    await client.session.promptAsync({ path: { id: sessionID }, body });
  }

  async function permission({ id, sessionID, permission, patterns, metadata, tool }) {
    const signal = begin(id, sessionID);
    const input = await inputOf({ sessionID, tool }, signal).catch(() => undefined);
    // People decide about no call that they do not see: it stays at the terminal.
    if (!input) asking.delete(id);
    if (!asking.has(id)) return;
    const tool_input = { ...metadata, patterns, input };
    const prompt = { hook_event_name: "permission.asked", session_id: sessionID, tool_name: permission, tool_input };
    const { decision, reason } = await hookReply({ ...prompt, cwd, tool_use_id: id }, signal);
    // Somebody has decided at the terminal.
    if (!asking.delete(id)) return;
    if (decision === "allow") running.set(tool.callID, [...(running.get(tool.callID) ?? []), { ...prompt, tool_use_id: id }]);
    const response = { allow: "once", deny: "reject" }[decision];
    if (response === undefined) return;
    const refused = { reply: response, message: reason };
    // With a reason its model goes on; without one the turn ends.
    if (decision === "deny" && reason) {
      const endsTurn = await othersWait(id, sessionID);
      const isSent = await post("/permission/{requestID}/reply", id, refused);
      if (isSent && endsTurn) await goOn({ sessionID, messageID: tool.messageID }, reason);
      if (isSent) return;
    }
    await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response } });
  }

  async function question({ id, sessionID, questions }) {
    const signal = begin(id, sessionID);
    const prompt = { hook_event_name: "question.asked", session_id: sessionID, tool_name: "question" };
    const { answers } = await hookReply({ ...prompt, cwd, tool_use_id: id, tool_input: { questions } }, signal);
    if (!asking.delete(id) || !answers) return;
    await post("/question/{requestID}/reply", id, { answers });
  }

  // The end of a call stands in its part of the message, also where it failed. Only a digest of what it returned leaves this computer.
  function tellEnd({ callID, state: { output, error, metadata } }) {
    const prompts = running.get(callID) ?? [];
    running.delete(callID);
    const end = { hook_event_name: "message.part.updated", error, exit: metadata?.exit, tool_response: output };
    for (const prompt of prompts) void tellOver({ ...prompt, ...end });
  }

  function end(id) {
    const { stop } = asking.get(id);
    asking.delete(id);
    stop.abort();
  }

  return {
    event: async ({ event: { type, properties } }) => {
      if (type === "permission.asked") void permission(properties).catch(() => undefined);
      if (type === "question.asked") void question(properties).catch(() => undefined);
      const part = type === "message.part.updated" ? properties.part : undefined;
      if (part?.type === "tool" && ["completed", "error"].includes(part.state.status)) tellEnd(part);
      // A session that is idle waits for nothing: its turn was interrupted.
      const isOver = ({ sessionID }) => type === "session.idle" && sessionID === properties.sessionID;
      const isReplied = ["permission.replied", "question.replied", "question.rejected"].includes(type);
      const replied = isReplied ? (properties.requestID ?? properties.permissionID) : undefined;
      for (const [id, one] of [...asking]) if (id === replied || isOver(one)) end(id);
    },
    dispose: async () => [...asking.keys()].forEach(end),
  };
};`;

/**
 * Returns the plugin that runs this hook for each prompt of opencode. opencode waits at its terminal meanwhile; a
 * decision there, or an interrupt, ends the hook, which withdraws its request. A hook that says nothing leaves the prompt there.
 */
export function pluginText(hook: WantedHook): string {
  return `${FIRST_LINE}
${hookReplyCode("opencode", hook)}

${PLUGIN}
`;
}
