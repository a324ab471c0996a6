import type { FileHandle } from "node:fs/promises";
import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { listAttempts } from "./store/attempts.ts";
import { openArtifact } from "../asks/jobs/read-artifact.ts";

/** Where a worker leaves its commits, and its work as a patch, among the files of the attempt's job. */
const BUNDLE_FILE = "work.bundle";
const PATCH_FILE = "work.patch";

/**
 * Opens a file that a worker uploaded with a task's newest finished work, by default its bundle; the caller closes it.
 *
 * @throws {Refusal} `artifact_not_found`
 */
export async function openBundle(
  ctx: Context,
  repo: string,
  id: string,
  path = BUNDLE_FILE,
): Promise<{ file: FileHandle }> {
  const attempts = await listAttempts(ctx.db, repo, id);
  const finished = attempts.findLast(({ commitSha }) => commitSha !== null);
  if (!finished) throw new Refusal("artifact_not_found");
  return openArtifact(ctx, finished.jobId, { principal: "", isAdmin: true }, path);
}

/** Returns the work that a worker elsewhere did, as the patch it left. @throws {Refusal} `artifact_not_found` */
export async function readPatch(ctx: Context, repo: string, id: string): Promise<string> {
  const { file } = await openBundle(ctx, repo, id, PATCH_FILE);
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
