import { join } from "node:path";
import { placeOf } from "../asks/keep-artifact.ts";
import { listArtifacts } from "../asks/store/artifacts.ts";
import { HIGHWATER_FILE } from "../core/store/data-dir.ts";
import { highwaterLine } from "../core/store/highwater.ts";
import { SCHEMA_NUMBER } from "../core/store/migrate.ts";
import { openDigest } from "./digest.ts";
import type { StoreSource } from "./export-store.ts";
import { fillFolder } from "./fill-folder.ts";
import { compareRows, writeFresh } from "./import-store.ts";
import { printRow } from "./model/export-lines.ts";
import { ARTIFACTS_FOLDER } from "./model/members.ts";
import { type Moment, openMoment } from "./store/moment.ts";
import { receiveOnPostgres, receiveOnSqlite, type Receiver } from "./store/receive-rows.ts";
import type { Marks } from "../core/store/store-marks.ts";
import { judgeSource } from "./store/source-facts.ts";
import { countRows, readTables } from "./store/tables.ts";
import { nameOf, readAsKept } from "./take-artifacts.ts";

interface MoveHow {
  onProgress(line: string): void;
  signal: AbortSignal;
}

export interface MoveReport extends Marks {
  rows: number;
  sha256: string;
  tables: number;
  /** Files of jobs that the source has lost, so that the target lacks them too. */
  damaged: readonly string[];
}

/** Where a store moves: rows alone into a database, or rows and all files into a folder. */
export type MoveTarget = { databaseUrl: string } | { dataDir: string };

/**
 * The target, which was empty, holds every row of the source, which nobody writes meanwhile and which stays as it is;
 * wherever this is killed, the target is not half there.
 *
 * @throws {Error} one sentence for the operator: a server has the source open, the target is not empty
 */
export async function moveStore(source: StoreSource, target: MoveTarget, how: MoveHow): Promise<MoveReport> {
  const moment = await openMoment(source, { isHeld: true });
  try {
    await judgeSource(moment, source);
    const receiving = { schema: SCHEMA_NUMBER, fill: (receiver: Receiver) => carryRows(moment, receiver, how) };
    if ("databaseUrl" in target) return await receiveOnPostgres({ ...source, ...target }, receiving);
    const { dataDir } = target;
    let report: MoveReport | undefined;
    await fillFolder(dataDir, async () => {
      for (const { name, bytes } of source.readBeside()) await writeFresh(join(dataDir, name), bytes);
      const damaged = await copyArtifacts(moment, source, { dataDir, how });
      report = { ...(await receiveOnSqlite(dataDir, receiving)), damaged };
      await writeFresh(join(dataDir, HIGHWATER_FILE), highwaterLine(report.commitNo));
    });
    if (!report) throw new Error("nothing was received");
    return report;
  } finally {
    await moment.close();
  }
}

async function carryRows(moment: Moment, receiver: Receiver, how: MoveHow): Promise<MoveReport> {
  const tables = await readTables(moment);
  const counts = Object.values(await countRows(moment, tables));
  const all = counts.reduce((sum, count) => sum + count, 0);
  const digest = openDigest();
  let rows = 0;
  for (const table of tables) {
    for await (const some of moment.rows(table)) {
      how.signal.throwIfAborted();
      digest.add(some.map((row) => printRow(table.name, row)).join(""));
      // point: move-before-rows
      await receiver.insert(table, some);
      how.onProgress(`moving rows: ${(rows += some.length)} of ${all}`);
    }
  }
  const sha256 = digest.value();
  return { ...(await compareRows(receiver, sha256, how)), rows, sha256, tables: tables.length, damaged: [] };
}

/** Files of jobs are in the new folder. Returns those that the old folder has lost, or that are not what was kept. */
async function copyArtifacts(
  moment: Moment,
  source: StoreSource,
  { dataDir, how }: { dataDir: string; how: MoveHow },
): Promise<string[]> {
  const artifacts = await listArtifacts(moment);
  const damaged: string[] = [];
  for (const [i, artifact] of artifacts.entries()) {
    how.signal.throwIfAborted();
    how.onProgress(`copying files of jobs: ${i + 1} of ${artifacts.length}`);
    const bytes = await readAsKept(source.artifacts, artifact);
    if (bytes) await writeFresh(join(dataDir, ARTIFACTS_FOLDER, ...placeOf(artifact)), bytes);
    else damaged.push(nameOf(artifact));
  }
  return damaged;
}
