import { writeAll } from "../lib/files/durable-files.ts";
import { archiveLines, type ArchiveHow, type ArchiveReport, type StoreSource } from "./archive-lines.ts";
import { makeNewFile } from "./make-new-file.ts";

/**
 * A new file holds the archive of the store, on disk; servers may write meanwhile. Until it is whole nothing is at
 * `target`.
 *
 * @throws {Error} one sentence for the operator; nothing is left then
 */
export function writeArchive(
  target: string,
  source: StoreSource,
  how: ArchiveHow,
): Promise<ArchiveReport & { bytes: number }> {
  return makeNewFile(target, how.signal, async (file) => {
    let report: ArchiveReport | undefined;
    async function* lines() {
      report = yield* archiveLines(source, how);
    }
    await writeAll(file, lines());
    if (!report) throw new Error("nothing was written");
    return { ...report, bytes: (await file.stat()).size };
  });
}
