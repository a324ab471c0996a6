import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { sql } from "../../core/store/sql.ts";

/** A file that a job's holder left under one fencing number. */
export interface Artifact {
  jobId: string;
  epoch: number;
  path: string;
  size: number;
  sha256: string;
}

const artifactRows = rowsOf<Artifact>()({
  jobId: "job_id",
  epoch: "epoch",
  path: "path",
  size: "size",
  sha256: "sha256",
});

/** Returns what the latest holder who left anything at a path left there. */
export async function findArtifact(on: Queryable, jobId: string, path: string): Promise<Artifact | undefined> {
  return artifactRows.first(
    on,
    sql`SELECT job_id, epoch, path, size, sha256 FROM artifacts WHERE job_id = ${jobId} AND path = ${path}
      ORDER BY epoch DESC LIMIT 1`,
  );
}

/** Returns how many files a job has, and how long they are, without the one at a path of an epoch. */
export async function countOtherArtifacts(
  on: Queryable,
  { jobId, epoch, path }: Pick<Artifact, "jobId" | "epoch" | "path">,
): Promise<{ files: number; bytes: number }> {
  return one(
    on,
    sql`SELECT count(*) AS files, CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM artifacts
      WHERE job_id = ${jobId} AND NOT (epoch = ${epoch} AND path = ${path})`,
  );
}

export async function insertArtifact(tx: Tx, artifact: Artifact): Promise<void> {
  const { jobId, epoch, path, size, sha256 } = artifact;
  await tx.all(
    sql`INSERT INTO artifacts (job_id, epoch, path, size, sha256, at)
      VALUES (${jobId}, ${epoch}, ${path}, ${size}, ${sha256}, parley_now())`,
  );
}

export async function deleteArtifact(
  tx: Tx,
  { jobId, epoch, path }: Pick<Artifact, "jobId" | "epoch" | "path">,
): Promise<void> {
  await tx.all(sql`DELETE FROM artifacts WHERE job_id = ${jobId} AND epoch = ${epoch} AND path = ${path}`);
}

/** Returns all of them. */
export async function listArtifacts(on: Queryable): Promise<Artifact[]> {
  return artifactRows.all(
    on,
    sql`SELECT job_id, epoch, path, size, sha256 FROM artifacts ORDER BY job_id, epoch, path`,
  );
}
