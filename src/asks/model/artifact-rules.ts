/** How much a job may keep (spec/relay 14). */
export const ARTIFACT_LIMITS = { fileBytes: 20 * 1_048_576, jobBytes: 200 * 1_048_576, files: 500 } as const;

const MOST_PATH_CHARS = 200;
const SEGMENT = /^[A-Za-z0-9._-]+$/;

/** Returns whether a text is the path of an artifact: relative, and nowhere but below its job. */
export function isArtifactPath(path: string): boolean {
  return (
    path.length <= MOST_PATH_CHARS &&
    path.split("/").every((segment) => SEGMENT.test(segment) && segment !== "." && segment !== "..")
  );
}

const FOLDER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const HASHED = /^h-[0-9a-f]{32}$/;

/**
 * Returns the folder of a job: its id where that is good for one, else `h-` and its hash; so is an id that looks like
 * somebody else's hash.
 */
export function artifactFolder(jobId: string, hash: (text: string) => string): string {
  return FOLDER.test(jobId) && !HASHED.test(jobId) ? jobId : `h-${hash(jobId).slice(0, 32)}`;
}
