import type { FileHandle } from "node:fs/promises";
import type { Context } from "../../context.ts";
import { NoSuchPlace } from "../../lib/files/contained-files.ts";
import { isArtifactPath } from "../model/artifact-rules.ts";
import { Refusal } from "../../refusals.ts";
import { findArtifact, type Artifact } from "../store/artifacts.ts";
import { placeOf } from "./keep-artifact.ts";
import { readJob, type JobReader } from "./read-job.ts";

/**
 * Opens what a job's latest holder left at a path; whoever reads it closes it.
 *
 * @throws {Refusal} `job_not_found` also for somebody else's, `feature_disabled`, `artifact_not_found`
 */
export async function openArtifact(
  ctx: Context,
  id: string,
  reader: JobReader,
  path: string,
): Promise<{ artifact: Artifact; file: FileHandle }> {
  await readJob(ctx, id, reader);
  const artifact = isArtifactPath(path) ? await findArtifact(ctx.db, id, path) : undefined;
  if (!artifact) throw new Refusal("artifact_not_found");
  try {
    const { file, size } = await ctx.artifacts.open(placeOf(artifact));
    if (size === artifact.size) return { artifact, file };
    await file.close();
  } catch (error) {
    if (!(error instanceof NoSuchPlace)) throw error;
  }
  // Somebody has been at the folder; what is there is not what was kept.
  ctx.log.error({ jobId: id, epoch: artifact.epoch }, "a file of a job is not as it was kept");
  throw new Refusal("artifact_not_found");
}
