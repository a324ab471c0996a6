import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "../../lib/clock.ts";
import { Redirected, systemFetch } from "../../lib/network/fetch.ts";
import { systemRandom } from "../../lib/random.ts";
import { uuidV7 } from "../../lib/uuid.ts";
import type { AssignmentRules, RepoRules } from "../../tasks/model/rules.ts";
import { attemptKind, repoOfKind } from "../../core/model/attempt-kind.ts";
import { folderOf, type AttemptSpec } from "../../workshop/attempt-assignment.ts";
import { AttemptLost } from "../../workshop/attempt-client.ts";
import { bundle, takeBundle } from "../../workshop/git/bundle.ts";
import { diff } from "../../workshop/git/read.ts";
import { RepositoryTrouble } from "../../workshop/git/repository.ts";
import { openWorkshop } from "../../workshop/open-workshop.ts";
import { makeFolder, writeWhole } from "../../lib/files/durable-files.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { configOf } from "../command-config.ts";
import { ownKey, serverUrl } from "../server-client.ts";
import { numberWithin } from "../values.ts";
import {
  KeyRefused,
  openHttpAttemptClient,
  type WorkerJob,
  type ServerAddress,
  type HttpAttemptClient,
} from "../../worker/http-attempt-client.ts";
import { openUpkeep, type Upkeep } from "../../worker/upkeep.ts";

const CLAIM_WAIT_S = 20;
const LEASE_S = 60;
const KEEP_EVERY_MS = 15_000;
const AGAIN_MS = 2000;

export const work = command({
  takes: {
    "--repo NAME=PATH...": {
      help: "a repository that the server knows by this name, with worker: true, and where it is here",
      required: "--repo NAME=PATH is missing",
    },
    "--parallel N": { help: "agents at work at one time", default: "2", read: numberWithin(1, 64) },
    "--url URL":
      "the server, else PARLEY_URL, else the one that runs on this computer; its executor key is in PARLEY_KEY",
    "--data-dir DIR": "where settings of agents are read (parley.yaml) and work is kept, else PARLEY_DATA_DIR",
  },
  example: "parley work --repo shop=~/src/shop",
  async run({ repo, parallel, dataDir, ...flags }, io) {
    const repos = repo.map((text) => repoFrom(text, io));
    const url = serverUrl(flags.url, io.env);
    const key = ownKey(url, io.env);
    if (key === undefined) {
      throw new WrongUsage("PARLEY_KEY is missing; on the server, parley keys create NAME --scope executor makes one");
    }
    const config = configOf({ dataDir, config: undefined }, io);
    const rules = { ...config.assignment, repos, workDir: join(config.dataDir, "worker") };
    return run({ rules, dataDir: config.dataDir, place: { url, key }, parallel }, io);
  },
});

function repoFrom(text: string, io: Io): RepoRules {
  const [, name = "", path = ""] = /^([a-z0-9][a-z0-9._-]{0,63})=(.+)$/.exec(text) ?? [];
  if (name === "") throw new WrongUsage(`--repo must be NAME=PATH, not ${text}`);
  const home = io.env["HOME"];
  const at = home !== undefined && path.startsWith("~/") ? join(home, path.slice(2)) : path;
  return {
    name,
    path: resolve(at),
    base: "HEAD",
    agent: "claude",
    isDefault: false,
    parallel: 64,
    setup: null,
    allowCommands: [],
    startOn: "completed",
    onConflict: "ask",
    onStale: "mark",
    onApprove: null,
  };
}

interface Worker {
  rules: AssignmentRules;
  dataDir: string;
  place: ServerAddress;
  parallel: number;
}

/** The record of a job that a worker stores to find it again; it includes the assignment once that has begun. */
type Kept = WorkerJob & { commission?: AttemptSpec };

/** An attempt that is to end where it stands. */
function toEnd(assignment: AttemptSpec): AttemptSpec {
  return { ...assignment, attempt: { ...assignment.attempt, state: "ending" } };
}

/** Takes jobs until it is interrupted; agents at work go on then, and are found again at the next start. */
async function run(worker: Worker, io: Io): Promise<number> {
  const { place, parallel } = worker;
  const site = openSite(worker, io);
  const { workshop, leases, repos, underWay, upkeep } = site;
  await workshop.opened;
  const trouble = workshop.trouble() ?? workshop.sandboxNotice();
  if (trouble !== null) io.tell(trouble);

  for (const name of await readdir(leases)) {
    begin(site, JSON.parse(await readFile(join(leases, name), "utf8")) as Kept);
  }
  const tended = upkeep.run(io.interrupted);
  while (!io.interrupted.aborted) {
    if (underWay.size >= parallel) {
      await Promise.race([...underWay.values(), systemClock.sleep(KEEP_EVERY_MS, io.interrupted)]);
      continue;
    }
    const hold = await claim(place, repos, io.interrupted);
    if (hold) begin(site, hold);
    else if (!io.interrupted.aborted) await systemClock.sleep(AGAIN_MS, io.interrupted);
  }
  await Promise.allSettled([...underWay.values(), tended]);
  return EXIT.done;
}

/** Where a worker works, and what is at work there. */
interface Site {
  worker: Worker;
  io: Io;
  /** The folder in which every job that is held stands as a file. */
  leases: string;
  /** The rules of the repositories. The first job of a repository brings the server's rules for it. */
  repos: RepoRules[];
  workshop: ReturnType<typeof openWorkshop>;
  upkeep: Upkeep;
  /** By the id of the job. */
  underWay: Map<string, Promise<void>>;
  /** The repository and slug of each job; null until they are known. */
  busy: Map<string, { repo: string; slug: string } | null>;
}

function openSite(worker: Worker, io: Io): Site {
  const { rules, dataDir, place } = worker;
  const leases = join(rules.workDir, "leases");
  makeFolder(leases, 0o700);
  const repos = [...rules.repos];
  const workshop = openWorkshop({
    rules: { ...rules, repos },
    dataDir,
    env: io.env,
    serverUrl: () => place.url,
    newSessionId: () => uuidV7(systemClock.now(), systemRandom),
  });
  const busy: Site["busy"] = new Map();
  const upkeep = openUpkeep({
    place,
    workshop,
    keepTreesH: rules.keepTreesH,
    tell: io.tell,
    names: rules.repos.map(({ name }) => name),
    isBusy(repo, slug) {
      const jobs = [...busy.values()];
      return jobs.includes(null) || jobs.some((job) => job?.repo === repo && job.slug === slug);
    },
  });
  return { worker, io, leases, repos, workshop, upkeep, underWay: new Map(), busy };
}

function begin(site: Site, hold: Kept): void {
  const { io, underWay, busy } = site;
  busy.set(hold.jobId, null);
  // A job that was lost, and is taken again, waits for what was begun of it here to be over.
  const running: Promise<void> = (underWay.get(hold.jobId) ?? Promise.resolve())
    .then(() => attend(site, hold))
    .catch((error: unknown) => io.tell(`${hold.jobId}: ${error instanceof Error ? error.message : String(error)}`))
    .finally(() => {
      if (underWay.get(hold.jobId) !== running) return;
      underWay.delete(hold.jobId);
      busy.delete(hold.jobId);
    });
  underWay.set(hold.jobId, running);
}

/** A job as this worker keeps it on disk, and the folder of what goes to the server. */
interface KeptJob {
  hold: Kept;
  folder: string;
  keep(more: Partial<Kept>): Promise<void>;
  /** Nothing is kept of the job any more, unless the worker was interrupted. */
  over(end: string): Promise<void>;
}

async function keepJob({ worker, io, leases }: Site, hold: Kept): Promise<KeptJob> {
  const file = join(leases, `${hold.jobId}.json`);
  let kept = hold;
  const keep = async (more: Partial<Kept>): Promise<void> => {
    kept = { ...kept, ...more };
    await writeWhole(file, JSON.stringify(kept));
  };
  await keep({});
  const folder = join(worker.rules.workDir, "outgoing", hold.jobId);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    hold,
    folder,
    keep,
    async over(end) {
      if (io.interrupted.aborted) return;
      await rm(file, { force: true });
      await rm(folder, { recursive: true, force: true });
      io.tell(`${hold.repo} ${end}: over`);
    },
  };
}

/** The commit an attempt began with, and the path of its log; empty until they are known. */
interface Own {
  start: string;
  log: string;
}

function clientOf({ worker, io, workshop }: Site, { hold, folder, keep }: KeptJob, own: Own): HttpAttemptClient {
  return openHttpAttemptClient({
    place: worker.place,
    hold,
    onLease: keep,
    folder,
    leaving: io.interrupted,
    async wrap(result, into) {
      const repo = await workshop.repository(hold.repo);
      // Everything above the base: whoever builds on it may have nothing of what this was built on.
      await bundle(repo, { from: await workshop.base(hold.repo), to: result.commit, file: into.bundle });
      // eslint-disable-next-line no-restricted-syntax -- made again from the commit by whoever takes the attempt up again
      await writeFile(into.patch, await diff(repo, { from: own.start, to: result.commit }), { mode: 0o600 });
    },
    log: () => readFile(own.log, "utf8").catch(() => null),
  });
}

/** Takes a job up, and runs its attempt to its end. */
async function attend(site: Site, hold: Kept): Promise<void> {
  const { worker, io, workshop, upkeep, busy } = site;
  const job = await keepJob(site, hold);
  const own: Own = { start: "", log: "" };
  const client = clientOf(site, job, own);
  const claimed = await client.claimed().catch((error: unknown) => {
    if (io.interrupted.aborted || !(error instanceof AttemptLost) || error instanceof KeyRefused) throw error;
    return null;
  });
  if (claimed === null) {
    // The job was lost or taken back while this worker was down. Its unfinished work here ends; finished work stays.
    if (hold.commission && !(await hasSucceeded(worker.place, hold.jobId)))
      await workshop.run(toEnd(hold.commission), client);
    return job.over(hold.commission?.task.id ?? hold.jobId);
  }
  const { commission: assignment, repo } = claimed;
  const { task, attempt } = assignment;
  busy.set(hold.jobId, { repo: hold.repo, slug: task.slug });
  await job.keep({ commission: assignment });
  await upkeep.quiet();
  learnRules(site, hold.repo, repo);
  own.start = attempt.startSha ?? "";
  own.log = join(folderOf(worker.rules.workDir, { ...task, generation: attempt.generation }), "log.ndjson");
  io.tell(`${hold.repo} ${task.id}: begun (attempt ${attempt.n})`);
  try {
    await fetchMissing(site, job, client, assignment);
  } catch (error) {
    if (!(error instanceof RepositoryTrouble)) throw error;
    await client.failed(error.message, { wip: null });
    return job.over(task.id);
  }
  const step: HttpAttemptClient["step"] = async (to, facts) => {
    own.start = facts?.startSha ?? own.start;
    await client.step(to, facts);
    await job.keep({ commission: { ...assignment, attempt: { ...attempt, startSha: own.start || null } } });
  };
  await keepWhile(client, () => workshop.run(assignment, { ...client, step }));
  await job.over(task.id);
}

/** The workshop goes by what the server says of a repository from now on; only where it is, is this worker's own. */
function learnRules({ worker, repos }: Site, name: string, rules: RepoRules): void {
  const here = repos.findIndex((one) => one.name === name);
  repos[here] = { ...rules, path: worker.rules.repos[here]?.path ?? null };
}

/** The store has the commits that an attempt is built on. @throws {RepositoryTrouble} */
async function fetchMissing(
  { workshop }: Site,
  { hold, folder }: KeptJob,
  client: HttpAttemptClient,
  { task, dependencies, changes }: AttemptSpec,
): Promise<void> {
  const builtOn = [...dependencies, ...(changes ? [{ id: task.id, commit: changes.commit }] : [])];
  const repo = await workshop.repository(hold.repo);
  // A bundle builds on commits of the repository itself: its base has to be in the store.
  await workshop.base(hold.repo);
  for (const { id, commit } of builtOn) {
    const file = join(folder, "dependency.bundle");
    if (await workshop.hasCommit(hold.repo, commit)) continue;
    // eslint-disable-next-line no-restricted-syntax -- fetched again where the store does not have the commit
    await writeFile(file, await client.fetchBundle(id), { mode: 0o600 });
    await takeBundle(repo, { file, ref: `refs/parley/dependency/${commit}`, commit });
  }
}

/** Returns the next job of these repositories, once there is one; nothing where none came, or no server answers. */
async function claim(
  place: ServerAddress,
  repos: readonly RepoRules[],
  signal: AbortSignal,
): Promise<WorkerJob | null> {
  const kinds = repos.map(({ name }) => attemptKind(name));
  const reply = await systemFetch(`${place.url}/jobs/claim`, {
    method: "POST",
    signal,
    headers: { authorization: `Bearer ${place.key}`, "content-type": "application/json" },
    body: JSON.stringify({ kinds, worker_id: hostname(), lease_ttl_s: LEASE_S, wait: `${CLAIM_WAIT_S}s` }),
  }).catch((error: unknown) => {
    if (error instanceof Redirected) throw new WrongUsage(error.message);
    return null;
  });
  if (reply?.status === 401 || reply?.status === 403) {
    throw new WrongUsage("the server does not take this key; it must be of scope executor");
  }
  if (reply?.status !== 200) return null;
  const { job, lease } = (await reply.json()) as { job: { job_id: string; kind: string }; lease: { token: string } };
  const repo = repoOfKind(job.kind);
  return repo === null ? null : { jobId: job.job_id, repo, lease: lease.token };
}

/** Returns whether a job came to its end with a result, which its worker may not know. */
async function hasSucceeded(place: ServerAddress, jobId: string): Promise<boolean> {
  const reply = await systemFetch(`${place.url}/jobs/${encodeURIComponent(jobId)}`, {
    headers: { authorization: `Bearer ${place.key}` },
  });
  return reply.status === 200 && ((await reply.json()) as { state?: string }).state === "SUCCEEDED";
}

async function keepWhile(client: HttpAttemptClient, run: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const keeping = (async () => {
    while (!over.signal.aborted && !client.leaving.aborted && !client.ending.aborted) {
      await systemClock.sleep(KEEP_EVERY_MS, AbortSignal.any([over.signal, client.leaving, client.ending]));
      if (!over.signal.aborted) await client.keep().catch(() => undefined);
    }
  })();
  try {
    await run();
  } finally {
    over.abort();
    await keeping;
  }
}
