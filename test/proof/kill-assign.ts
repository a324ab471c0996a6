import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitIn } from "../support/git-in.ts";
import { call, type Reply } from "../support/world.ts";
import { type Ended, isRunning, openSite, type Process, type Site } from "./kill-process.ts";
import { ended, pause, started, until } from "./kill-steps.ts";
import type { Aside, Story } from "./kill-story.ts";

const WITHIN_MS = 60_000;
const KEPT_MS = 31 * 86_400_000;
/** It writes down how often it was started, beside the tree. */
const AGENT = { type: "command", command: ["sh", "-c", "echo done > done.txt; ls > seen.txt; echo x >> ../times"] };
const CARDS = ["card-1", "card-2"] as const;

/**
 * The server dies at a point of a task's life; after the next start every task has exactly one commit, which is published
 * exactly when the task is completed, its agent was started once, and people were asked for a review once
 * (spec/invariants G1, J1, J2, J7).
 */
export async function assignmentDay({ on, step: { at }, story, report }: Aside): Promise<void> {
  if (!at) throw new Error("a day of a task is for a point");
  const folder = mkdtempSync(join(tmpdir(), "parley-kill-assign-"));
  try {
    const checkout = newCheckout(folder);
    const config = join(folder, "parley.yaml");
    const repos = [{ name: "shop", path: checkout, agent: "script" }];
    writeFileSync(config, JSON.stringify({ repos, agents: { script: AGENT }, assignment: { sandbox: "off" } }));
    await using site = await openSite(on, { PARLEY_CONFIG: config });
    const told = (problem: string): void => report([`${at.point}: ${problem}`]);
    await dayOn(site, { at, story, told, checkout });
    report(await site.examine());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Day {
  at: { point: string; hit: number };
  story: Story;
  told: (problem: string) => void;
  checkout: string;
}

async function dayOn(site: Site, { at, story, told, checkout }: Day): Promise<void> {
  await ended(await started(site), "SIGTERM");
  const key = await site.run(["keys", "create", "planner", "--scope", "assign", "--person", "1"]);
  const isRetention = at.point.startsWith("task-retention");
  let server = await started(site, isRetention ? undefined : at);
  const wasWhole = await live(server, key, told);
  let dying: Process | Ended = server;
  if (isRetention) {
    if (!(await reject(server, key))) told("the work that is to be forgotten was not rejected");
    await ended(server, "SIGTERM");
    await site.sleepFor(KEPT_MS);
    dying = await site.start({ at });
    if (isRunning(dying)) server = dying;
  }
  const end = isRunning(dying) ? await Promise.race([server.ended, pause(WITHIN_MS)]) : dying;
  if (end?.signal !== "SIGKILL") {
    await ended(server, "SIGKILL");
    return told(`the server was to die there and did not${wasWhole ? "" : ", nor did the day end"}`);
  }
  story.pointsHit.push(at.point);

  server = await started(site);
  if (isRetention) {
    const left = async () =>
      Number((await site.query("SELECT count(*) AS n FROM task_events WHERE id = 'card-1'"))[0]?.["n"]);
    await until(WITHIN_MS, async () => (await left()) === 0);
    if ((await left()) > 0) told("the log of a task outlived its time");
    const refs = () => gitIn(checkout, "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa").split("\n");
    const rejected = () => refs().filter((ref) => ref.includes(`/${CARDS[1]}-`));
    await until(WITHIN_MS, () => Promise.resolve(rejected().length === 0));
    if (rejected().length > 0) told(`rejected work has a name still: ${rejected().join()}`);
    if (!refs().some((ref) => ref.includes(`/${CARDS[0]}-`))) told("G1: approved work lost its name");
  } else {
    if (!(await live(server, key, told))) told("the day did not end after the next start");
    await check(server, site, { key, told, checkout });
  }
  await ended(server, "SIGTERM");
}

/** Gives work, reviews it, and gives work that builds on it; what was done before stays. False when the server went away. */
async function live({ url }: Process, key: string, told: (problem: string) => void): Promise<boolean> {
  const ask = askingAt(url, key);
  const submit = (id: string, dependencies: readonly string[]) =>
    ask("POST", "/assignment", { id, prompt: `Do ${id}`, dependencies }, { "idempotency-key": `key of ${id}` });
  const [first, second] = CARDS;
  for (const [id, dependencies] of [
    [first, []],
    [second, [first]],
  ] as const) {
    const reply = await submit(id, dependencies);
    if (!reply) return false;
    if (reply.status !== 202) told(`${id} was answered ${reply.status} ${reply.text}`);
    const state = await settled(ask, id);
    if (state === null) return false;
    if (state !== "review" && state !== "approved") told(`${id} is ${state}`);
    if (id !== first || state === "approved") continue;
    const review = await ask("POST", `/assignment/tasks/${first}/review`, { verdict: "approve", attempt: 1 });
    if (!review) return false;
    if (review.status !== 200) told(`the review was answered ${review.status} ${review.text}`);
  }
  return true;
}

/** Rejects the task that builds on the other one. */
async function reject({ url }: Process, key: string): Promise<boolean> {
  const reply = await askingAt(url, key)("POST", `/assignment/tasks/${CARDS[1]}/review`, {
    verdict: "reject",
    attempt: 1,
  });
  return reply?.status === 200;
}

async function settled(ask: ReturnType<typeof askingAt>, id: string): Promise<string | null> {
  let state: string | null = "not there";
  await until(WITHIN_MS, async () => {
    const reply = await ask("GET", `/assignment/tasks/${id}`);
    state = reply && String(reply.body.state);
    return state === null || /^(review|approved|rejected|failed|canceled)$/.test(state);
  });
  return state;
}

async function check(
  { url }: Process,
  site: Site,
  { key, told, checkout }: { key: string; told: (problem: string) => void; checkout: string },
): Promise<void> {
  const ask = askingAt(url, key);
  const refs = gitIn(checkout, "for-each-ref", "--format=%(refname) %(objectname)", "refs/aa", "refs/heads/aa");
  for (const id of CARDS) {
    const task = (await ask("GET", `/assignment/tasks/${id}`))?.body;
    const own = refs.split("\n").filter((line) => line.includes(`/${id}-`));
    const wanted = [`${task?.ref} ${task?.commit}`, `refs/heads/${task?.branch} ${task?.commit}`];
    if (own.join() !== wanted.join()) told(`G1: ${id} is completed with ${wanted.join()}, and there is ${own.join()}`);
    if (task?.attempts?.length !== 1) told(`J7: ${id} had ${task?.attempts?.length} attempts`);
    const times = globSync(join(site.dataDir, `workshop/work/shop/${id}-*/times`)).map((path) =>
      readFileSync(path, "utf8"),
    );
    if (times.join() !== "x\n") told(`the agent of ${id} was started other than once: ${JSON.stringify(times)}`);
  }
  const asked = await site.query("SELECT title FROM requests WHERE door = 'assignment'");
  if (asked.length !== CARDS.length) told(`people were asked ${asked.length} times: ${JSON.stringify(asked)}`);
}

function newCheckout(folder: string): string {
  const checkout = join(folder, "shop");
  mkdirSync(checkout);
  gitIn(checkout, "init", "-q", "-b", "main");
  writeFileSync(join(checkout, "README.md"), "# Shop\n");
  gitIn(checkout, "add", ".");
  gitIn(checkout, "commit", "-q", "-m", "Begin");
  return checkout;
}

const askingAt =
  (url: string, key: string) =>
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply | null> =>
    call(`${url}${path}`, method, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body !== undefined && { body }),
    }).catch(() => null);
