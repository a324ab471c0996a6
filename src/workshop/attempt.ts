import type { SandboxKind } from "../core/model/sandbox.ts";
import { access, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, writeWhole } from "../lib/files/durable-files.ts";
import { pauseAfter } from "../lib/back-off.ts";
import { changesAgentSettings } from "../tasks/model/action.ts";
import { resumeMessage } from "../tasks/model/message.ts";
import { commitMessage } from "../tasks/model/names.ts";
import { MOST_RESUMES } from "../tasks/model/task.ts";
import { agentNamed, type WorkshopContext } from "./workshop-context.ts";
import { AttemptLost, type AttemptClient, type TaskRun } from "./attempt-client.ts";
import { commitTree, snapshot, treeChangedPaths } from "./git/commit.ts";
import { endSupervisor, superviseAgent } from "./follow.ts";
import { bringPublished, resolveBase } from "./git/base.ts";
import { publish } from "./git/publish.ts";
import { unpublish } from "./git/unpublish.ts";
import { changedPaths } from "./git/read.ts";
import type { Repository } from "./git/repository.ts";
import { startCommit, startWithMarkers } from "./git/start.ts";
import { makeTree, removeTree } from "./git/tree.ts";
import { keepTreeFacts, readTreeFacts } from "./tree-facts.ts";
import { modelHosts, passedEnv } from "./sandbox/model-hosts.ts";
import { openingMessage } from "./opening-message.ts";
import { runSetup } from "./sandbox/sandbox.ts";
import { killAttempt } from "./supervisor/start.ts";

/**
 * Takes one attempt from where it is to its end: a commit that is published, a failure, or nothing at all because it was
 * to end. Every step can run twice: a workshop that takes an attempt up again goes on from the last reported step.
 */
export async function runAttempt(workshop: WorkshopContext, work: TaskRun, client: AttemptClient): Promise<void> {
  const repo = await awaitRepo(workshop, work, client);
  if (repo === null) return;
  const at: At = { workshop, work, client, repo, ...placesOf(work), start: null, mayBePublished: false };
  if (work.state !== "preparing") at.start = work.startSha;
  try {
    if (work.isEnding) {
      at.mayBePublished = true;
      throw new AttemptLost("it was to end");
    }
    // Whatever was waited for is there.
    if (work.state !== "preparing") await client.trouble(null);
    const start = await untilStarted(at);
    if (start === null) return;
    at.start = start;
    const refused = work.state === "committing" ? null : await untilDone(at, start);
    if (refused === null) await commit(at, start);
    else await fail(at, refused);
  } catch (error) {
    if (client.leaving.aborted) return;
    if (error instanceof Interrupted && !client.ending.aborted) await leave(at);
    else if (client.ending.aborted || error instanceof AttemptLost) await giveUp(at);
    else await fail(at, sentenceOf(error));
  }
}

/** Its agent was ended on demand; the work is left to the workshop that takes it up next. */
class Interrupted extends Error {
  override message = "it was interrupted";
}

/**
 * Returns the repository once it can be worked with: an agent that is at work loses nothing by a repository that is away
 * for a while, and its task says what is waited for. Null when the attempt came to its end, or was left, without.
 */
async function awaitRepo(workshop: WorkshopContext, work: TaskRun, client: AttemptClient): Promise<Repository | null> {
  for (const wait = openWait(workshop, client); ;) {
    const found = await workshop.repository(work.repo.name).catch(sentenceOf);
    if (typeof found !== "string") return found;
    const isEnding = work.isEnding || client.ending.aborted;
    if (work.state === "preparing" || isEnding) {
      const survivors = await killAll({ workshop, work });
      const wip = survivors.length > 0 ? null : await keepInStore(workshop, work);
      if (isEnding || survivors.length > 0) await client.ended({ wip, survivors });
      else await client.failed(found, { wip });
      return null;
    }
    if (client.interrupting.aborted) {
      await leave({ workshop, work, client });
      return null;
    }
    await wait(found);
    if (client.leaving.aborted) return null;
  }
}

/** The repository is there still, or again, to take the work; it may have gone while the agent worked. */
async function untilBack({ workshop, client, repo }: At): Promise<void> {
  const { gitDir, path } = repo;
  if (gitDir === null) return;
  const isBack = () => isThere(gitDir);
  if (await isBack()) return;
  for (const wait = openWait(workshop, client); !(await isBack());) {
    await wait(`There is no repository in ${path}.`);
    if (client.interrupting.aborted) throw new Interrupted();
    if (client.ending.aborted || client.leaving.aborted) throw new AttemptLost("it was left");
  }
  await client.trouble(null);
}

/** Returns a function that reports why an attempt waits, and waits: each time for longer, unless it is to stop. */
function openWait({ clock }: WorkshopContext, client: AttemptClient): (why: string) => Promise<void> {
  let reported: string | null = null;
  let failures = 0;
  return async (why) => {
    if (why !== reported) await client.trouble(`it waits for its repository: ${why}`).catch(ignoreLost);
    reported = why;
    failures += 1;
    await clock.sleep(pauseAfter(failures), AbortSignal.any([client.ending, client.leaving, client.interrupting]));
  };
}

/** Ignores the loss of an attempt, which its signal shows too. */
function ignoreLost(error: unknown): void {
  if (!(error instanceof AttemptLost)) throw error;
}

interface At {
  workshop: WorkshopContext;
  work: TaskRun;
  client: AttemptClient;
  repo: Repository;
  tree: string;
  home: string;
  index: string;
  conflictFile: string;
  factsFile: string;
  /** The commit it stands on; null before the agent may have done anything. */
  start: string | null;
  /** Its commit may be in the user's repository, though its completion is not reported yet. */
  mayBePublished: boolean;
}

function placesOf({ folder, n }: TaskRun): Pick<At, "tree" | "home" | "index" | "conflictFile" | "factsFile"> {
  return {
    tree: join(folder, "tree"),
    home: join(folder, "home"),
    index: join(folder, `index-${n}`),
    conflictFile: join(folder, "conflict.json"),
    factsFile: join(folder, "tree.json"),
  };
}

/** Returns the start commit once the tree stands and its setup has run; null where dependencies do not merge. */
async function untilStarted(at: At): Promise<string | null> {
  const { work, client, repo, tree, conflictFile } = at;
  if (work.state !== "preparing") {
    if (work.startSha === null) throw new Error("an attempt runs without a start commit");
    return work.startSha;
  }
  // An earlier preparation may have left processes that still run.
  await killAll(at);
  makeFolder(work.folder, 0o700);
  const sandbox = sandboxOf(at);
  const builtOn = [...work.dependencies, ...(work.changes ? [work.changes] : [])];
  await bringPublished(
    repo,
    builtOn.map(({ commit }) => commit),
  );
  if (work.changes !== null && work.startSha !== null) {
    // It goes on in the tree as it was left; where that was swept away, with the agent's home, in one like it.
    if (!(await isThere(tree))) {
      await freshTree(at, work.changes.commit);
      work.session = null;
    }
    await client.step("running", { sandbox, startSha: work.startSha });
    return work.startSha;
  }

  const base = await resolveBase(repo, work.task.base ?? work.repo.base);
  const begun = await startCommit(repo, { base, dependencies: work.dependencies, forTask: work.task.id });
  await rm(conflictFile, { force: true });
  let start: string;
  if (begun.kind === "start") {
    start = begun.commit;
  } else if (work.task.resolveConflict || work.repo.onConflict === "agent") {
    const marked = await startWithMarkers(repo, begun);
    start = marked.commit;
    await writeWhole(conflictFile, JSON.stringify(marked.markersIn));
    const says = `dependencies do not merge in ${marked.markersIn.join(", ")}; the agent resolves it`;
    await client.note([{ type: "git", data: { message: says } }]);
  } else {
    await client.conflict({ paths: begun.paths, messages: begun.messages });
    return null;
  }
  const warnings = await freshTree(at, start);
  await client.note([{ type: "git", data: { message: `the tree stands at ${start}`, start, warnings } }]);
  if (work.repo.setup !== null) await setUp(at, work.repo.setup, sandbox);
  await keepTreeFacts(repo, at, { start, warnings });
  await client.step("running", { sandbox, startSha: start });
  return start;
}

function sandboxOf({ workshop, work }: At): SandboxKind {
  const ready = workshop.readiness(work.agent);
  if ("why" in ready) throw new Error(ready.why);
  return ready.sandbox;
}

async function setUp(at: At, command: string, sandbox: SandboxKind): Promise<void> {
  const { workshop, work, client, tree, home } = at;
  const hosts = modelHosts(agentNamed(workshop, work.agent), passedEnv(workshop, work.agent));
  const ended = await runSetup({
    command,
    sandbox,
    tree,
    home,
    store: at.repo.store,
    attemptId: work.attemptId,
    clock: workshop.clock,
    egress: [...hosts, ...workshop.rules.egress],
    log: join(work.folder, `setup-${work.n}.log`),
    onLine: (text) => client.note([{ type: "setup", data: { text } }]),
    signal: AbortSignal.any([client.ending, client.leaving, client.interrupting]),
  });
  if (client.interrupting.aborted) throw new Interrupted();
  if (client.ending.aborted || client.leaving.aborted)
    throw new AttemptLost("it was stopped while its tree was set up");
  if (ended.code !== 0) throw new Error(`the setup command failed${ended.why ? `: ${ended.why}` : ""}`);
}

/** Lets the agent work, and takes it up again when it dies; returns null when it is done, else why it failed. */
async function untilDone(at: At, start: string): Promise<string | null> {
  const { workshop, work, client } = at;
  let { resumes, session } = work;
  for (;;) {
    const { end, survivors } = await superviseAgent(workshop, work, client, {
      resumes,
      begin: () => beginRun(at, start, { resumes, session }),
      onSession: (known) => (session = known),
    });
    if (survivors.length > 0) throw new AttemptLost("processes of its agent do not end");
    if (end.kind === "done") return null;
    if (end.kind === "failed") return end.error;
    if (end.kind === "canceled") throw new AttemptLost("it was cancelled");

    await keepWip(at);
    if (client.interrupting.aborted) {
      await client.step("interrupted");
      throw new Interrupted();
    }
    if (resumes >= MOST_RESUMES) return `the agent died ${resumes + 1} times; the last time: ${end.error}`;
    await client.step("interrupted");
    const isCommand = agentNamed(workshop, work.agent).type === "command";
    const canGoOn = end.canResume && session !== null && !isCommand;
    const refused = canGoOn ? await refusedToGoOn(at, start, resumes + 1) : null;
    if (refused !== null) return refused;
    await client.resumed(canGoOn ? "session" : "start");
    resumes += 1;
    if (!canGoOn) session = null;
  }
}

/** Returns the message with which the agent begins or goes on. Without a session it begins in a fresh tree. */
async function beginRun(
  at: At,
  start: string,
  { resumes, session }: { resumes: number; session: string | null },
): Promise<{ message: string; resume: string | null }> {
  const { changes } = at.work;
  if (at.client.interrupting.aborted) throw new Interrupted();
  if (resumes > 0 && session !== null) return { message: resumeMessage(), resume: session };
  if (resumes > 0) await freshTree(at, changes?.commit ?? start);
  const goesOn = changes !== null && session !== null;
  return { message: await openingOf(at, start), resume: goesOn ? session : null };
}

/** An agent that changed its own settings goes on only when a person allows it. Returns why not. */
async function refusedToGoOn(at: At, start: string, resume: number): Promise<string | null> {
  const { client, repo, tree, index } = at;
  const all = await treeChangedPaths(repo, { dir: tree, indexFile: index, start });
  const changed = all.filter(changesAgentSettings);
  if (changed.length === 0) return null;
  const input = { tool: "resume", input: { changed }, action: "reconfigure" as const, resource: changed.join(", ") };
  const signal = AbortSignal.any([client.ending, client.leaving, client.interrupting]);
  const decision = await client.permission(`resume-${resume}`, input, signal);
  if (client.interrupting.aborted) throw new Interrupted();
  if (client.leaving.aborted || client.ending.aborted) throw new AttemptLost("it was left");
  return decision.allow ? null : `the agent died, and may not go on with changed settings of its own: ${decision.why}`;
}

/** A tree as the commit has it, and an empty home. Returns what its owner should know. */
async function freshTree({ repo, tree, home, work }: At, commit: string): Promise<readonly string[]> {
  await removeTree(home);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const { slug } = work.task;
  return (await makeTree(repo, { dir: tree, slug, start: commit, include: work.repo.path })).warnings;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Returns the first message to the agent. */
async function openingOf(at: At, start: string): Promise<string> {
  const { workshop, work, repo } = at;
  return openingMessage({ workshop, work, repo, start, conflictPaths: await conflictOf(at) });
}

async function conflictOf({ conflictFile }: At): Promise<string[]> {
  const text = await readFile(conflictFile, "utf8").catch(() => "[]");
  return JSON.parse(text) as string[];
}

/** Makes the one commit of the attempt and publishes it; only then is the task complete. */
async function commit(at: At, start: string): Promise<void> {
  const { work, client, repo, tree, index } = at;
  const { task, n, agent, dependencies } = work;
  if (work.state !== "committing") {
    await untilBack(at);
    await client.step("committing");
  }
  at.mayBePublished = true;
  // point: attempt-before-commit
  const message = commitMessage({ prompt: task.prompt, id: task.id, attempt: n, agent, dependencies });
  const facts = await readTreeFacts(at.factsFile);
  const made = await commitTree(repo, {
    dir: tree,
    indexFile: index,
    start,
    before: facts.leftOut,
    slug: task.slug,
    n,
    message,
    markersIn: await conflictOf(at),
  });
  // Nothing is published of an attempt that is to end; what becomes so meanwhile is taken back.
  await client.note([]);
  // point: attempt-between-commit-and-publish
  const { branch, why, ref } = await publish(repo, { slug: task.slug, n, commit: made.commit, last: work.published });
  // point: attempt-between-publish-and-row
  const warnings = [...facts.warnings, ...made.warnings, ...(why === undefined ? [] : [why])];
  await client.note([
    { type: "git", data: { message: `committed ${made.commit}`, commit: made.commit, ref, branch, warnings } },
  ]);
  const changed = await changedPaths(repo, { from: start, to: made.commit });
  await client.done({
    commit: made.commit,
    changed: made.changed,
    diffstat: made.diffstat,
    branch,
    ref,
    warnings,
    files: changed.join("\n"),
  });
}

/** The attempt has failed, for a reason; nothing of it runs any more. */
async function fail(at: At, why: string): Promise<void> {
  const survivors = await killAll(at);
  if (survivors.length > 0) await at.client.ended({ wip: null, survivors });
  else await at.client.failed(why, { wip: await keepWip(at) });
}

/** Ends the processes of the attempt, and leaves it as it is to the workshop that takes it up next. */
async function leave({ workshop, work, client }: Pick<At, "workshop" | "work" | "client">): Promise<void> {
  const survivors = await killAll({ workshop, work });
  if (survivors.length > 0) await client.ended({ wip: null, survivors });
}

/** The attempt is to end: its processes are killed, what it has done is kept, and nothing of it is published. */
async function giveUp(at: At): Promise<void> {
  const { repo, work, client } = at;
  const survivors = await killAll(at);
  if (survivors.length === 0 && at.mayBePublished) {
    await unpublish(repo, { slug: work.task.slug, n: work.n, last: work.published });
  }
  await client.ended({ wip: survivors.length > 0 ? null : await keepWip(at), survivors });
}

/** Nothing of the attempt runs any more but what is returned. Its supervisor sees to that as long as there is one. */
async function killAll({ workshop, work }: Pick<At, "workshop" | "work">): Promise<readonly number[]> {
  await endSupervisor(workshop, work.folder);
  return (await killAttempt(work.attemptId, workshop)).survivors;
}

async function keepWip({
  repo,
  work,
  tree,
  index,
  start,
}: Pick<At, "repo" | "work" | "tree" | "index" | "start">): Promise<string | null> {
  if (start === null) return null;
  const { slug } = work.task;
  return snapshot(repo, { dir: tree, indexFile: `${index}-wip`, start, slug, n: work.n }).catch(() => null);
}

/** The same where the repository is away: its store is Parley's own. */
async function keepInStore(workshop: WorkshopContext, work: TaskRun): Promise<string | null> {
  const start = work.state === "preparing" ? null : work.startSha;
  const repo = await workshop.store(work.repo.name).catch(() => null);
  return repo && keepWip({ repo, work, ...placesOf(work), start });
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
