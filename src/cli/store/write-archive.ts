import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type ArchiveWords, BACKUP_WORDS, EXPORT_WORDS } from "../../backup/model/archive-words.ts";
import { writeArchive } from "../../backup/write-archive.ts";
import { loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import { STORE_OPTIONS } from "../command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS } from "../command.ts";
import { rowsLine } from "./rows-line.ts";
import { storeSource, tellOfDamaged } from "./store-source.ts";

const MEBIBYTE = 1_048_576;

const writing = ({ noun }: ArchiveWords): Command => ({
  usage: "FILE [--data-dir DIR] [--config FILE]",
  flags: STORE_FLAGS,
  example: `parley ${noun} parley-monday.jsonl`,
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const file = resolve(onlyArgument(positionals, "FILE"));
    const sources = { flags: { "data-dir": values["data-dir"] }, env: io.env, file: values.config };
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
export const exportCommand = writing(EXPORT_WORDS);
