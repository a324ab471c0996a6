import type { SandboxKind } from "../core/model/sandbox.ts";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock, type Clock } from "../lib/clock.ts";
import type { AssignmentRules } from "../tasks/model/rules.ts";
import type { OldRefs } from "../tasks/model/keep-work.ts";
import { findAgents, type FoundAgent } from "./agents/find-agents.ts";
import { runAttempt } from "./attempt.ts";
import { storeOf, type WorkshopContext } from "./workshop-context.ts";
import { folderOf, listFolders, workOf, type AttemptSpec } from "./attempt-assignment.ts";
import type { AttemptClient } from "./attempt-client.ts";
import { approveInto, type ApproveInput } from "./git/approve.ts";
import { resolveBase } from "./git/base.ts";
import { attemptRef } from "./git/commit.ts";
import { hasCommit } from "./git/objects.ts";
import { dropBranch } from "./git/publish.ts";
import { diff } from "./git/read.ts";
import { openRepository, RepositoryTrouble, type Repository } from "./git/repository.ts";
import { valueOfRef } from "./git/refs.ts";
import { gitVersion } from "./git/run.ts";
import { packStore, sweepRefs } from "./git/tidy.ts";
import { removeTree } from "./git/tree.ts";
import { folderBytes } from "./folder-bytes.ts";
import { NO_SANDBOX, selfTest } from "./sandbox/sandbox.ts";
import { endSupervisor, findSupervised } from "./follow.ts";
import { killAttempt } from "./supervisor/start.ts";
import { endWithoutRepository } from "./without-repository.ts";

export interface WorkshopOptions {
  rules: AssignmentRules;
  /** The data folder, which no agent in the sandbox may read. */
  dataDir: string;
  serverUrl: () => string;
  env: Readonly<Record<string, string | undefined>>;
  newSessionId: () => string;
  /** Agents are other programs, and live by the machine's own clock. */
  clock?: Clock;
}

/**
 * Opens the workshop of this machine. Its sandbox and agents are examined at once; `opened` resolves when it is done.
 */
export function openWorkshop(options: WorkshopOptions) {
  const { rules, dataDir, env, clock = systemClock } = options;
  const repositories = openRepositories(rules, clock);
  const machine = lookAtMachine({ rules, dataDir, env, clock });
  const workshop: WorkshopContext = {
    rules,
    clock,
    serverUrl: options.serverUrl,
    env,
    newSessionId: options.newSessionId,
    repository: repositories.repository,
    store: repositories.store,
    readiness: machine.readiness,
  };
  return {
    opened: machine.opened,
    readiness: machine.readiness,
    agents: machine.agents,
    trouble: machine.trouble,
    /** The notice for people as long as there is no sandbox. */
    sandboxNotice: () => (machine.sandbox() === "none" && rules.sandbox !== "off" ? NO_SANDBOX : null),
    repository: repositories.repository,
    ...overRepositories(rules, repositories.repository),
    ...overAttempts(workshop),
    ...overFolders(rules),
  };
}

interface Repositories {
  /** Opens a repository of the settings, once; one that could not be opened is tried anew. */
  repository(name: string): Promise<Repository>;
  /** Opens what is kept of a repository that is not here, or not any more. */
  store(name: string): Promise<Repository>;
}

function openRepositories(rules: AssignmentRules, clock: Clock): Repositories {
  const opened = new Map<string, Promise<Repository>>();

  function open(name: string, path: string | null): Promise<Repository> {
    const { branchPrefix, committer, author } = rules;
    return openRepository({
      name,
      path,
      storeDir: storeOf(rules.workDir, name),
      branchPrefix,
      committer,
      author,
      clock,
    });
  }
  return {
    repository(name) {
      const known = opened.get(name);
      if (known) return known;
      const found = rules.repos.find((one) => one.name === name);
      if (!found) return Promise.reject(new Error(`there is no repository called ${name} in the settings`));
      const opening = open(name, found.path);
      opened.set(name, opening);
      // A failure that a person has to fix is not kept: the next call opens the repository again.
      opening.catch(() => opened.delete(name));
      return opening;
    },
    store: (name) => open(name, null),
  };
}

/** The sandbox and the agents of this machine; known when `opened` has resolved. */
interface Machine {
  opened: Promise<void>;
  /** In which sandbox agents run here, or none; null until it is known. */
  sandbox(): SandboxKind | null;
  /** Why no agent can be given work here; null where nothing is in the way. */
  trouble(): string | null;
  agents(): readonly FoundAgent[];
  readiness(agent: string): { sandbox: SandboxKind } | { why: string };
}

function lookAtMachine({
  rules,
  dataDir,
  env,
  clock,
}: Pick<WorkshopOptions, "rules" | "dataDir" | "env"> & { clock: Clock }): Machine {
  let sandbox: SandboxKind | null = null;
  let trouble: string | null = "it is still being looked into what this machine offers";
  let agents: readonly FoundAgent[] = [];

  /** Returns why an agent is not started here, by its sandbox; null if it is (spec/assignment 5). */
  function refusalOf(needsSandbox: boolean): string | null {
    if (sandbox === "bubblewrap" || rules.sandbox === "off") return null;
    if (rules.sandbox === "require") return NO_SANDBOX;
    return needsSandbox ? "needs a sandbox or assignment.sandbox: off" : null;
  }

  async function look(): Promise<void> {
    const git = await gitVersion();
    if (git.why !== null) {
      trouble = git.why;
      return;
    }
    const found = rules.sandbox === "off" ? null : await selfTest({ dataFolder: dataDir, clock });
    sandbox = found?.kind === "bubblewrap" ? "bubblewrap" : "none";
    agents = await findAgents(rules.agents, { env, clock, refusal: refusalOf });
    trouble = null;
  }
  return {
    opened: look().catch((error: unknown) => {
      trouble = error instanceof Error ? error.message : String(error);
    }),
    sandbox: () => sandbox,
    trouble: () => trouble,
    agents: () => agents,
    readiness(name) {
      if (trouble !== null) return { why: trouble };
      const agent = agents.find((one) => one.name === name);
      if (!agent) return { why: `there is no agent called ${name} in the settings` };
      return agent.works ? { sandbox: sandbox ?? "none" } : { why: agent.why ?? "it does not work here" };
    },
  };
}

/** Reads repositories, settles reviews in them, and removes old refs. */
function overRepositories(rules: AssignmentRules, repository: Repositories["repository"]) {
  return {
    /** Returns the base that work in a repository starts from; the store has it. Null for one that is not known here. */
    async base(name: string): Promise<string | null> {
      const found = rules.repos.find((one) => one.name === name);
      return found ? resolveBase(await repository(name), found.base) : null;
    },
    hasCommit: async (name: string, commit: string) => hasCommit((await repository(name)).store, commit),

    async diff(
      { repo, startSha, commitSha }: { repo: string; startSha: string; commitSha: string },
      against: "start" | "base",
    ): Promise<string> {
      const opened = await repository(repo);
      const found = rules.repos.find((one) => one.name === repo);
      const from = against === "start" || !found ? startSha : await resolveBase(opened, found.base);
      return diff(opened, { from, to: commitSha });
    },

    /** Whether the repository that is here is the one in which the commit of an attempt was published. */
    async hasPublished(work: { repo: string; slug: string; n: number; commit: string }): Promise<boolean> {
      const { gitDir } = await repository(work.repo);
      return gitDir !== null && (await valueOfRef(gitDir, attemptRef(work.slug, work.n))) === work.commit;
    },

    async settleReview(
      work: { repo: string; slug: string; commit: string; kind: "approve" | "reject" },
      onApprove = rules.repos.find((one) => one.name === work.repo)?.onApprove ?? null,
    ): Promise<{ message: string; command?: string }> {
      if (work.kind === "approve" && !onApprove) return { message: "" };
      try {
        const opened = await repository(work.repo);
        return onApprove && work.kind === "approve"
          ? await approved(opened, { ...onApprove, commit: work.commit })
          : await rejected(opened, { slug: work.slug, value: work.commit });
      } catch (error) {
        // Only a person can do something about it, and nothing else waits for that.
        if (error instanceof RepositoryTrouble) return { message: error.message };
        throw error;
      }
    },

    async tidyRepository(name: string, old: OldRefs, signal: AbortSignal): Promise<void> {
      const opened = await repository(name);
      await sweepRefs(opened, old);
      if (!signal.aborted) await packStore(opened, { signal });
    },
  };
}

/** Runs attempts, finds running ones again, and ends them for certain. */
function overAttempts(workshop: WorkshopContext) {
  const { rules } = workshop;
  return {
    run(given: AttemptSpec, client: AttemptClient): Promise<void> {
      const { task, attempt } = given;
      const repo = rules.repos.find(({ name }) => name === task.repo);
      if (repo) return runAttempt(workshop, workOf(rules.workDir, repo, given), client);
      const folder = folderOf(rules.workDir, { ...task, generation: attempt.generation });
      return endWithoutRepository(workshop, { ...attempt, folder }, client);
    },

    findSupervised: () => findSupervised(rules.workDir),

    async kill(attemptId: string, folder?: string): Promise<readonly number[]> {
      if (folder !== undefined) await endSupervisor(workshop, folder);
      return (await killAttempt(attemptId, workshop)).survivors;
    },
  };
}

/** Lists and removes the folders of submissions. */
function overFolders({ workDir }: AssignmentRules) {
  return {
    listFolders: () => listFolders(workDir),

    async remove({ repo, slug, generation }: { repo: string; slug: string; generation: number }): Promise<void> {
      await removeTree(folderOf(workDir, { repo, slug, generation }));
    },

    async tree({ repo, slug, generation }: { repo: string; slug: string; generation: number }) {
      const path = join(folderOf(workDir, { repo, slug, generation }), "tree");
      const bytes = await folderBytes(path);
      return bytes === null ? null : { path, bytes };
    },

    async clear({ repo, slug, generation }: { repo: string; slug: string; generation: number }): Promise<void> {
      const folder = folderOf(workDir, { repo, slug, generation });
      await removeTree(join(folder, "tree"));
      await removeTree(join(folder, "home"));
      await rm(join(folder, "order.json"), { force: true });
    },
  };
}

async function approved(repo: Repository, input: ApproveInput): Promise<{ message: string; command?: string }> {
  const done = await approveInto(repo, input);
  if (done.kind === "done") return { message: `${input.target} is at ${done.commit}` };
  return { message: `${input.target} was left as it is: ${done.why}`, command: done.command };
}

async function rejected(repo: Repository, branch: { slug: string; value: string }): Promise<{ message: string }> {
  const isGone = repo.gitDir !== null && (await dropBranch(repo, branch));
  return { message: isGone ? "its branch is deleted; the commit is kept for 30 days" : "" };
}
