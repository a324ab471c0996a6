import { gitIn } from "../support/git-in.ts";
import type { Move } from "./run-check-log.ts";
import { tokenIn, type Card } from "./run-plan.ts";
import type { RunSite } from "./run-site.ts";

type Problem = (says: string) => void;

/** An attempt as the store knows it, with the slug of its task. */
interface Attempt {
  repo: string;
  id: string;
  n: number;
  generation: number;
  state: string;
  outcome: string | null;
  startSha: string;
  commitSha: string | null;
  slug: string;
}

interface Found {
  /** The repository that has its commit. */
  path: string;
  attempt: Attempt;
  commit: string;
}

/**
 * Every completed attempt has exactly one commit, on the commit it started from, in one repository, with its prompt and
 * what it left; that start holds every dependency's commit as it stood then; and of nothing else a ref was published
 * (spec/invariants G1, G3, G4, J2).
 */
export async function checkGit(site: RunSite, cards: readonly Card[], moves: readonly Move[], problem: Problem) {
  const attempts = await readAttempts(site);
  const places = [
    { repo: "shop", path: site.checkout },
    ...site.workers.map(({ clone }) => ({ repo: "far", path: clone })),
  ];
  const refs = places.flatMap(({ repo, path }) => attemptRefs(path).map((ref) => ({ ...ref, repo, path })));
  const completed: Found[] = [];
  for (const attempt of attempts) {
    const { repo, id, n, slug, commitSha } = attempt;
    const own = refs.filter((ref) => ref.repo === repo && ref.slug === slug && ref.n === n);
    const what = `attempt ${n} of ${id} (${attempt.outcome ?? attempt.state})`;
    if (attempt.outcome !== "completed") {
      if (own.length > 0) problem(`G1: ${what} did not complete, and ${own[0]?.commit} is published`);
      continue;
    }
    const [first] = own;
    if (!first || own.length > 1 || first.commit !== commitSha) {
      problem(
        `G1: ${what} has ${commitSha}, and ${own.map((ref) => `${ref.path}: ${ref.commit}`).join() || "nothing"} is published`,
      );
      continue;
    }
    completed.push({ path: first.path, attempt, commit: first.commit });
  }
  for (const ref of refs) {
    const isKnown = attempts.some(({ repo, slug, n }) => repo === ref.repo && slug === ref.slug && n === ref.n);
    if (!isKnown) problem(`G1: ${ref.slug}/${ref.n} is published in ${ref.path}, and no such attempt is known`);
  }
  for (const found of completed) checkCommit(found, { cards, moves, problem });
  checkTokens(completed, problem);
  await checkBranches(site, problem);
  return completed.length;
}

function checkCommit(
  { path, attempt, commit }: Found,
  { cards, moves, problem }: { cards: readonly Card[]; moves: readonly Move[]; problem: Problem },
): void {
  const { id, n, startSha } = attempt;
  const git = (...args: string[]) => asked(path, ...args);
  const says = (what: string) => problem(`${what} (attempt ${n} of ${id}, ${commit})`);
  const parents = git("log", "-1", "--format=%P", commit).split(" ");
  const message = git("log", "-1", "--format=%B", commit);
  const token = tokenIn(message);
  if (!message.includes(`\nAA-Task: ${id}\nAA-Attempt: ${n}\n`)) says(`G1: its message is ${message}`);
  if (git("show", `${commit}:${id}.txt`) !== token) says(`G1: it does not hold what ${token} wrote`);
  const files = git("ls-tree", "-r", "--name-only", commit).split("\n");
  for (const file of files) {
    if (/^(<<<<<<<|>>>>>>>) /m.test(git("show", `${commit}:${file}`))) says(`G4: a conflict is left in ${file}`);
  }

  const used = new Map(
    [...message.matchAll(/^AA-Depends-On: (\S+) ([0-9a-f]{40})$/gm)].map(([, dep = "", sha = ""]) => [dep, sha]),
  );
  const dependencies = cards.find((card) => card.id === id)?.dependencies ?? [];
  if ([...used.keys()].sort().join() !== [...dependencies].sort().join()) {
    says(
      `G4: it depends on ${dependencies.join() || "nothing"}, and was built on ${[...used.keys()].join() || "nothing"}`,
    );
  }
  const resolves = resolvesConflict(path, parents, [...used.values()]);
  if (parents.join() !== startSha && !resolves) {
    says(`G1: its parents are ${parents.join()}, and it started from ${startSha}`);
  }
  const begun = moves.findLast((move) => move.id === id && move.attempt === n && move.to === "preparing");
  for (const [dependency, sha] of used) {
    if (!isAncestor(path, sha, resolves ? commit : startSha)) says(`G4: it does not start from ${dependency}'s ${sha}`);
    const then = moves.some((move) => move.id === dependency && move.commit === sha && move.seq < (begun?.seq ?? 0));
    if (!then) says(`J8: it was built on ${dependency}'s ${sha}, which was not its commit before`);
  }
  const base = git("rev-parse", "main");
  if (dependencies.length === 0 && startSha !== base) says(`G1: it starts from ${startSha}, and the base is ${base}`);
}

/**
 * Whether a commit takes the place of a start with conflict markers: it merges commits of which git cannot merge two, and
 * each is the base or a dependency (spec/assignment 4.4). That start itself is in no repository of a person.
 */
function resolvesConflict(path: string, parents: readonly string[], dependencies: readonly string[]): boolean {
  const allowed = [gitIn(path, "rev-parse", "main"), ...dependencies];
  if (parents.length < 2 || !parents.every((parent) => allowed.includes(parent))) return false;
  return parents.some((one, at) => parents.slice(at + 1).some((other) => !merges(path, one, other)));
}

/** All attempts of one submission did what it says, and those of another something else. */
function checkTokens(completed: readonly Found[], problem: Problem): void {
  const byGeneration = new Map<string, string>();
  const byToken = new Map<string, string>();
  for (const { path, attempt, commit } of completed) {
    const key = `${attempt.id}, submission ${attempt.generation}`;
    const token = tokenIn(gitIn(path, "log", "-1", "--format=%B", commit)) ?? "";
    const [before, other] = [byGeneration.get(key) ?? token, byToken.get(token) ?? key];
    if (before !== token) problem(`J2: ${key} was completed as ${before} and as ${token}`);
    if (other !== key) problem(`J2: ${token} was completed for ${key} and for ${other}`);
    byGeneration.set(key, token);
    byToken.set(token, key);
  }
}

/**
 * Checks that the branch of a task stands at the commit that the task shows, and that a rejected task has no branch.
 */
async function checkBranches({ site, checkout }: RunSite, problem: Problem): Promise<void> {
  const tasks = await site.query(
    "SELECT id, slug, state, prompt, branch, commit_sha, attempt FROM tasks WHERE repo = 'shop'",
  );
  const heads = new Map(
    lines(gitIn(checkout, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/aa")).map((line) => {
      const [ref = "", sha = ""] = line.split(" ");
      return [ref, sha];
    }),
  );
  for (const task of tasks) {
    const [id, slug, commit] = [String(task["id"]), String(task["slug"]), task["commit_sha"]];
    const head = heads.get(`refs/heads/aa/${slug}`);
    if (commit === null) continue;
    if (head !== commit)
      problem(`G1: the branch of ${id} stands at ${head ?? "nothing"}, and its commit is ${String(commit)}`);
    const token = tokenIn(String(task["prompt"]));
    if (tokenIn(gitIn(checkout, "log", "-1", "--format=%B", String(commit))) !== token) {
      problem(`J2: ${id} was given as ${token}, and its commit is that of an earlier submission`);
    }
  }
}

async function readAttempts({ site }: RunSite): Promise<Attempt[]> {
  const rows = await site.query(`SELECT a.repo, a.id, a.n, a.generation, a.state, a.outcome, a.start_sha, a.commit_sha,
      t.slug FROM task_attempts a JOIN tasks t ON t.repo = a.repo AND t.id = a.id ORDER BY a.repo, a.id, a.n`);
  const text = (value: unknown) => (value === null ? null : String(value));
  return rows.map((row) => ({
    repo: String(row["repo"]),
    id: String(row["id"]),
    slug: String(row["slug"]),
    state: String(row["state"]),
    n: Number(row["n"]),
    generation: Number(row["generation"]),
    outcome: text(row["outcome"]),
    startSha: String(row["start_sha"]),
    commitSha: text(row["commit_sha"]),
  }));
}

function attemptRefs(path: string): { slug: string; n: number; commit: string }[] {
  return lines(gitIn(path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/aa")).flatMap((line) => {
    const [, slug = "", n = "", commit = ""] = /^refs\/aa\/([^/]+)\/(\d+) (\S+)$/.exec(line) ?? [];
    return slug === "" ? [] : [{ slug, n: Number(n), commit }];
  });
}

/** Returns git's output, or its error message. */
function asked(path: string, ...args: string[]): string {
  try {
    return gitIn(path, ...args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const isAncestor = (path: string, one: string, other: string): boolean =>
  succeeds(path, "merge-base", "--is-ancestor", one, other);

const merges = (path: string, one: string, other: string): boolean =>
  succeeds(path, "merge-tree", "--write-tree", one, other);

function succeeds(path: string, ...args: string[]): boolean {
  try {
    gitIn(path, ...args);
    return true;
  } catch {
    return false;
  }
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
