import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FILE_MODE, FOLDER_MODE } from "../core/store/data-dir.ts";
import { makeFolder } from "../lib/files/durable-files.ts";
import { bytesOf, writeAll } from "../lib/files/tar.ts";
import { fillFolder } from "./fill-folder.ts";
import type { OpenBackup } from "./open-backup.ts";

/**
 * The folder holds what was backed up, on disk, or is as it was (`fillFolder`).
 *
 * @throws {Error} one sentence for the operator
 */
export function restoreBackup(
  backup: OpenBackup,
  dataDir: string,
  how: { onProgress(line: string): void; signal: AbortSignal },
): Promise<void> {
  return fillFolder(dataDir, () => writeMembers(backup, dataDir, how));
}

async function writeMembers(
  { file, members, bytes }: OpenBackup,
  dataDir: string,
  { onProgress, signal }: { onProgress(line: string): void; signal: AbortSignal },
): Promise<void> {
  let done = 0;
  for (const [name, member] of members) {
    // point: restore-before-member
    const path = join(dataDir, name);
    makeFolder(dirname(path), FOLDER_MODE);
    const out = await open(path, "wx", FILE_MODE);
    try {
      const hash = createHash("sha256");
      for await (const chunk of bytesOf(file, member)) {
        signal.throwIfAborted();
        hash.update(chunk);
        await writeAll(out, chunk);
        done += chunk.length;
        onProgress(`restoring: ${Math.floor((100 * done) / bytes)} %`);
      }
      if (hash.digest("hex") !== member.sha256) throw new Error(`${name} of the backup changed while it was read.`);
    } finally {
      await out.close();
    }
  }
}
