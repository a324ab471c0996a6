import type { RepoName } from "./run-site.ts";

/** A task as it is submitted again and again; what it depends on stays the same. */
export interface Card {
  repo: RepoName;
  id: string;
  dependencies: readonly string[];
  agent: "shell" | "claude";
  /** Whether it writes into a file that others write into, too. */
  shares: boolean;
  /** When those that depend on it may start. */
  startDependentsOn: "completed" | "approved";
}

/** Numbers between 0 and 1 that a seed repeats. */
export type Random = () => number;

export const below = (random: Random, count: number): number => Math.floor(random() * count);

export function pick<T>(random: Random, list: readonly T[]): T {
  const one = list[below(random, list.length)];
  if (one === undefined) throw new Error("there is nothing to pick from");
  return one;
}

/** How tasks of a graph depend on those before them: hardly, one after another, in the manner of a diamond, on many. */
const SHAPES = [
  { most: 1, often: 0.3 },
  { most: 1, often: 0.9 },
  { most: 2, often: 0.8 },
  { most: 3, often: 0.6 },
] as const;

/** Returns tasks of one repository in a graph of random shape, in which each depends on earlier ones only. */
export function drawCards(repo: RepoName, count: number, random: Random): Card[] {
  const shape = pick(random, SHAPES);
  const cards: Card[] = [];
  for (let i = 0; i < count; i += 1) {
    const wanted = i > 0 && random() < shape.often ? 1 + below(random, shape.most) : 0;
    const dependencies = [...new Set(Array.from({ length: wanted }, () => pick(random, cards).id))];
    // An agent that joins several branches may have to resolve a conflict, which is easier to write in shell.
    const agent = dependencies.length < 2 && random() < 0.4 ? "claude" : "shell";
    const startDependentsOn = random() < 0.25 ? "approved" : "completed";
    cards.push({
      repo,
      id: `${repo}-${i}`,
      dependencies,
      agent,
      startDependentsOn,
      shares: agent === "shell" && random() < 0.25,
    });
  }
  return cards;
}

/** Returns the token that identifies a submission of a task in its prompt, its file and its commit. */
export const tokenIn = (text: string): string | undefined => /\bsubmission-\d+-\d+/.exec(text)?.[0];

/**
 * Returns a prompt that tells a pretend agent what to do: it writes the token into the task's file, some ask before, some
 * take their time, leave something running, or fail.
 */
export function promptOf(
  { id, agent, shares, dependencies }: Card,
  token: string,
  { noteFile, random, gentle }: { noteFile: string; random: Random; gentle: boolean },
): string {
  const head = `Do ${id} (${token})`;
  if (agent === "claude") {
    const steps = [
      { touch: `${id}.txt`, text: `${token}\n` },
      ...(random() < 0.3 ? [{ ask: `Which colour for ${token}?`, options: ["Red", "Blue"] }] : []),
      { run: `echo "allowed ${id} $PARLEY_ATTEMPT ${token}" >> ${noteFile}` },
      { say: "Done." },
    ];
    return `${head}\nFAKE ${JSON.stringify(steps)}`;
  }
  const seconds = (random() * (gentle ? 0.5 : 2.5)).toFixed(1);
  const stray = random() < 0.3 ? ["setsid sleep 600 > /dev/null 2>&1 &"] : [];
  const fails = !gentle && random() < 0.1 ? ["exit 3"] : [];
  const shared = shares ? [`echo ${token} > shared.txt`] : [];
  // A task that joins several branches may find markers of a conflict between these.
  const resolved =
    dependencies.length > 1 ? [`for file in $(grep -l '^<<<<<<< ' *.txt); do echo ${token} > "$file"; done`] : [];
  const lines = [...resolved, `echo ${token} > ${id}.txt`, ...shared, ...stray, `sleep ${seconds}`, ...fails, "true"];
  return [head, "RUN", ...lines, "END"].join("\n");
}
