import type { WantedHook } from "../../agent.ts";

const FIRST_LINE =
  "// Parley: people answer opencode's permission prompts. parley disconnect opencode removes this file.";

/** Returns whether a text is a plugin that Parley wrote. */
export function isPlugin(text: string): boolean {
  return text.startsWith(FIRST_LINE);
}

const IMPORT = 'import { spawn } from "node:child_process";';

/** Runs the hook once; resolves with what it has printed. */
const HOOK_REPLY = `function hookReply(prompt, asking) {
  return new Promise((resolve) => {
    const hook = spawn("/bin/sh", ["-c", "exec " + COMMAND], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
    asking.set(prompt.tool_use_id, { sessionID: prompt.session_id, hook });
    let out = "";
    hook.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    hook.stdin.on("error", () => undefined);
    hook.stdin.end(JSON.stringify(prompt));
    hook.on("error", () => resolve({}));
    hook.on("close", () => {
      try {
        resolve(JSON.parse(out));
      } catch {
        resolve({});
      }
    });
  });
}`;

/** Hears of prompts and questions, and answers them. */
const PLUGIN = `export const Parley = async ({ client }) => {
  const asking = new Map();

  async function inputOf({ sessionID, tool }) {
    if (!tool) return undefined;
    const found = await client.session.message({ path: { id: sessionID, messageID: tool.messageID } });
    return found.data?.parts.find((part) => part.callID === tool.callID)?.state?.input;
  }

  async function post(url, requestID, body) {
    const headers = { "content-type": "application/json" };
    const sent = await client._client?.post({ url, path: { requestID }, body, headers }).catch(() => undefined);
    return sent?.response?.ok === true;
  }

  async function permission({ id, sessionID, permission, patterns, metadata, tool }) {
    asking.set(id, { sessionID });
    const input = await inputOf({ sessionID, tool }).catch(() => undefined);
    if (!asking.has(id)) return;
    const tool_input = { ...metadata, patterns, ...(input && { input }) };
    const prompt = { hook_event_name: "permission.asked", session_id: sessionID, tool_name: permission, tool_input };
    const { decision, reason } = await hookReply({ ...prompt, tool_use_id: id }, asking);
    // Somebody has decided at the terminal.
    if (!asking.delete(id)) return;
    const response = { allow: "once", deny: "reject" }[decision];
    if (response === undefined) return;
    const refused = { reply: response, message: reason };
    // With a reason its model goes on; without one the turn ends.
    if (decision === "deny" && reason && (await post("/permission/{requestID}/reply", id, refused))) return;
    await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response } });
  }

  async function question({ id, sessionID, questions }) {
    asking.set(id, { sessionID });
    const prompt = { hook_event_name: "question.asked", session_id: sessionID, tool_name: "question" };
    const { answers } = await hookReply({ ...prompt, tool_use_id: id, tool_input: { questions } }, asking);
    if (!asking.delete(id) || !answers) return;
    await post("/question/{requestID}/reply", id, { answers });
  }

  function end(id) {
    const { hook } = asking.get(id);
    asking.delete(id);
    hook?.kill("SIGTERM");
  }

  return {
    event: async ({ event: { type, properties } }) => {
      if (type === "permission.asked") void permission(properties).catch(() => undefined);
      if (type === "question.asked") void question(properties).catch(() => undefined);
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
export function pluginText({ command, timeoutSeconds }: WantedHook): string {
  return `${FIRST_LINE}
${IMPORT}

const COMMAND = ${JSON.stringify(command)};
const TIMEOUT_MS = ${timeoutSeconds * 1000};

${HOOK_REPLY}

${PLUGIN}
`;
}
