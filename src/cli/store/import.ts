import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { judgeFolder } from "../../backup/fill-folder.ts";
import { importStore } from "../../backup/import-store.ts";
import { loadConfig } from "../../config/config.ts";
import { SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import { printable } from "../../lib/printable.ts";
import { VERSION } from "../../lib/version.ts";
import { tellOfArrived } from "./arrived.ts";
import { STORE_OPTIONS } from "../command-store.ts";
import { type Command, onlyArgument, STORE_FLAGS } from "../command.ts";
import { rowsLine } from "./rows-line.ts";

export const importCommand: Command = {
  usage: "FILE --data-dir DIR [--config FILE]",
  flags: { ...STORE_FLAGS, "--data-dir DIR": "the new data directory, empty or not there yet (PARLEY_DATA_DIR)" },
  example: "parley import parley-monday.jsonl --data-dir ~/parley-imported",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const path = resolve(onlyArgument(positionals, "FILE"));
    const sources = { flags: { "data-dir": values["data-dir"] }, env: io.env, file: values.config };
    const config = loadConfig(sources);
    judgeFolder(config.dataDir);
    const report = await importStore(path, config, {
      schema: SCHEMA_NUMBER,
      version: VERSION,
      onProgress: io.progress,
      signal: io.interrupted,
    });
    io.progress("");
    const { header } = report;
    const where = config.databaseUrl === undefined ? config.dataDir : `${config.dataDir} and PostgreSQL`;
    io.out(`${where}  imported as it was at ${new Date(header.madeAtMs).toISOString()}`);
    io.out(rowsLine(report));
    if (header.settingsLeftOut.length > 0) {
      io.tell(`Not in the export, so to be set again: ${printable(header.settingsLeftOut.join(", "))}.`);
    }
    const broken = "Something is broken in what was exported; it is imported as it was.";
    return tellOfArrived(loadConfig(sources), { broken, atMs: report.lastMs }, io);
  },
};
