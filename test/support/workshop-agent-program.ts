import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Step } from "./workshop-agent.ts";

/** An agent that does what its message says, step by step, and speaks in lines of JSON (workshop-agent.ts). */
const tell = (said: object): void => void process.stdout.write(`${JSON.stringify(said)}\n`);
const waiting: ((decision: unknown) => void)[] = [];
let steps: readonly Step[] | null = null;
let heedsNothing = false;

createInterface({ input: process.stdin }).on("line", (line) => {
  const heard = JSON.parse(line) as { steps?: readonly Step[]; decision?: unknown; interrupt?: true };
  if (heard.steps) {
    steps = heard.steps;
    void play();
  } else if (heard.interrupt) {
    if (!heedsNothing) process.exit(0);
  } else {
    waiting.shift()?.(heard.decision);
  }
});

async function play(): Promise<void> {
  for (const step of steps ?? []) await act(step);
}

async function act(step: Step): Promise<void> {
  if ("say" in step) tell({ message: step.say });
  if ("sayEnv" in step) tell({ message: process.env[step.sayEnv] ?? "not there" });
  if ("errors" in step) console.error(step.errors);
  if ("turns" in step) tell({ turns: step.turns });
  if ("write" in step) writeFileSync(step.write, "written by the agent\n");
  if ("post" in step) {
    const key = step.key ?? process.env["ANTHROPIC_API_KEY"] ?? "";
    const url = `${process.env["ANTHROPIC_BASE_URL"]}${step.post}`;
    const reply = await fetch(url, { method: "POST", body: "{}", headers: { "x-api-key": key } });
    tell({ message: `${reply.status} ${await reply.text()}` });
  }
  if ("sleepMs" in step) await sleep(step.sleepMs);
  if ("start" in step) {
    const [program = "", ...args] = step.start;
    spawn(program, args, { detached: true, stdio: "ignore" }).unref();
  }
  if ("heed" in step) {
    heedsNothing = true;
    process.on("SIGINT", () => {});
  }
  if ("permission" in step || "question" in step) {
    tell(step);
    tell({ message: JSON.stringify(await new Promise((decided) => waiting.push(decided))) });
  }
  if ("end" in step) {
    tell({ end: step.end });
    if (!step.stays) process.exit(0);
  }
}
