import { systemClock } from "../../lib/clock.ts";
import { findServerProcess } from "../server-process.ts";
import { isAlive, signalProcess } from "../../workshop/sandbox/processes.ts";
import { WrongUsage } from "../arguments.ts";
import { configOf } from "../command-config.ts";
import { command, EXIT, STORE_FLAGS } from "../command.ts";

/** Has a server start no more attempts, and stop once none is at work. */
export const DRAIN_SIGNAL = "SIGUSR2";
/** The same, and ends those at work: their work is taken up by the next server. */
export const KILL_SIGNAL = "SIGQUIT";
const LOOK_EVERY_MS = 100;

export const stop = command({
  takes: {
    "--drain": "give no agent new work, wait until those at work are done, then stop",
    "--kill": "with --drain: end agents at work instead of waiting; the next server resumes them",
    ...STORE_FLAGS,
  },
  example: "parley stop --drain",
  async run({ drain, kill, ...place }, io) {
    if (kill && !drain) throw new WrongUsage("--kill goes with --drain");
    const config = configOf(place, io);
    const server = findServerProcess(config.dataDir);
    if (!server || !isAlive(server.pid, server.starttime)) {
      io.tell(`parley: no server runs on ${config.dataDir} on this machine.`);
      return EXIT.refused;
    }
    signalProcess(server.pid, kill ? KILL_SIGNAL : drain ? DRAIN_SIGNAL : "SIGTERM");
    if (kill) io.tell("It ends the agents at work, and stops when the last process of them is gone.");
    else if (drain) io.tell("It gives no agent new work, and stops when those at work are done.");
    while (isAlive(server.pid, server.starttime)) {
      await systemClock.sleep(LOOK_EVERY_MS, io.interrupted);
      if (!io.interrupted.aborted) continue;
      io.tell("The server stops all the same.");
      return EXIT.interrupted;
    }
    io.tell("Stopped.");
    return EXIT.done;
  },
});
