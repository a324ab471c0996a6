import type { Context } from "../context.ts";
import { NoSuchPlace, TooLong, type Received } from "../lib/contained-files.ts";
import { base62 } from "../lib/id.ts";
import { sha256Hex } from "../lib/keyring.ts";
import { ARTIFACT_LIMITS, artifactFolder, isArtifactPath } from "../model/artifact-rules.ts";
import { Refusal } from "../refusals.ts";
import {
  countOtherArtifacts,
  deleteArtifact,
  findArtifact,
  insertArtifact,
  type Artifact,
} from "../store/artifacts.ts";
import { transact } from "../store/transact.ts";
import { holdForWriter, refuseOver, type Writer } from "./hold-job.ts";

/**
 * What comes from `source` is kept under a path of the job's present epoch, in the place of what the same epoch left
 * there before. Its row says so only once the file is on disk.
 *
 * Files of one job find their places one after another, so that no row ever tells of another file than its own. Of one
 * that is replaced the row goes first: who reads it at that moment finds nothing.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`, `job_closed`, `invalid_input` for a bad path,
 *   `body_too_large`
 */
export async function keepArtifact(
  ctx: Context,
  id: string,
  by: Writer,
  file: { path: string; source: AsyncIterable<Uint8Array> },
): Promise<Artifact> {
  const { path, source } = file;
  if (!isArtifactPath(path)) throw badPath("format");
  await transact(ctx, async (tx) => refuseOver(await holdForWriter(ctx, tx, id, by)));
  const received = await receive(ctx, source);
  try {
    return await ctx.artifacts.inTurn(id, () => keep(ctx, id, by, { path, received }));
  } catch (error) {
    await ctx.artifacts.discard(received);
    throw error instanceof NoSuchPlace ? badPath("taken") : error;
  }
}

async function receive(ctx: Context, source: AsyncIterable<Uint8Array>): Promise<Received> {
  try {
    return await ctx.artifacts.receive(base62(ctx.random, 22), source, ARTIFACT_LIMITS.fileBytes);
  } catch (error) {
    throw error instanceof TooLong ? tooMuch({ max_bytes: ARTIFACT_LIMITS.fileBytes }) : error;
  }
}

async function keep(
  ctx: Context,
  id: string,
  by: Writer,
  { path, received }: { path: string; received: Received },
): Promise<Artifact> {
  const { size, sha256 } = received;
  const { artifact, isThere } = await transact(ctx, async (tx) => {
    const held = await holdForWriter(ctx, tx, id, by);
    refuseOver(held);
    const { epoch } = held.job;
    const own: Artifact = { jobId: id, epoch, path, size, sha256 };
    const { files, bytes } = await countOtherArtifacts(tx, own);
    if (files >= ARTIFACT_LIMITS.files) throw tooMuch({ max_files: ARTIFACT_LIMITS.files });
    if (bytes + size > ARTIFACT_LIMITS.jobBytes) throw tooMuch({ max_job_bytes: ARTIFACT_LIMITS.jobBytes });
    const standing = await findArtifact(tx, id, path);
    const isSame = standing?.epoch === epoch && standing.sha256 === sha256;
    if (!isSame) await deleteArtifact(tx, own);
    return { artifact: own, isThere: isSame };
  });
  if (isThere) {
    await ctx.artifacts.discard(received);
    return artifact;
  }
  const place = placeOf(artifact);
  // point: artifact-before-place
  await ctx.artifacts.place(received, place);
  // point: artifact-before-row
  try {
    await transact(ctx, async (tx) => {
      const held = await holdForWriter(ctx, tx, id, by);
      refuseOver(held);
      await insertArtifact(tx, artifact);
    });
  } catch (error) {
    await ctx.artifacts.remove(place);
    throw error;
  }
  return artifact;
}

/** Returns where an artifact is below the folder of all. */
export function placeOf({ jobId, epoch, path }: Pick<Artifact, "jobId" | "epoch" | "path">): string[] {
  return [artifactFolder(jobId, sha256Hex), String(epoch), ...path.split("/")];
}

function badPath(constraint: "format" | "taken"): Refusal {
  return new Refusal("invalid_input", { field: "path", constraint });
}

function tooMuch(details: Record<string, number>): Refusal {
  return new Refusal("body_too_large", details);
}
