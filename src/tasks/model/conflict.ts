/** A conflict: the dependencies of a task do not merge. */
export interface TaskConflict {
  /** The tasks whose commits are to be merged, with each other or with the base. */
  dependencies: readonly string[];
  /** Files that git cannot merge; of very many, the first. */
  paths: readonly string[];
  /** How many more files there are. */
  morePaths?: number;
  /** A person has chosen to wait until one of the dependencies has another commit. */
  waits: boolean;
}

const MOST_KEPT = 100;
const MOST_NAMED = 5;

/** Returns a conflict that nobody has decided about yet. */
export function newConflict({ deps, paths }: { deps: readonly string[]; paths: readonly string[] }): TaskConflict {
  const more = paths.length - MOST_KEPT;
  return { dependencies: deps, paths: paths.slice(0, MOST_KEPT), ...(more > 0 && { morePaths: more }), waits: false };
}

/** Returns why a task with a conflict does not go on, and what it waits for, in one line. */
export function conflictReason({ dependencies, paths, morePaths = 0, waits }: TaskConflict): string {
  const verb = dependencies.length === 1 ? "does not merge with the base" : "do not merge";
  const clash = paths.length === 0 ? verb : `${verb} in ${named(paths, "and", morePaths)}`;
  return waits
    ? `waits for another commit of ${named(dependencies, "or")}, which ${clash}`
    : `${named(dependencies, "and")} ${clash}: a person was asked`;
}

function named(all: readonly string[], before: "and" | "or", notListed = 0): string {
  const left = Math.max(0, all.length - MOST_NAMED) + notListed;
  const shown = [...all.slice(0, MOST_NAMED), ...(left > 0 ? [`${left} more`] : [])];
  const last = shown.at(-1) ?? "";
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} ${before} ${last}`;
}
