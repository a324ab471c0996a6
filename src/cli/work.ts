import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadConfig } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { systemFetch } from "../lib/fetch.ts";
import { systemRandom } from "../lib/random.ts";
import { uuidV7 } from "../lib/uuid.ts";
import type { AssignmentRules, RepoRules } from "../model/assignment-rules.ts";
import { attemptKind, repoOfKind } from "../model/attempt-kind.ts";
import { folderOf, type Given } from "../workshop/commission.ts";
import { AttemptLost } from "../workshop/desk.ts";
import { bundle, takeBundle } from "../workshop/git/bundle.ts";
import { diff } from "../workshop/git/read.ts";
import { RepositoryTrouble } from "../workshop/git/repository.ts";
import { openWorkshop } from "../workshop/open-workshop.ts";
import { writeWhole } from "../workshop/write-whole.ts";
import { type Command, EXIT, type Io, WrongUsage } from "./command.ts";
import { serverUrl } from "./questions.ts";
import { KeyRefused, openRemoteDesk, type Hold, type Place, type RemoteDesk } from "./work-desk.ts";
import { openUpkeep } from "./work-upkeep.ts";

const CLAIM_WAIT_S = 20;
const LEASE_S = 60;
const KEEP_EVERY_MS = 15_000;
const AGAIN_MS = 2000;

export const work: Command = {
  usage: "--repo NAME=PATH [--repo ...] [--parallel N] [--url URL] [--data-dir DIR]",
  does: "run coding agents on this machine for a server elsewhere",
  flags: {
    "--repo NAME=PATH": "a repository that the server knows by this name, with worker: true, and where it is here",
    "--parallel N": "agents at work at one time; left out, 2",
    "--url URL": "the server, else PARLEY_URL, else http://127.0.0.1:3415; its executor key is in PARLEY_KEY",
    "--data-dir DIR": "where settings of agents are read (parley.yaml) and work is kept, else PARLEY_DATA_DIR",
  },
  example: "parley work --url https://parley.example.com --repo shop=~/src/shop",
  async run(argv, io) {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        repo: { type: "string", multiple: true },
        parallel: { type: "string", default: "2" },
        url: { type: "string" },
        "data-dir": { type: "string" },
      },
    });
    const repos = (values.repo ?? []).map((text) => repoFrom(text, io));
    if (repos.length === 0) throw new WrongUsage("--repo NAME=PATH is missing");
    const parallel = Number(values.parallel);
    if (!Number.isInteger(parallel) || parallel < 1 || parallel > 64) {
      throw new WrongUsage("--parallel must be a whole number between 1 and 64");
    }
    const key = io.env["PARLEY_KEY"];
    if (!key) {
      throw new WrongUsage("PARLEY_KEY is missing; on the server, parley keys create NAME --scope executor makes one");
    }
    const dataDir = values["data-dir"];
    const config = loadConfig({ env: io.env, ...(dataDir !== undefined && { flags: { "data-dir": dataDir } }) });
    const rules = { ...config.assignment, repos, workDir: join(config.dataDir, "worker") };
    const place = { url: serverUrl(values.url, io.env), key };
    return run({ rules, dataDir: config.dataDir, place, parallel }, io);
  },
};

function repoFrom(text: string, io: Io): RepoRules {
  const [, name = "", path = ""] = /^([a-z0-9][a-z0-9._-]{0,63})=(.+)$/.exec(text) ?? [];
  if (name === "") throw new WrongUsage(`--repo must be NAME=PATH, not ${text}`);
  const home = io.env["HOME"];
  const at = home !== undefined && path.startsWith("~/") ? join(home, path.slice(2)) : path;
  return {
    ...{ name, path: resolve(at), base: "HEAD", agent: "claude", isDefault: false, parallel: 64, setup: null },
    ...{ allowCommands: [], startOn: "completed", onConflict: "ask", onStale: "mark", onApprove: null },
  };
}

interface Worker {
  rules: AssignmentRules;
  dataDir: string;
  place: Place;
  parallel: number;
}

/** What a worker writes down of a job, to find it again: also what it began, once it knows that. */
type Kept = Hold & { commission?: Given };

/** An attempt that is to end where it stands. */
function toEnd(commission: Given): Given {
  return { ...commission, attempt: { ...commission.attempt, state: "ending" } };
}

/** Takes jobs until it is interrupted; agents at work go on then, and are found again at the next start. */
async function run({ rules, dataDir, place, parallel }: Worker, io: Io): Promise<number> {
  const leases = join(rules.workDir, "leases");
  await mkdir(leases, { recursive: true, mode: 0o700 });
  // What a repository's rules are is known with its first job; they stand in this list from then on.
  const repos = [...rules.repos];
  const workshop = openWorkshop({
    ...{ rules: { ...rules, repos }, dataDir, env: io.env, serverUrl: () => place.url },
    newSessionId: () => uuidV7(systemClock.now(), systemRandom),
  });
  await workshop.opened;
  const trouble = workshop.trouble() ?? workshop.sandboxNotice();
  if (trouble !== null) io.tell(trouble);
  const underWay = new Map<string, Promise<void>>();
  /** What each job is about; null until that is known. */
  const busy = new Map<string, { repo: string; slug: string } | null>();
  const upkeep = openUpkeep({
    ...{ place, workshop, keepTreesH: rules.keepTreesH, tell: io.tell, names: rules.repos.map(({ name }) => name) },
    isBusy(repo, slug) {
      const jobs = [...busy.values()];
      return jobs.includes(null) || jobs.some((job) => job?.repo === repo && job.slug === slug);
    },
  });

  function begin(hold: Kept): void {
    busy.set(hold.jobId, null);
    // A job that was lost, and is taken again, waits for what was begun of it here to be over.
    const running: Promise<void> = (underWay.get(hold.jobId) ?? Promise.resolve())
      .then(() => attend(hold))
      .catch((error: unknown) => io.tell(`${hold.jobId}: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => {
        if (underWay.get(hold.jobId) !== running) return;
        underWay.delete(hold.jobId);
        busy.delete(hold.jobId);
      });
    underWay.set(hold.jobId, running);
  }

  async function attend(hold: Kept): Promise<void> {
    const file = join(leases, `${hold.jobId}.json`);
    let kept = hold;
    const keep = async (more: Partial<Kept>): Promise<void> => {
      kept = { ...kept, ...more };
      await writeWhole(file, JSON.stringify(kept));
    };
    await keep({});
    const folder = join(rules.workDir, "outgoing", hold.jobId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const own = { start: "", log: "" };
    const desk = openRemoteDesk({
      ...{ place, hold, onLease: keep, folder, leaving: io.interrupted },
      async wrap(result, into) {
        const repo = await workshop.repository(hold.repo);
        // Everything above the base: whoever builds on it may have nothing of what this was built on.
        await bundle(repo, { from: await workshop.base(hold.repo), to: result.commit, file: into.bundle });
        await writeFile(into.patch, await diff(repo, { from: own.start, to: result.commit }), { mode: 0o600 });
      },
      log: () => readFile(own.log, "utf8").catch(() => null),
    });
    const over = async (told: string): Promise<void> => {
      if (io.interrupted.aborted) return;
      await rm(file, { force: true });
      await rm(folder, { recursive: true, force: true });
      io.tell(`${hold.repo} ${told}: over`);
    };
    const claimed = await desk.claimed().catch((error: unknown) => {
      if (io.interrupted.aborted || !(error instanceof AttemptLost) || error instanceof KeyRefused) throw error;
      return null;
    });
    if (claimed === null) {
      // It was lost, or taken back, while this worker was not there: what it left at work here ends. What it had done stays.
      if (kept.commission && !(await hasSucceeded(place, hold.jobId))) await workshop.run(toEnd(kept.commission), desk);
      return over(kept.commission?.task.id ?? hold.jobId);
    }
    const { commission, repo } = claimed;
    const { task } = commission;
    busy.set(hold.jobId, { repo: hold.repo, slug: task.slug });
    await keep({ commission });
    await upkeep.quiet();
    const here = repos.findIndex(({ name }) => name === hold.repo);
    repos[here] = { ...repo, path: rules.repos[here]?.path ?? null };
    own.start = commission.attempt.startSha ?? "";
    own.log = join(folderOf(rules.workDir, { ...task, generation: commission.attempt.generation }), "log.ndjson");
    io.tell(`${hold.repo} ${task.id}: begun (attempt ${commission.attempt.n})`);
    const { dependencies, changes } = commission;
    const builtOn = [...dependencies, ...(changes ? [{ id: task.id, commit: changes.commit }] : [])];
    try {
      await fetchMissing(desk, hold.repo, builtOn, folder);
    } catch (error) {
      if (!(error instanceof RepositoryTrouble)) throw error;
      await desk.failed(error.message, { wip: null });
      return over(task.id);
    }
    const step: RemoteDesk["step"] = async (to, facts) => {
      own.start = facts?.startSha ?? own.start;
      await desk.step(to, facts);
      await keep({ commission: { ...commission, attempt: { ...commission.attempt, startSha: own.start || null } } });
    };
    await keepWhile(desk, () => workshop.run(commission, { ...desk, step }));
    await over(task.id);
  }

  async function fetchMissing(
    desk: RemoteDesk,
    name: string,
    commits: readonly { id: string; commit: string }[],
    folder: string,
  ): Promise<void> {
    const repo = await workshop.repository(name);
    // A bundle builds on commits of the repository itself: its base has to be in the store.
    await workshop.base(name);
    for (const { id, commit } of commits) {
      const file = join(folder, "dependency.bundle");
      if (await workshop.hasCommit(name, commit)) continue;
      await writeFile(file, await desk.fetchBundle(id), { mode: 0o600 });
      await takeBundle(repo, { file, ref: `refs/parley/dependency/${commit}`, commit });
    }
  }

  for (const name of await readdir(leases)) {
    begin(JSON.parse(await readFile(join(leases, name), "utf8")) as Kept);
  }
  const tended = upkeep.run(io.interrupted);
  while (!io.interrupted.aborted) {
    if (underWay.size >= parallel) {
      await Promise.race([...underWay.values(), systemClock.sleep(KEEP_EVERY_MS, io.interrupted)]);
      continue;
    }
    const hold = await claim(place, repos, io.interrupted);
    if (hold) begin(hold);
    else if (!io.interrupted.aborted) await systemClock.sleep(AGAIN_MS, io.interrupted);
  }
  await Promise.allSettled([...underWay.values(), tended]);
  return EXIT.done;
}

/** Returns the next job of these repositories, once there is one; nothing where none came, or no server answers. */
async function claim(place: Place, repos: readonly RepoRules[], signal: AbortSignal): Promise<Hold | null> {
  const kinds = repos.map(({ name }) => attemptKind(name));
  const reply = await systemFetch(new URL("/jobs/claim", place.url), {
    ...{ method: "POST", signal },
    headers: { authorization: `Bearer ${place.key}`, "content-type": "application/json" },
    body: JSON.stringify({ kinds, worker_id: hostname(), lease_ttl_s: LEASE_S, wait: `${CLAIM_WAIT_S}s` }),
  }).catch(() => null);
  if (reply?.status === 401 || reply?.status === 403) {
    throw new WrongUsage("the server does not take this key; it must be of scope executor");
  }
  if (reply?.status !== 200) return null;
  const { job, lease } = (await reply.json()) as { job: { job_id: string; kind: string }; lease: { token: string } };
  const repo = repoOfKind(job.kind);
  return repo === null ? null : { jobId: job.job_id, repo, lease: lease.token };
}

/** Returns whether a job came to its end with a result, as its worker may not have heard. */
async function hasSucceeded(place: Place, jobId: string): Promise<boolean> {
  const reply = await systemFetch(new URL(`/jobs/${encodeURIComponent(jobId)}`, place.url), {
    headers: { authorization: `Bearer ${place.key}` },
  });
  return reply.status === 200 && ((await reply.json()) as { state?: string }).state === "SUCCEEDED";
}

async function keepWhile(desk: RemoteDesk, run: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const keeping = (async () => {
    while (!over.signal.aborted && !desk.leaving.aborted && !desk.ending.aborted) {
      await systemClock.sleep(KEEP_EVERY_MS, AbortSignal.any([over.signal, desk.leaving, desk.ending]));
      if (!over.signal.aborted) await desk.keep().catch(() => undefined);
    }
  })();
  try {
    await run();
  } finally {
    over.abort();
    await keeping;
  }
}
