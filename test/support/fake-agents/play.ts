import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/**
 * A step of a fake agent; its steps run one after another. Fake agents speak as the real ones do, so that adapters and
 * all that builds on them can be tested without the real agents. The steps come from the variable FAKE_AGENT, from the
 * file `.fake-agent.json` in the tree, or from a line of the first message that begins with `FAKE `; as JSON, a list.
 */
export type FakeStep =
  | { say: string }
  /** It asks whether it may, and does it. */
  | { write: string; text: string }
  | { run: string }
  /** It does so unasked. */
  | { touch: string; text?: string }
  | { ask: string; options?: string[] }
  /** It calls a tool of the MCP server of its settings. */
  | { mcp: string; input: Json }
  | { hang: true }
  | { sleepMs: number }
  /** It is gone at once; a resumed session goes on after it. */
  | { crash: true }
  | { fail: string }
  /** It writes this as it stands: no line of its protocol. */
  | { raw: string };

export type Json = Record<string, unknown>;

/** How a step asks, in the words of a protocol. Results are what a model would read. */
export interface Hands {
  say(text: string): void;
  mayWrite(path: string, text: string): Promise<PermissionReply>;
  mayRun(line: string): Promise<PermissionReply>;
  ask(question: string, options: readonly string[]): Promise<string>;
  /** A tool's result, for the protocol to tell of. */
  result(text: string, isError: boolean): void;
  mcp(): { url: string; token: string };
}
export type PermissionReply = { allow: true; text?: string } | { allow: false; why: string; endsTurn?: boolean };

export interface Session {
  id: string;
  steps: FakeStep[];
  done: number;
  results: string[];
  folder: string;
}

/** Returns the session of an id as the agent's home holds it; undefined where it is not known. */
export function loadSession(id: string): Session | undefined {
  const file = sessionFile(id);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Session) : undefined;
}

/** Begins a session; it is kept from the first message on, as real agents do. */
export function newSession(id: string, message: string): Session {
  const line = /^FAKE (.*)$/m.exec(message)?.[1];
  const beside = join(process.cwd(), ".fake-agent.json");
  const text = process.env["FAKE_AGENT"] ?? line ?? (existsSync(beside) ? readFileSync(beside, "utf8") : "[]");
  const session = { id, steps: JSON.parse(text) as FakeStep[], done: 0, results: [message], folder: process.cwd() };
  save(session);
  return session;
}

/** A session holds its later messages. */
export function remember(session: Session, text: string): void {
  session.results.push(text);
  save(session);
}

/** Takes the steps that are left in this turn; returns null when it is over, else why it failed. */
export async function play(session: Session, hands: Hands, stopped: AbortSignal): Promise<string | null> {
  while (session.done < session.steps.length && !stopped.aborted) {
    const step = session.steps[session.done] as FakeStep;
    if ("fail" in step) return step.fail;
    if ("crash" in step) {
      finish(session, "crashed");
      process.kill(process.pid, "SIGKILL");
      return null;
    }
    const { text, endsTurn = false } = await take(step, session, hands, stopped);
    if (stopped.aborted) break;
    finish(session, text);
    if (endsTurn) return null;
  }
  return null;
}

type Step = Exclude<FakeStep, { fail: string } | { crash: true }>;
type Asking = Extract<Step, { write: string } | { run: string } | { ask: string } | { mcp: string }>;
interface Taken {
  text: string;
  isError?: boolean;
  endsTurn?: boolean;
}

async function take(step: Step, session: Session, hands: Hands, stopped: AbortSignal): Promise<Taken> {
  if ("say" in step) hands.say(step.say);
  else if ("raw" in step) process.stdout.write(step.raw);
  else if ("touch" in step) put(join(session.folder, step.touch), step.text ?? "");
  else if ("hang" in step) await untilStopped(stopped);
  else if ("sleepMs" in step) await new Promise((resolve) => setTimeout(resolve, step.sleepMs));
  else {
    const taken = await use(step, session, hands);
    if (!stopped.aborted) hands.result(taken.text, taken.isError ?? false);
    return taken;
  }
  return { text: "" };
}

async function use(step: Asking, session: Session, hands: Hands): Promise<Taken> {
  if ("write" in step) {
    const path = join(session.folder, step.write);
    const verdict = await hands.mayWrite(path, step.text);
    if (!verdict.allow) return denied(verdict);
    put(path, verdict.text ?? step.text);
    return { text: "File created successfully", isError: false };
  }
  if ("run" in step) {
    const verdict = await hands.mayRun(step.run);
    return verdict.allow ? run(verdict.text ?? step.run, session.folder) : denied(verdict);
  }
  if ("ask" in step) return { text: await hands.ask(step.ask, step.options ?? []), isError: false };
  return callTool(hands.mcp(), step.mcp, step.input);
}

function denied({ why, endsTurn = false }: Extract<PermissionReply, { allow: false }>): Taken {
  return { text: why, isError: true, endsTurn };
}

function untilStopped(stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const awake = setInterval(() => undefined, 1000);
    stopped.addEventListener("abort", () => {
      clearInterval(awake);
      resolve();
    });
  });
}

/** Reads lines of JSON from standard input for as long as there are any. */
export function onMessages(take: (message: Json) => void, ended: () => void = () => process.exit(0)): void {
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  lines.on("line", (line) => take(JSON.parse(line) as Json));
  lines.on("close", ended);
}

export function send(message: Json): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function run(line: string, cwd: string): Promise<Taken> {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", line], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => (text += part));
    }
    child.on("close", (code) => resolve({ text, isError: code !== 0 }));
  });
}

/** Calls one tool over streamable HTTP; the reply may be JSON, or a stream of events that ends with it. */
async function callTool({ url, token }: { url: string; token: string }, name: string, input: Json): Promise<Taken> {
  const post = async (body: Json): Promise<Json> => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
    const text = await response.text();
    if (!response.ok) return { error: { message: `${response.status} ${text}` } };
    if (!response.headers.get("content-type")?.includes("event-stream"))
      return text === "" ? {} : (JSON.parse(text) as Json);
    const events = [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as Json);
    return events.find((one) => one["id"] === body["id"]) ?? { error: { message: "no reply came" } };
  };
  const clientInfo = { name: "fake-agent", version: "1" };
  await post({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  await post({ method: "notifications/initialized" });
  const params = { name, arguments: input, _meta: { progressToken: 2 } };
  const { result, error } = await post({ id: 2, method: "tools/call", params });
  if (error !== undefined) return { text: JSON.stringify(error), isError: true };
  return { text: JSON.stringify(result), isError: (result as Json)["isError"] === true };
}

function finish(session: Session, result: string): void {
  session.done += 1;
  session.results.push(result);
  save(session);
}

function save(session: Session): void {
  put(sessionFile(session.id), JSON.stringify(session));
}

const sessionFile = (id: string): string => join(process.env["HOME"] ?? ".", ".fake-agent", `${id}.json`);
