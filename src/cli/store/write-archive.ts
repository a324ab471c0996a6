import { resolve } from "node:path";
import { type ArchiveWords, BACKUP_WORDS, EXPORT_WORDS } from "../../backup/model/archive-words.ts";
import { writeArchive } from "../../backup/write-archive.ts";
import { loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import { sourcesOf } from "../command-config.ts";
import { command, EXIT, STORE_FLAGS } from "../command.ts";
import { rowsLine } from "./rows-line.ts";
import { storeSource, tellOfDamaged } from "./store-source.ts";

const MEBIBYTE = 1_048_576;

const writing = ({ noun }: ArchiveWords) =>
  command({
    takes: { FILE: "", ...STORE_FLAGS },
    example: `parley ${noun} parley-monday.jsonl`,
    async run({ file: path, ...place }, io) {
      const file = resolve(path);
      const sources = sourcesOf(place, io);
      const report = await writeArchive(file, await storeSource(loadConfig(sources), sources), {
        clock: systemClock,
        version: VERSION,
        onProgress: io.progress,
        signal: io.interrupted,
      });
      io.progress("");
      tellOfDamaged(report.damaged, `the ${noun}`, io);
      const size = (report.bytes / MEBIBYTE).toFixed(1);
      const files = report.artifacts === 1 ? "1 file of a job" : `${report.artifacts} files of jobs`;
      io.out(`${file}  ${size} MiB, the database up to commit ${report.commitNo}, ${report.tables} tables, ${files}`);
      io.out(rowsLine(report));
      io.tell("It holds the installation key and all that was said: keep it as you keep the data directory.");
      return EXIT.done;
    },
  });

export const backup = writing(BACKUP_WORDS);
const exporting = writing(EXPORT_WORDS);
export { exporting as export };
