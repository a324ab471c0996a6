import type { Context } from "../../context.ts";
import { NoSuchPlace, TooLong, type Received } from "../../lib/files/contained-files.ts";
import { base62 } from "../../lib/id.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { ARTIFACT_LIMITS, artifactFolder, isArtifactPath } from "../model/artifact-rules.ts";
import { Refusal } from "../../refusals.ts";
import {
  countOtherArtifacts,
  deleteArtifact,
  findArtifact,
  insertArtifact,
  type Artifact,
} from "../store/artifacts.ts";
import type { Tx } from "../../core/store/db.ts";
import { lockJob, type JobAt } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { fenced } from "./check-lease.ts";
import { holdForWriter, refuseOver, type Writer } from "./hold-job.ts";

/** A file to keep, and under which path. */
interface NewFile {
  path: string;
  source: AsyncIterable<Uint8Array>;
}

/** Holds the job for whoever may write its files; refuses everybody else. */
type Hold = (tx: Tx) => Promise<JobAt>;

/**
 * Stores the bytes of `source` under a path of the job's present epoch. They replace an earlier file of the same epoch
 * at that path. The row is written only once the file is on disk.
 *
 * Files of one job are stored one after another, so that a row always describes its own file. When a file is replaced,
 * its row is deleted first: a reader at that moment finds nothing.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`, `job_closed`, `invalid_input` for a bad path,
 *   `body_too_large`
 */
export async function keepArtifact(ctx: Context, id: string, by: Writer, file: NewFile): Promise<Artifact> {
  return keepHeld(ctx, id, (tx) => holdForWriter(ctx, tx, id, by), file);
}

/**
 * As `keepArtifact`, for what a model writes while it answers an ask of the job: no lease is shown, and the job must
 * still be in the epoch of the ask.
 *
 * @throws {Refusal} as `keepArtifact`
 */
export async function keepArtifactOfAsk(
  ctx: Context,
  { jobId, epoch }: { jobId: string; epoch: number },
  file: NewFile,
): Promise<Artifact> {
  return keepHeld(
    ctx,
    jobId,
    async (tx) => {
      const held = await lockJob(tx, jobId);
      if (!held) throw new Refusal("job_not_found");
      if (held.job.epoch !== epoch) throw fenced(held);
      return held;
    },
    file,
  );
}

async function keepHeld(ctx: Context, id: string, hold: Hold, { path, source }: NewFile): Promise<Artifact> {
  if (!isArtifactPath(path)) throw badPath("format");
  await transact(ctx, async (tx) => refuseOver(await hold(tx)));
  const received = await receive(ctx, source);
  try {
    return await ctx.artifacts.inTurn(id, () => keep(ctx, id, hold, { path, received }));
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
  hold: Hold,
  { path, received }: { path: string; received: Received },
): Promise<Artifact> {
  const { size, sha256 } = received;
  const { artifact, isThere } = await transact(ctx, async (tx) => {
    const held = await hold(tx);
    refuseOver(held);
    const { epoch } = held.job;
    const own: Artifact = { jobId: id, epoch, path, size, sha256 };
    const { files, bytes } = await countOtherArtifacts(tx, own);
    if (files >= ARTIFACT_LIMITS.files) throw tooMuch({ max_files: ARTIFACT_LIMITS.files });
    if (bytes + size > ARTIFACT_LIMITS.jobBytes) throw tooMuch({ max_job_bytes: ARTIFACT_LIMITS.jobBytes });
    const existing = await findArtifact(tx, id, path);
    const isSame = existing?.epoch === epoch && existing.sha256 === sha256;
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
      refuseOver(await hold(tx));
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
