import { OVER_S, type UseOver, type WantedHook } from "./agent.ts";

/** A timer of Node takes no more. */
const MOST_MS = 2 ** 31 - 1;
/** A plugin has so much time after its hook's own. */
export const PLUGIN_MARGIN_MS = 10_000;

/**
 * Returns the first lines of a plugin in JavaScript that sends prompts to this hook. They define `TIMEOUT_MS`, after
 * which the hook is ended, and `hookReply(prompt, signal)`: it runs the hook once, and resolves with the object that the
 * hook has printed, with a no where the hook could not start, or with an empty one. An aborted signal ends the hook, which
 * withdraws its request. `tellOver(event)` tells the hook after a tool that a use is over, and resolves soon in any case.
 */
export function hookReplyCode(name: string, { command, over, timeoutSeconds }: WantedHook): string {
  const timeoutMs = Math.min(timeoutSeconds * 1000, MOST_MS - PLUGIN_MARGIN_MS);
  return `import { spawn } from "node:child_process";

const COMMAND = ${JSON.stringify(command)};
const TIMEOUT_MS = ${timeoutMs};
const NOT_STARTED = ${JSON.stringify(notStarted(name))};
const OVER = ${JSON.stringify(over ?? null)};

${HOOK_REPLY}

${TELL_OVER}`;
}

/** Returns how a use ended, from the error and the exit status that a plugin has found in what its agent says. */
export function toldEnd({ error, exit }: Readonly<Record<string, unknown>>): Pick<UseOver, "end" | "status"> {
  if (typeof exit === "number" && exit !== 0) return { end: "failed", status: `exit ${exit}` };
  return { end: error === undefined || error === null || error === "" ? "done" : "failed" };
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

const TELL_OVER = `function tellOver(event) {
  return new Promise((resolve) => {
    if (OVER === null) return resolve();
    const hook = spawn("/bin/sh", ["-c", "exec " + OVER], { stdio: ["pipe", "ignore", "ignore"], timeout: ${OVER_S * 1000} });
    hook.stdin.on("error", () => undefined);
    hook.stdin.end(JSON.stringify(event));
    hook.on("error", () => resolve());
    hook.on("close", () => resolve());
  }).catch(() => undefined);
}`;
