import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Config, loadConfig } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { VERSION } from "../lib/version.ts";
import { type RunningServer, startServer } from "../server.ts";
import { createSignInLink } from "../verbs/create-sign-in-link.ts";
import { OPERATOR } from "../verbs/prepare-first-start.ts";
import { type Command, EXIT, type Io, STORE_FLAGS, WrongUsage } from "./command.ts";
import { signInAddress } from "../model/sign-in-address.ts";
import { noteServerProcess, forgetServerProcess } from "../store/server-process.ts";
import { starttimeOf } from "../workshop/processes.ts";
import { openLog } from "./log.ts";
import { DRAIN_SIGNAL, KILL_SIGNAL } from "./stop.ts";

/** A stop that takes longer than this ends the process all the same. */
const STOP_WITHIN_MS = 9500;

export const serve: Command = {
  usage: "[--host ADDRESS] [--port PORT] [--data-dir DIR] [--config FILE]",
  does: "run the server",
  flags: {
    "--host ADDRESS": "where to listen; left out, 127.0.0.1, which only this computer reaches",
    "--port PORT": "left out, 3415",
    ...STORE_FLAGS,
    "--accept-loss": "start although commits are missing that were once on disk",
  },
  example: "parley serve --port 8080 --data-dir ./data",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        host: { type: "string" },
        port: { type: "string" },
        "data-dir": { type: "string" },
        config: { type: "string" },
        "accept-loss": { type: "boolean" },
      },
    });
    if (positionals.length > 0) throw new WrongUsage(`"${positionals[0]}" is not expected here`);
    const { config: file, "accept-loss": acceptLoss = false, ...flags } = values;
    const config = loadConfig({ flags, env: io.env, file });
    const log = openLog(config.log.level, process.stdout.isTTY);

    const server = await startServer(config, { log, acceptLoss });
    process.on("SIGHUP", () => void server.reload());
    for (const note of [...server.notes, ...rootWarning()]) io.tell(note);
    for (const line of await greeting(server, config)) io.out(line);
    // What this machine offers to coding agents is looked into meanwhile.
    void server.work?.notices().then((notices) => notices.forEach((notice) => io.tell(notice)));
    const self = { pid: process.pid, starttime: starttimeOf(process.pid) };
    noteServerProcess(config.dataDir, self);
    await new Promise<void>((resolve) => {
      if (io.interrupted.aborted) resolve();
      else io.interrupted.addEventListener("abort", () => resolve(), { once: true });
      process.on(DRAIN_SIGNAL, () => void drain(server, io, { kill: false }).then(resolve));
      process.on(KILL_SIGNAL, () => void drain(server, io, { kill: true }).then(resolve));
    });
    const code = await stop(server, io);
    forgetServerProcess(config.dataDir, self);
    return code;
  },
};

/** What to do next, copy-paste ready (security.md, section 2). */
async function greeting(server: RunningServer, config: Config): Promise<string[]> {
  const agentKey = server.firstKey;
  const url = config.port === 0 && config.publicUrl.endsWith(":0") ? server.url : config.publicUrl;
  const { code } = await createSignInLink(server.ctx, OPERATOR);
  const question = {
    prompt: "Which label is clearer?",
    type: "multiple_choice",
    options: ["Send", "Submit"],
    min_responses: 1,
  };
  const bearer = config.open ? "" : ` -H "Authorization: Bearer ${agentKey ?? "$PARLEY_KEY"}"`;
  const exported = agentKey ? ` PARLEY_KEY=${agentKey}` : "";
  const keyHint = agentKey
    ? ""
    : `    ${config.open ? "no key needed here; " : ""}a key: parley keys create NAME --scope agent`;
  return [
    `Parley ${VERSION}  ${url}   ${reachText(config)}`,
    `  answer  ${url}/`,
    `  you     ${signInAddress(url, "admin", code)}    works once, 30 minutes; another: parley link`,
    `  agents  export PARLEY_URL=${url}${exported}${keyHint}`,
    `  ask     curl ${url}/agent/questions -H "Content-Type: application/json"${bearer} -d '${JSON.stringify(question)}'`,
    `  data    ${placeText(config)}    ${server.describes}`,
  ];
}

function reachText({ loopbackOnly, open, crowd }: Config): string {
  if (loopbackOnly) return open ? "open to this computer only" : "for this computer only, with keys";
  const asking = open ? "OPEN: whoever reaches it may ask" : "asking needs a key";
  return `${asking}; ${crowd.public ? "whoever reaches it may answer" : "answering needs a sign-in"}`;
}

function placeText({ dataDir, databaseUrl }: Config): string {
  if (databaseUrl === undefined) return dataDir;
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
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

/** Answers waiters, finishes writes and closes the store, within ten seconds; a second signal ends it at once. */
async function stop(server: RunningServer, io: Io): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(EXIT.interrupted));
  io.tell("Stopping; once more to stop at once.");
  const late = systemClock.sleep(STOP_WITHIN_MS).then(() => "late" as const);
  const outcome = await Promise.race([server.stop(), late]);
  if (outcome !== "late") return EXIT.done;
  io.tell("Something did not stop in time; what was acknowledged is on disk.");
  return EXIT.refused;
}
