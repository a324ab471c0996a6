import { parseArgs } from "node:util";
import { jobs, type HeldJob } from "@parley/sdk/executor";
import { parseDurationMs } from "../../lib/duration.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { type Command, EXIT, type Io, WrongUsage } from "../command.ts";
import { CannotStart, runJob } from "./exec-job.ts";
import { ownKey, serverUrl } from "../server-client.ts";

export const exec: Command = {
  usage: "[--kind K] [--lease 15s] [--worker NAME] [--once] [--url URL] -- COMMAND [ARGUMENT...]",
  flags: {
    "--kind K": "which kind of jobs to take, several times for several; left out, default",
    "--lease TIME": "how long a job is held without a sign of life, 5s to 1h; left out, 15s",
    "--worker NAME": "how this worker is called in the record",
    "--once": "end after one job: exit 0 when it succeeded, 1 when not",
    "--url URL":
      "the server, else PARLEY_URL, else the one that runs on this computer; its executor key is in PARLEY_KEY",
  },
  wireNames: { kinds: "--kind", worker_id: "--worker", lease_ttl_s: "--lease" },
  example: "parley exec --kind build -- make release",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        kind: { type: "string", multiple: true },
        lease: { type: "string" },
        worker: { type: "string" },
        once: { type: "boolean" },
        url: { type: "string" },
      },
    });
    const [program, ...args] = positionals;
    if (program === undefined || !argv.includes("--")) throw new WrongUsage("the command is missing, after --");
    const url = serverUrl(values.url, io.env);
    const key = ownKey(url, io.env);
    const options = {
      url,
      fetch: explainingFetch(url, io),
      signal: io.interrupted,
      ...(key !== undefined && { key }),
      ...(values.kind && { kinds: values.kind }),
      ...(values.worker !== undefined && { worker_id: values.worker }),
      ...(values.lease !== undefined && { lease_ttl_s: secondsOf(values.lease) }),
    };
    let unstartable: CannotStart | undefined;
    const work = async (held: HeldJob): Promise<void> => {
      io.tell(`${held.job.job_id}: begun`);
      try {
        await runJob(held, { program, args, url, key }, io);
      } catch (error) {
        if (!(error instanceof CannotStart)) throw error;
        unstartable = error;
        await held.release(error.message);
      }
    };
    for (;;) {
      const outcome = await jobs.claim(options, work).catch((error: unknown) => {
        if (!io.interrupted.aborted) throw error;
        return null;
      });
      if (outcome) io.tell(`${outcome.job_id}: ${wordsFor[outcome.ended]}`);
      if (unstartable) throw new WrongUsage(unstartable.message);
      if (io.interrupted.aborted) return values.once ? EXIT.interrupted : EXIT.done;
      if (values.once) return outcome?.ended === "SUCCEEDED" ? EXIT.done : EXIT.refused;
    }
  },
};

const wordsFor = {
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  RELEASED: "given back",
  LOST: "lost; it was ended, or is another's now",
} as const;

function secondsOf(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === null) throw new WrongUsage("--lease must be a time such as 15s or 2m");
  return Math.round(ms / 1000);
}

/** Says once when nobody answers, and once when somebody does again. */
function explainingFetch(url: string, io: Io): typeof fetch {
  let isAway = false;
  return async (...request) => {
    try {
      const reply = await systemFetch(...request);
      if (isAway) io.tell(`The server answers again at ${url}.`);
      isAway = false;
      return reply;
    } catch (error) {
      const isStopped = request[1]?.signal?.aborted ?? false;
      if (!isAway && !isStopped) io.tell(`No server answers at ${url}; it is tried again.`);
      isAway ||= !isStopped;
      throw error;
    }
  };
}
