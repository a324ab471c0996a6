import { existsSync } from "node:fs";
import { loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { writeCompiled } from "../../lib/compile-cache.ts";
import { takeInheritedSockets, type InheritedSocket } from "../../lib/network/inherited-sockets.ts";
import { isLoopback } from "../../lib/network/network.ts";
import type { RunningServer } from "../../server/server.ts";
import { sourcesOf } from "../command-config.ts";
import { command, EXIT, type Io, STORE_FLAGS } from "../command.ts";
import { noteServerProcess, forgetServerProcess, type ServerProcess } from "../server-process.ts";
import { starttimeOf } from "../../workshop/sandbox/processes.ts";
import { openLog } from "./log.ts";
import { askForReplacement, outlive, startSuccessor, takePlace, REPLACE_SIGNAL, type Successor } from "./replace.ts";
import { DRAIN_SIGNAL, KILL_SIGNAL } from "./stop.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** npm passes on what a terminal has given both of them: within so long that is one signal. */
const SAME_SIGNAL_MS = 1000;
/** A stop that takes longer than this ends the process all the same. */
const STOP_WITHIN_MS = 9500;
/** ... and where another takes its place, whoever holds a connection has six seconds to use it once more. */
const HAND_OVER_WITHIN_MS = 14_500;

export const serve = command({
  takes: {
    "--host ADDRESS": "where to listen; left out, 127.0.0.1, which only this computer reaches",
    "--port PORT": "left out, 3415",
    ...STORE_FLAGS,
    "--replace": "have the server that runs on this data directory start anew, and lose no request by it",
    "--accept-loss": "start although commits are missing that were once on disk",
    "--accept-clock": "start by this machine's clock, although the store remembers another time",
  },
  example: "parley serve --port 8080 --data-dir ./data",
  async run({ host, port, replace, acceptLoss, acceptClock, ...place }, io) {
    const sockets = takeInheritedSockets(process.env);
    const { flags, ...sources } = sourcesOf(place, io);
    const config = loadConfig({ ...sources, flags: { ...flags, host, port, ...placeOf(sockets) }, refuseIdle: true });
    const replaced = replace ? await askForReplacement(config.dataDir, io) : null;
    if (replaced !== null) return replaced;
    const at = { out: process.stdout.isTTY, err: process.stderr.isTTY };
    const log = openLog(config.log.level, at);
    const isSuccessor = await takePlace(process.env);

    // Loaded when there is something to serve: settings that are wrong are refused before.
    const [{ startServer }, { openGreeting }] = await Promise.all([
      import("../../server/server.ts"),
      import("./greeting.ts"),
    ]);
    const server = await startServer(config, { log, acceptLoss, acceptClock, sockets });
    process.on("SIGHUP", () => void server.reload());
    // A repeated signal ends nothing by itself, also between the listener of the first one and those of `stop`.
    for (const signal of STOP_SIGNALS) process.on(signal, () => undefined);
    for (const note of [...server.notes, ...rootWarning()]) io.tell(note, "warn");
    const greet = await openGreeting(server, config, at);
    const { pid } = process;
    const self = { pid, starttime: starttimeOf(pid), url: server.url, replaceable: true };
    const followed = new Promise<Successor | null>((resolve) => {
      const end = () => resolve(null);
      if (io.interrupted.aborted) end();
      else io.interrupted.addEventListener("abort", end, { once: true });
      process.on(DRAIN_SIGNAL, () => void drain(server, io, { kill: false }).then(end));
      process.on(KILL_SIGNAL, () => void drain(server, io, { kill: true }).then(end));
      onReplace(config.dataDir, self, { server, io, resolve });
    });
    // A reader of the greeting can find the process, and may stop or replace it.
    noteServerProcess(config.dataDir, self);
    greet(io);
    // A server that is killed would compile everything anew at each start.
    writeCompiled();
    // The check of what this computer offers coding agents runs meanwhile.
    void server.work?.notices().then((notices) => notices.forEach((notice) => io.tell(notice, "warn")));
    const successor = await followed;
    if (successor) noteServerProcess(config.dataDir, { ...self, ...successor.process, starting: true });
    const code = await stop(server, io, { follows: successor !== null, inherited: sockets.length > 0 });
    if (!successor) forgetServerProcess(config.dataDir, self);
    successor?.letIn();
    return successor && !isSuccessor && code === EXIT.done ? outlive(config.dataDir) : code;
  },
});

/** Inherited sockets say where it listens; one that others reach says who may be let in. */
function placeOf(sockets: readonly InheritedSocket[]): { host?: string; port?: string } {
  const widest = sockets.find(({ address }) => !isLoopback(address)) ?? sockets[0];
  return widest ? { host: widest.address, port: String(widest.port) } : {};
}

/** Starts another server in this one's place on a signal; if that does not start, this one goes on. */
function onReplace(
  dataDir: string,
  self: ServerProcess,
  { server, io, resolve }: { server: RunningServer; io: Io; resolve: (successor: Successor) => void },
): void {
  let failed = 0;
  let starting = false;
  async function replace(): Promise<void> {
    if (starting) return;
    starting = true;
    try {
      const successor = await startSuccessor(server.descriptors());
      io.tell(`Process ${successor.process.pid} takes the place of this server.`);
      resolve(successor);
    } catch (error) {
      io.tell(`No other server was started, and this one goes on: ${(error as Error).message}.`, "warn");
      noteServerProcess(dataDir, { ...self, failedReplacements: (failed += 1) });
      starting = false;
    }
  }
  process.on(REPLACE_SIGNAL, () => void replace());
}

function rootWarning(): string[] {
  const isContainer = existsSync("/.dockerenv") || existsSync("/run/.containerenv");
  return process.getuid?.() === 0 && !isContainer ? ["Parley runs as root; give it a user of its own."] : [];
}

/** Agents at work finish, or are ended; everything else goes on meanwhile. */
async function drain(server: RunningServer, io: Io, how: { kill: boolean }): Promise<void> {
  const until = how.kill ? "those at work are ended, to be resumed later" : "those at work are done";
  io.tell(`Draining: no agent is given new work, and the server stops when ${until}.`);
  await server.work?.drain(how);
}

/**
 * Answers waiters, finishes writes and closes the store, within ten seconds, or fifteen where somebody holds its sockets
 * open for the next server; a second signal ends it at once.
 */
async function stop(
  server: RunningServer,
  io: Io,
  { follows, inherited }: { follows: boolean; inherited: boolean },
): Promise<number> {
  const since = systemClock.monotonic();
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (systemClock.monotonic() - since > SAME_SIGNAL_MS) process.exit(EXIT.interrupted);
    });
  }
  if (!follows) io.tell("Stopping; once more to stop at once.");
  const handsOver = follows || inherited;
  const late = systemClock.sleep(handsOver ? HAND_OVER_WITHIN_MS : STOP_WITHIN_MS).then(() => "late" as const);
  const outcome = await Promise.race([server.stop({ handsOver }), late]);
  if (outcome !== "late") return EXIT.done;
  io.tell("Something did not stop in time; what was acknowledged is on disk.", "warn");
  return EXIT.refused;
}
