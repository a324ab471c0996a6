import type { WantedHook } from "../../agent.ts";

const FIRST_LINE =
  "// Parley: people answer opencode's permission prompts. parley disconnect opencode removes this file.";

/** Returns whether a text is a plugin that Parley wrote. */
export function isPlugin(text: string): boolean {
  return text.startsWith(FIRST_LINE);
}

const IMPORT = 'import { spawn } from "node:child_process";';

/**
 * Returns the plugin that runs this hook for each prompt of opencode. opencode waits at its terminal meanwhile; a
 * decision there ends the hook, which withdraws its request. A hook that says nothing leaves the prompt there.
 */
export function pluginText({ command, timeoutSeconds }: WantedHook): string {
  return `${FIRST_LINE}
${IMPORT}

const COMMAND = ${JSON.stringify(command)};
const TIMEOUT_MS = ${timeoutSeconds * 1000};

function decisionOf(prompt, asking) {
  return new Promise((resolve) => {
    const hook = spawn("/bin/sh", ["-c", "exec " + COMMAND], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
    asking.set(prompt.tool_use_id, hook);
    let out = "";
    hook.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    hook.stdin.on("error", () => undefined);
    hook.stdin.end(JSON.stringify(prompt));
    hook.on("error", () => resolve(undefined));
    hook.on("close", () => {
      try {
        resolve(JSON.parse(out).decision);
      } catch {
        resolve(undefined);
      }
    });
  });
}

export const Parley = async ({ client }) => {
  const asking = new Map();

  async function inputOf({ sessionID, tool }) {
    if (!tool) return undefined;
    const found = await client.session.message({ path: { id: sessionID, messageID: tool.messageID } });
    return found.data?.parts.find((part) => part.callID === tool.callID)?.state?.input;
  }

  async function ask({ id, sessionID, permission, patterns, metadata, tool }) {
    asking.set(id, undefined);
    const input = await inputOf({ sessionID, tool }).catch(() => undefined);
    if (!asking.has(id)) return;
    const tool_input = { ...metadata, patterns, ...(input && { input }) };
    const prompt = { hook_event_name: "permission.asked", session_id: sessionID, tool_name: permission, tool_input };
    const decision = await decisionOf({ ...prompt, tool_use_id: id }, asking);
    // Somebody has decided at the terminal.
    if (!asking.delete(id)) return;
    const response = { allow: "once", deny: "reject" }[decision];
    if (response === undefined) return;
    await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response } });
  }

  return {
    event: async ({ event: { type, properties } }) => {
      if (type === "permission.asked") void ask(properties).catch(() => undefined);
      if (type !== "permission.replied") return;
      const id = properties.requestID ?? properties.permissionID;
      const hook = asking.get(id);
      asking.delete(id);
      hook?.kill("SIGTERM");
    },
    dispose: async () => {
      for (const hook of asking.values()) hook?.kill("SIGTERM");
      asking.clear();
    },
  };
};
`;
}
