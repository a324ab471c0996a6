import { dataDirOf } from "../config/data-dir.ts";
import { findServerProcess } from "./server-process.ts";
import { isAlive } from "../workshop/sandbox/processes.ts";
import type { Io } from "./command.ts";

const USUAL_PORT = "3415";

/**
 * Returns where this computer's server listens: as the one that runs on the data directory has written there, unless
 * `PARLEY_PORT` names another; else on the port that is named, or the usual one.
 */
export function localServerUrl(env: Io["env"]): string {
  const port = [env["PARLEY_PORT"], env["ASK_ANSWER_PORT"]].find((named) => named && named !== "0");
  const dataDir = dataDirOf(env);
  const running = dataDir === null ? undefined : runningServerUrl(dataDir);
  if (running !== undefined && (port === undefined || new URL(running).port === port)) return running;
  return `http://127.0.0.1:${port ?? USUAL_PORT}`;
}

/** Returns where the server that runs on a data directory listens; nothing where none does on this computer. */
export function runningServerUrl(dataDir: string): string | undefined {
  const server = findServerProcess(dataDir);
  return server?.url !== undefined && isAlive(server.pid, server.starttime) ? server.url : undefined;
}
