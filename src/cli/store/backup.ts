import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { writeBackup } from "../../backup/write-backup.ts";
import { loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import { STORE_OPTIONS } from "../command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS } from "../command.ts";
import { storeSource, tellOfDamaged } from "./store-source.ts";

const MEBIBYTE = 1_048_576;

export const backup: Command = {
  usage: "FILE [--data-dir DIR] [--config FILE]",
  flags: STORE_FLAGS,
  example: "parley backup parley-monday.tar",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const file = resolve(onlyArgument(positionals, "FILE"));
    const sources = { flags: { "data-dir": values["data-dir"] }, env: io.env, file: values.config };
    const config = loadConfig(sources);
    if (config.databaseUrl !== undefined) {
      io.tell(
        `parley backup: the rows are in PostgreSQL; write them into one file with parley export, or back them up with pg_dump, and keep beside the dump the installation key ${config.keyFile}, ${join(config.dataDir, "artifacts")}, ${config.relay.policyFile} and your settings.`,
      );
      return EXIT.refused;
    }
    const report = await writeBackup(file, await storeSource(config, sources), {
      clock: systemClock,
      version: VERSION,
      onProgress: io.progress,
      signal: io.interrupted,
    });
    io.progress("");
    tellOfDamaged(report.damaged, "the backup", io);
    const size = (report.bytes / MEBIBYTE).toFixed(1);
    const files = report.artifacts === 1 ? "1 file of a job" : `${report.artifacts} files of jobs`;
    io.out(`${file}  ${size} MiB, the database up to commit ${report.commitNo}, ${files}`);
    io.tell("It holds the installation key and all that was said: keep it as you keep the data directory.");
    return EXIT.done;
  },
};
