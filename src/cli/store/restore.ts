import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { openBackup } from "../../backup/open-backup.ts";
import { judgeFolder } from "../../backup/fill-folder.ts";
import { restoreBackup } from "../../backup/restore-backup.ts";
import { loadConfig } from "../../config/config.ts";
import { SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import { printable } from "../../lib/printable.ts";
import { VERSION } from "../../lib/version.ts";
import { tellOfArrived } from "./arrived.ts";
import { STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, onlyArgument } from "../command.ts";

export const restore: Command = {
  usage: "FILE --data-dir DIR",
  flags: { "--data-dir DIR": "the new data directory (PARLEY_DATA_DIR)" },
  example: "parley restore parley-monday.tar --data-dir ~/parley-restored",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { "data-dir": STORE_OPTIONS["data-dir"] },
    });
    const path = resolve(onlyArgument(positionals, "FILE"));
    const sources = { flags: { "data-dir": values["data-dir"] }, env: io.env };
    const { dataDir, databaseUrl } = loadConfig(sources);
    if (databaseUrl !== undefined) {
      io.tell(
        "parley restore: the settings name a PostgreSQL database; what pg_dump has written goes there by psql or pg_restore. Unset DATABASE_URL to restore a backup of SQLite.",
      );
      return EXIT.refused;
    }
    judgeFolder(dataDir);
    const backup = await openBackup(path, {
      schema: SCHEMA_NUMBER,
      version: VERSION,
      onProgress: io.progress,
      signal: io.interrupted,
    });
    try {
      await restoreBackup(backup, dataDir, { onProgress: io.progress, signal: io.interrupted });
    } finally {
      await backup.file.close();
    }
    io.progress("");
    const { madeAt, settingsLeftOut, schema } = backup.description;
    io.out(`${dataDir}  restored as it was at ${printable(madeAt)}`);
    if (settingsLeftOut.length > 0) {
      io.tell(`Not in the backup, so to be set again: ${printable(settingsLeftOut.join(", "))}.`);
    }
    // The doctor knows the newest schema alone; a server would bring the store up to it, too.
    if (schema < SCHEMA_NUMBER) await withStore(values, io, () => Promise.resolve());
    const broken = "Something is broken in what was backed up; it is restored as it was.";
    return await tellOfArrived(loadConfig(sources), { broken }, io);
  },
};
