import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { exportStore } from "../../backup/export-store.ts";
import { loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import { STORE_OPTIONS } from "../command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS } from "../command.ts";
import { rowsLine } from "./rows-line.ts";
import { storeSource, tellOfDamaged } from "./store-source.ts";

const MEBIBYTE = 1_048_576;

export const exportCommand: Command = {
  usage: "FILE [--data-dir DIR] [--config FILE]",
  flags: STORE_FLAGS,
  example: "parley export parley-monday.jsonl",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const file = resolve(onlyArgument(positionals, "FILE"));
    const sources = { flags: { "data-dir": values["data-dir"] }, env: io.env, file: values.config };
    const report = await exportStore(file, await storeSource(loadConfig(sources), sources), {
      clock: systemClock,
      version: VERSION,
      onProgress: io.progress,
      signal: io.interrupted,
    });
    io.progress("");
    tellOfDamaged(report.damaged, "the export", io);
    const size = ((await stat(file)).size / MEBIBYTE).toFixed(1);
    const files = report.artifacts === 1 ? "1 file of a job" : `${report.artifacts} files of jobs`;
    io.out(`${file}  ${size} MiB, ${report.tables} tables, ${files}`);
    io.out(rowsLine(report));
    io.tell("It holds the installation key and all that was said: keep it as you keep the data directory.");
    return EXIT.done;
  },
};
