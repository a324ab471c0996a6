/** The env of whatever agents at assigned work want, for policy. */
export const ATTEMPT_ENV = "agent";

const ATTEMPT_KIND = "aa/";

/** Returns the kind of the jobs that attempts in a repository are. No request can name it: a slash is in no kind there. */
export function attemptKind(repo: string): string {
  return `${ATTEMPT_KIND}${repo}`;
}

/** Returns the repository of a job that is an attempt; null for any other job. */
export function repoOfKind(kind: string | undefined): string | null {
  return kind?.startsWith(ATTEMPT_KIND) === true ? kind.slice(ATTEMPT_KIND.length) : null;
}
