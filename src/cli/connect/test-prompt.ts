import { spawn } from "node:child_process";
import type { HttpHook, PromptDecision, PromptingAgent, WantedHook } from "../../connect/agent.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { printable } from "../../lib/printable.ts";
import { TEST_SESSION } from "../../connect/use-over.ts";
import { EXIT, type Io } from "../command.ts";

/** People have so long for a test, where no other time is named. */
const USUAL_TIMEOUT = "10m";
/** No rule for coding agents of the first policy covers it: people are asked. */
const HARMLESS = "printf hello";

/** A hook that is tried: its agent, and what was written for it. */
export interface TriedHook {
  agent: PromptingAgent;
  hook: WantedHook;
}

const OUTCOMES = { allow: "allowed", deny: "denied", undecided: "not decided" } as const;
type Outcome = (typeof OUTCOMES)[PromptDecision["kind"]];
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

/** Returns an event that asks people about a harmless command, as the agent sends it. */
export function testPrompt({ title, events, testEvent }: PromptingAgent): object {
  const description = `Test: ${title} may run \`${HARMLESS}\`. Nothing runs.`;
  const tool_input = { command: HARMLESS, description };
  const usual = { hook_event_name: events[0], session_id: TEST_SESSION, tool_name: "Bash", tool_input };
  return testEvent ? testEvent(usual) : usual;
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
    return reply.ok
      ? outcomeIn(agent, text)
      : { outcome: "not decided", words: `The server replied with ${reply.status}.` };
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
      resolve(code === 0 ? outcomeIn(agent, out) : { outcome: "not decided", words: err.trim() });
    });
  });
}

/** Stands in the reason of a no that the hook gave by itself, because it reached nobody. */
const NOBODY_ASKED = /^Parley [^"]*could not ask anybody\b/;

/** Returns the decision in what a hook prints, and the reason where the agent is told one. */
function outcomeIn({ decisionIn = usualDecisionIn }: PromptingAgent, out: string): Trial {
  const words = /"((?:Approved|Not approved|Rejected|Parley)\b(?:[^"\\]|\\.)*)"/.exec(out)?.[1] ?? "";
  return { outcome: NOBODY_ASKED.test(words) ? "not decided" : OUTCOMES[decisionIn(out)], words };
}

function usualDecisionIn(out: string): PromptDecision["kind"] {
  const reply = /"(?:permission|permissionDecision|behavior|decision)":"(\w+)"/.exec(out)?.[1];
  return reply === "allow" || reply === "deny" ? reply : "undecided";
}
