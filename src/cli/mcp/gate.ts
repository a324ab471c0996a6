import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { GATE_NAME } from "../../gate/model/gate-call.ts";
import { Gateway } from "../../gateway/gateway.ts";
import { openHttpGateClient } from "../../gateway/http-gate-client.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { base62 } from "../../lib/id.ts";
import { linesOf } from "../../lib/lines.ts";
import { systemRandom } from "../../lib/random.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { agentKey, serverUrl } from "../server-client.ts";
import { timeWithin } from "../values.ts";

/** Most clients give a call up after a minute in which they hear nothing. */
const USUAL_HOLD = "50s";
/** How long a server may take to end after its input has ended, and again after the signal. */
const END_WITHIN_MS = 2000;
/** Seven days. */
const LONGEST_WAIT_MS = 7 * 86_400_000;
const RUN_LENGTH = 22;
/** The environment variables that the gate withholds from the program. */
const OWN_KEYS: ReadonlySet<string> = new Set(["PARLEY_KEY", "A2H_API_KEY"]);

type Program = ChildProcessByStdio<Writable, Readable, null>;

const NAME_WANTED = "--as must be a small letter, and then up to 63 of small letters, digits, _ and -";

export const gate = command({
  takes: {
    "--as NAME": {
      help: "what the gate is called in rules and requests: small letters, digits, _ and -",
      read: nameFrom,
      required: NAME_WANTED,
      wire: ["gate"],
    },
    "--hold TIME": {
      help: "how long a call is held for people where the client hears of no progress",
      read: timeWithin(0, LONGEST_WAIT_MS),
      default: USUAL_HOLD,
    },
    "--timeout TIME": {
      help: "how long people have, 60s to 7d; left out, 1h",
      read: (text, name) => timeWithin(60_000, LONGEST_WAIT_MS)(text, name) / 1000,
      wire: ["timeout_seconds"],
    },
    "--url URL": "the server, else PARLEY_URL, else the one that runs on this computer; its key is in PARLEY_KEY",
    "-- COMMAND [ARGUMENT...]": "",
  },
  example: "parley gate --as files -- npx -y @modelcontextprotocol/server-filesystem .",
  run({ command: [program, ...args], as: name, hold: holdMs, timeout: timeoutSeconds, ...flags }, io) {
    const url = serverUrl(flags.url, io.env);
    const key = agentKey(url, io.env);
    const client = openHttpGateClient({ url, key, gate: name, timeoutSeconds, clock: systemClock, fetch: systemFetch });
    return stand(io, { program, args }, { gate: name, client, holdMs });
  },
});

function nameFrom(text: string): string {
  if (!GATE_NAME.test(text)) throw new WrongUsage(NAME_WANTED);
  return text;
}

interface GateConnection {
  gate: string;
  client: ReturnType<typeof openHttpGateClient>;
  holdMs: number;
}

/** Stands between this program's client and the program, until either has ended. Returns the program's exit code. */
async function stand(
  io: Io,
  { program, args }: { program: string; args: readonly string[] },
  { gate, client, holdMs }: GateConnection,
): Promise<number> {
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !OWN_KEYS.has(name)));
  const child = spawn(program, [...args], { stdio: ["pipe", "pipe", "inherit"], env });
  const started = once(child, "spawn");
  const closed = once(child, "close") as Promise<[number | null]>;
  try {
    await started;
  } catch (error) {
    closed.catch(() => undefined);
    throw new WrongUsage(`${program} cannot be started: ${error instanceof Error ? error.message : String(error)}`);
  }
  // It may have gone before its message came.
  child.stdin.on("error", () => undefined);
  child.on("error", (error) => io.tell(`parley gate: ${error.message}`));
  const between = new Gateway({
    gate,
    client,
    holdMs,
    clock: systemClock,
    newRun: () => base62(systemRandom, RUN_LENGTH),
    toClient: (line) => io.out(line),
    toServer: (line) => void child.stdin.write(`${line}\n`),
    onError: (error) =>
      io.tell(`parley gate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  });
  const over = new AbortController();
  const serving = (async () => {
    try {
      for await (const line of linesOf(child.stdout)) between.fromServer(line);
    } catch (error) {
      if (!over.signal.aborted) throw error;
    }
    await between.serverGone();
  })();
  const reading = (async () => {
    for await (const line of linesOf(process.stdin)) between.fromClient(line);
  })();
  const interrupted = new Promise<void>((resolve) => {
    io.interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
  const first = await Promise.race([
    serving.then(() => "server" as const),
    reading.then(() => "client" as const),
    interrupted.then(() => "interrupted" as const),
  ]);
  between.clientGone();
  if (first !== "server") await end(child, closed);
  // A process that the program has left behind may keep its output open for ever.
  over.abort();
  child.stdout.destroy();
  await serving;
  const [code] = await closed;
  process.stdin.destroy();
  return first === "interrupted" ? EXIT.interrupted : first === "client" ? EXIT.done : (code ?? EXIT.refused);
}

/** Ends the program as the protocol has it: its input ends, then it gets SIGTERM, then SIGKILL. */
async function end(child: Program, closed: Promise<unknown>): Promise<void> {
  child.stdin.end();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const over = new AbortController();
    const late = systemClock.sleep(END_WITHIN_MS, over.signal).then(() => "late" as const);
    const first = await Promise.race([closed.then(() => "closed" as const), late]);
    over.abort();
    if (first === "closed") return;
    child.kill(signal);
  }
}
