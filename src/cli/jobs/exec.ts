import { jobs, type HeldJob } from "@parley/sdk/executor";
import { systemFetch } from "../../lib/network/fetch.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { CannotStart, runJob } from "./exec-job.ts";
import { ownKey, serverUrl } from "../server-client.ts";
import { seconds } from "../values.ts";

export const exec = command({
  takes: {
    "--kind K...": {
      help: "which kind of jobs to take, several times for several; left out, default",
      wire: ["kinds"],
    },
    "--lease TIME": {
      help: "how long a job is held without a sign of life, 5s to 1h; left out, 15s",
      read: seconds("15s or 2m"),
      wire: ["lease_ttl_s"],
    },
    "--worker NAME": { help: "how this worker is called in the record", wire: ["worker_id"] },
    "--once": "end after one job: exit 0 when it succeeded, 1 when not",
    "--url URL":
      "the server, else PARLEY_URL, else the one that runs on this computer; its executor key is in PARLEY_KEY",
    "-- COMMAND [ARGUMENT...]": "",
  },
  example: "parley exec --kind build -- make release",
  async run({ command: [program, ...args], kind: kinds, worker, lease, once, ...flags }, io) {
    const url = serverUrl(flags.url, io.env);
    const key = ownKey(url, io.env);
    const options = {
      url,
      fetch: explainingFetch(url, io),
      signal: io.interrupted,
      key,
      kinds,
      worker_id: worker,
      lease_ttl_s: lease,
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
      if (io.interrupted.aborted) return once ? EXIT.interrupted : EXIT.done;
      if (once) return outcome?.ended === "SUCCEEDED" ? EXIT.done : EXIT.refused;
    }
  },
});

const wordsFor = {
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  RELEASED: "given back",
  LOST: "lost; it was ended, or is another's now",
} as const;

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
