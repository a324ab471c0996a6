import { spawn } from "node:child_process";
import type { HttpHook, PromptingAgent, WantedHook } from "../../connect/agent.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { printable } from "../../lib/printable.ts";
import { EXIT, type Io } from "../command.ts";

/** People have so long for a test, where no other time is named. */
const USUAL_TIMEOUT = "10m";
const HARMLESS = "echo hello";

/** A hook that is tried: its agent, and what was written for it. */
export interface TriedHook {
  agent: PromptingAgent;
  hook: WantedHook;
}

type Outcome = "allowed" | "denied" | "not decided";
/** The end of a test prompt, and the words that the agent receives. */
interface Trial {
  outcome: Outcome;
  words: string;
}

/**
 * Raises one harmless prompt of each agent by the hook that was written for it, waits until people have decided, and
 * returns the exit code: done where each was allowed or denied. Nothing of what is asked runs.
 */
export async function tryPrompts(hooks: readonly TriedHook[], timeout: string | undefined, io: Io): Promise<number> {
  io.tell("One test prompt of each agent is in the inbox: decide it there. Ctrl-C withdraws them.");
  const outcomes = await Promise.all(
    hooks.map(async ({ agent, hook: { command, http } }) => {
      const within = timeout ?? USUAL_TIMEOUT;
      const { outcome, words } = http
        ? await posted(agent, http, within, io)
        : await tried(agent, `exec ${command} --timeout ${within}`, io);
      if (!io.interrupted.aborted) io.out(printable(`${agent.title}: ${outcome}${words === "" ? "" : `. ${words}`}`));
      return outcome;
    }),
  );
  if (io.interrupted.aborted) return EXIT.interrupted;
  return outcomes.includes("not decided") ? EXIT.unanswered : EXIT.done;
}

/** Returns a prompt in the form of any agent: each reads the members that are its own. */
export function testPrompt({ name, title, events }: PromptingAgent): object {
  const description = `Test: ${title} may run \`${HARMLESS}\`. Nothing runs.`;
  return {
    hook_event_name: events[0],
    session_id: "parley-connect",
    conversation_id: "parley-connect",
    tool_name: "Bash",
    // opencode sends the input of the call below what it asks.
    tool_input: { command: HARMLESS, description, ...(name === "opencode" && { input: { command: HARMLESS } }) },
    // Cursor sends the command itself, and people see nothing else.
    command: `${HARMLESS} # ${description}`,
  };
}

/** Sends a prompt to the server as the agent would, and reads the reply. */
async function posted(agent: PromptingAgent, http: HttpHook, within: string, io: Io): Promise<Trial> {
  const address = new URL(http.url);
  address.searchParams.set("timeout", within);
  const key = http.keyVariable === undefined ? undefined : io.env[http.keyVariable];
  try {
    const reply = await systemFetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(testPrompt(agent)),
      signal: io.interrupted,
    });
    const text = await reply.text();
    return reply.ok ? outcomeIn(text) : { outcome: "not decided", words: `The server replied with ${reply.status}.` };
  } catch (error) {
    return { outcome: "not decided", words: error instanceof Error ? error.message : String(error) };
  }
}

/** Runs a hook as its agent would, and reads what it says to the agent. */
function tried(agent: PromptingAgent, command: string, io: Io): Promise<Trial> {
  const child = spawn("/bin/sh", ["-c", command], { env: { ...io.env }, stdio: "pipe" });
  const end = () => child.kill("SIGTERM");
  io.interrupted.addEventListener("abort", end, { once: true });
  if (io.interrupted.aborted) end();
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(testPrompt(agent)));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ outcome: "not decided", words: error.message }));
    child.on("close", (code) => {
      io.interrupted.removeEventListener("abort", end);
      resolve(code === 0 ? outcomeIn(out) : { outcome: "not decided", words: err.trim() });
    });
  });
}

/** Stands in the reason of a no that the hook gave by itself, because it reached nobody. */
const NOBODY_ASKED = /^Parley [^"]*could not ask anybody\b/;

/** Returns the decision in what a hook prints, and the reason where the agent is told one. */
function outcomeIn(out: string): Trial {
  const reply = /"(?:permission|permissionDecision|behavior|decision)":"(\w+)"/.exec(out)?.[1];
  const words = /"((?:Approved|Not approved|Rejected|Parley)\b(?:[^"\\]|\\.)*)"/.exec(out)?.[1] ?? "";
  if (NOBODY_ASKED.test(words)) return { outcome: "not decided", words };
  return { outcome: reply === "allow" ? "allowed" : reply === "deny" ? "denied" : "not decided", words };
}
