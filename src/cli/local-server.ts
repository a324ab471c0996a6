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
  const running = runningServerUrl(env);
  if (running !== undefined && (port === undefined || new URL(running).port === port)) return running;
  return `http://127.0.0.1:${port ?? USUAL_PORT}`;
}

function runningServerUrl(env: Io["env"]): string | undefined {
  const dataDir = dataDirOf(env);
  const server = dataDir === null ? null : findServerProcess(dataDir);
  return server?.url !== undefined && isAlive(server.pid, server.starttime) ? server.url : undefined;
}
