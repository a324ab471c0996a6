import type { ReadableNote } from "../../requests/model/agent-note.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock, type Clock } from "../../lib/clock.ts";
import { linesOf } from "../../lib/lines.ts";
import { AS_NODE } from "../../lib/own-program.ts";
import type { PermissionDecision, QuestionAnswer } from "../agents/agent.ts";
import { isAlive, signalProcess } from "../sandbox/processes.ts";
import { claimOf } from "./claim.ts";
import { readLog } from "./log.ts";
import {
  readSupervisorLine,
  type SupervisorCommand,
  type SupervisorLine,
  type SupervisorMark,
  type SupervisorOrder,
} from "./lines.ts";
import { makeFolder, writeWhole } from "../../lib/files/durable-files.ts";

export { killAttempt } from "../sandbox/processes.ts";
export { readLog } from "./log.ts";

/** A supervisor that somebody is attached to. Every message may be sent twice. */
export interface Link {
  pid: number;
  /**
   * Yields the lines after number `after`, and every later one, until the supervisor has gone. When the last is not
   * `ended`, it died; when the iteration ends before that, the link was closed.
   */
  lines(after: number): AsyncGenerator<SupervisorLine>;
  /** Passes a decision on. It has arrived when a line `decided` says so; until then it may be sent again. */
  decide(ref: string, decision: PermissionDecision | QuestionAnswer): void;
  /** Passes a note of a person on. It may be sent again: the agent gets it once from this supervisor. */
  note(note: ReadableNote): void;
  /** Ends the attempt; the line `ended` comes when its processes are gone. */
  cancel(): void;
  /** Ends the agent, to be resumed later; the line `ended` comes when its processes are gone. */
  interrupt(): void;
  /** Lets go of the supervisor, which goes on. */
  close(): void;
}

export interface NoLink {
  dead: true;
  reason: string;
}

/** The environment variables of the server that a supervisor gets; those of the agent are in its order. */
const PASSED = [
  "PATH",
  "LANG",
  "TZ",
  "TMPDIR",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  // Where Node keeps what it compiled (src/lib/compile-cache.ts).
  "NODE_COMPILE_CACHE",
  "NODE_DISABLE_COMPILE_CACHE",
];
const PROGRAM = fileURLToPath(new URL("./supervisor-main.ts", import.meta.url));
const START_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;
const SHOWN_OUTPUT = 2000;

/**
 * A supervisor has been started for the attempt and listens; it outlives the caller. The folder with its `tree` and `home`
 * is there already.
 *
 * @throws {Error} when it does not come up
 */
export async function startSupervisor(
  order: SupervisorOrder,
  { clock = systemClock, program = PROGRAM }: { clock?: Clock; program?: string } = {},
): Promise<Link> {
  const { folder } = order;
  makeFolder(folder, 0o700);
  const former = await readMark(folder);
  if (former && !isAlive(former.pid, former.starttime)) await removeRoom(former);
  await writeWhole(join(folder, "order.json"), JSON.stringify(order));
  const output = openSync(join(folder, "supervisor.out"), "a", 0o600);
  const child = spawn(process.execPath, [...AS_NODE, program, folder], {
    cwd: "/",
    detached: true,
    env: Object.fromEntries(
      PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    ),
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  let ended: string | null = null;
  child.on("error", (error) => (ended = error.message));
  child.on("exit", (code, signal) => (ended = signal ?? `exit code ${code}`));
  child.unref();

  const start = clock.monotonic();
  for (;;) {
    const mark = await readMark(folder);
    const link = mark && isAlive(mark.pid, mark.starttime) && (await connectTo(folder, mark));
    if (link && !("dead" in link)) {
      // Where another was there first, this order is nobody's.
      await rm(join(folder, "order.json"), { force: true });
      return link;
    }
    // It may have done its work already.
    if (ended !== null && mark && mark.pid === child.pid) return goneLink(folder, mark.pid);
    const isLate = clock.monotonic() - start > START_WITHIN_MS;
    // Another that was started before, and was not up yet, is as good.
    if (isLate || (ended !== null && claimOf(folder) === null)) {
      if (child.pid !== undefined && ended === null) signalProcess(child.pid, "SIGKILL");
      const words = await readFile(join(folder, "supervisor.out"), "utf8").catch(() => "");
      const why = `the supervisor did not start (${ended ?? "it took too long"})`;
      throw new Error(`${why}\n${words.slice(-SHOWN_OUTPUT)}`.trim());
    }
    await clock.sleep(LOOK_EVERY_MS);
  }
}

/** Returns a link to the supervisor of a folder, or the reason that no supervisor runs. Its log stays in both cases. */
export async function attach(folder: string, clock: Clock = systemClock): Promise<Link | NoLink> {
  const start = clock.monotonic();
  for (;;) {
    const mark = await readMark(folder);
    if (mark && isAlive(mark.pid, mark.starttime)) return connectTo(folder, mark);
    if (mark) await removeRoom(mark);
    const isComing = claimOf(folder) !== null && clock.monotonic() - start < START_WITHIN_MS;
    if (!isComing) return { dead: true, reason: mark ? "its process is gone" : "it never came up" };
    await clock.sleep(LOOK_EVERY_MS);
  }
}

/** A supervisor that was killed has left its sockets. */
async function removeRoom({ socket }: SupervisorMark): Promise<void> {
  const room = dirname(socket);
  if (/^parley-[A-Za-z0-9]{6}$/.test(basename(room))) await rm(room, { recursive: true, force: true });
}

async function readMark(folder: string): Promise<SupervisorMark | null> {
  const text = await readFile(join(folder, "supervisor.json"), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as SupervisorMark);
}

async function connectTo(folder: string, { pid, socket, token }: SupervisorMark): Promise<Link | NoLink> {
  const open = new Set<Socket>();
  let isClosed = false;
  const dial = async (after: number | null): Promise<Socket> => {
    const connection = connect({ path: socket });
    connection.on("error", () => {});
    await once(connection, "connect");
    open.add(connection);
    connection.on("close", () => open.delete(connection));
    say(connection, { say: "attach", token, after });
    return connection;
  };
  let orders: Socket;
  try {
    orders = await dial(null);
  } catch (error) {
    return { dead: true, reason: `it does not answer: ${error instanceof Error ? error.message : String(error)}` };
  }
  orders.resume();

  return {
    pid,
    async *lines(after) {
      let last = after;
      const connection = await dial(after).catch(() => null);
      if (connection) {
        try {
          for await (const text of linesOf(connection)) {
            const line = wholeLine(text);
            if (!line) break;
            last = line.seq;
            yield line;
          }
        } catch {
          // It broke off; the log has the rest.
        } finally {
          connection.destroy();
        }
      }
      if (isClosed) return;
      yield* await readLog(folder, last);
    },
    decide: (ref, decision) => say(orders, { say: "decide", ref, decision }),
    note: (note) => say(orders, { say: "note", note }),
    cancel: () => say(orders, { say: "cancel" }),
    interrupt: () => say(orders, { say: "interrupt" }),
    close() {
      isClosed = true;
      for (const connection of open) connection.destroy();
    },
  };
}

/** A link to a supervisor that has done its work and gone. */
function goneLink(folder: string, pid: number): Link {
  async function* lines(after: number): AsyncGenerator<SupervisorLine> {
    yield* await readLog(folder, after);
  }
  return { pid, lines, decide: () => {}, note: () => {}, cancel: () => {}, interrupt: () => {}, close: () => {} };
}

function say(connection: Socket, command: SupervisorCommand): void {
  if (connection.writable) connection.write(`${JSON.stringify(command)}\n`);
}

/** Parses a line; returns null if the connection broke within the line. The log has the whole line. */
function wholeLine(text: string): SupervisorLine | null {
  try {
    return readSupervisorLine(text);
  } catch {
    return null;
  }
}
