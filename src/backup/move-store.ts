import { VERSION } from "../lib/version.ts";
import { archiveLines, type StoreSource } from "./archive-lines.ts";
import { EXPORT_WORDS } from "./model/archive-words.ts";
import { receiveArchive, type ReceiveReport } from "./receive-archive.ts";
import { openMoment } from "./store/moment.ts";
import type { Taking } from "./take-artifacts.ts";

export interface MoveReport extends ReceiveReport {
  /** Files of jobs that the source has lost, so that the target lacks them too. */
  damaged: readonly string[];
}

/** The place to which a store moves: rows alone into a database, or rows and all files into a folder. */
export type MoveTarget = { databaseUrl: string } | { dataDir: string };

/**
 * The target, which was empty, holds every row of the source, which nobody writes meanwhile and which stays as it is;
 * wherever this is killed, the target is not half there.
 *
 * @throws {Error} one sentence for the operator: a server has the source open, the target is not empty
 */
export async function moveStore(source: StoreSource, target: MoveTarget, how: Taking): Promise<MoveReport> {
  const held = await openMoment(source, { isHeld: true });
  let damaged: readonly string[] = [];
  async function* lines() {
    const report = yield* archiveLines(source, {
      ...how,
      version: VERSION,
      held,
      isRowsAlone: "databaseUrl" in target,
    });
    damaged = report.damaged;
  }
  try {
    const { databaseWaitMs } = source;
    const reading = { ...how, name: "The archive on its way", words: EXPORT_WORDS, epoch: null };
    const report = await receiveArchive(lines(), { ...target, databaseWaitMs }, reading);
    return { ...report, damaged };
  } finally {
    await held.close();
  }
}
