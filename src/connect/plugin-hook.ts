import type { WantedHook } from "./agent.ts";

/** A timer of Node takes no more. */
const MOST_MS = 2 ** 31 - 1;
/** A plugin has so much time after its hook's own. */
export const PLUGIN_MARGIN_MS = 10_000;

/**
 * Returns the first lines of a plugin in JavaScript that sends prompts to this hook. They define `TIMEOUT_MS`, after
 * which the hook is ended, and `hookReply(prompt, signal)`: it runs the hook once, and resolves with the object that the
 * hook has printed, with a no where the hook could not start, or with an empty one. An aborted signal ends the hook, which withdraws its request.
 */
export function hookReplyCode(name: string, { command, timeoutSeconds }: WantedHook): string {
  const timeoutMs = Math.min(timeoutSeconds * 1000, MOST_MS - PLUGIN_MARGIN_MS);
  return `import { spawn } from "node:child_process";

const COMMAND = ${JSON.stringify(command)};
const TIMEOUT_MS = ${timeoutMs};
const NOT_STARTED = ${JSON.stringify(notStarted(name))};

${HOOK_REPLY}`;
}

const notStarted = (name: string): string =>
  `Parley denied it, because its hook could not start: run parley connect ${name} on this computer to renew it.`;

const HOOK_REPLY = `function hookReply(prompt, signal) {
  const text = JSON.stringify(prompt);
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({});
    const hook = spawn("/bin/sh", ["-c", "exec " + COMMAND], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
    const end = () => hook.kill("SIGTERM");
    signal?.addEventListener("abort", end, { once: true });
    let out = "";
    hook.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    hook.stdin.on("error", () => undefined);
    hook.stdin.end(text);
    hook.on("error", () => resolve({}));
    hook.on("close", (code) => {
      signal?.removeEventListener("abort", end);
      // A hook that is not there, or that cannot start, has said nothing.
      if (code && out === "") return resolve({ decision: "deny", reason: NOT_STARTED });
      try {
        resolve(Object(JSON.parse(out)));
      } catch {
        resolve({});
      }
    });
  });
}`;
