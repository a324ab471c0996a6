import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { KEY_NAME } from "../backup/model/members.ts";
import { openBackup } from "../backup/open-backup.ts";
import { judgeFolder, restoreBackup } from "../backup/restore-backup.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { judgeClock, readClockMark } from "../core/store/check-clock.ts";
import { SCHEMA_NUMBER } from "../core/store/migrate.ts";
import { openToExamine } from "../core/store/open-store.ts";
import { type ClockMark, openStoreClock } from "../core/store/store-clock.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { printable } from "../lib/printable.ts";
import { VERSION } from "../lib/version.ts";
import { STORE_OPTIONS, withStore } from "./command-store.ts";
import { type Command, EXIT, type Io, onlyArgument } from "./command.ts";
import { isSound, lookInside, tellReport } from "./doctor.ts";

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
    return await tellOfRestored(loadConfig(sources), io);
  },
};

/** Says whether what was restored is sound, and how a server starts on it. Returns the exit code. */
async function tellOfRestored(config: Config, io: Io): Promise<number> {
  tellOfKey(config, io);
  const mark = await markOf(config);
  // As it was when it was backed up: what was open then has not passed its deadline.
  const then: Clock = { ...systemClock, boot: null, now: () => mark.lastMs };
  const report = await lookInside(config, { quick: false, clock: then }, io);
  tellReport(report, "Something is broken in what was backed up; it is restored as it was.", io);
  const flag = tellOfClock(mark, io) ? "" : " --accept-clock";
  io.out(`Start it with: parley serve --data-dir ${quoted(config.dataDir)}${flag}`);
  return isSound(report) ? EXIT.done : EXIT.refused;
}

async function markOf(config: Config): Promise<ClockMark> {
  const db = await openToExamine(config, systemClock);
  try {
    return (await readClockMark(db)) ?? { boot: null, zeroMs: 0, lastMs: 0 };
  } finally {
    await db.close();
  }
}

/** A server that finds another key than this database's does not start. */
function tellOfKey({ dataDir, keyFile }: Config, io: Io): void {
  const own = join(dataDir, KEY_NAME);
  if (keyFile === own) return;
  if (existsSync(keyFile) && readFileSync(keyFile, "utf8").trim() === readFileSync(own, "utf8").trim()) return;
  io.tell(
    `The settings name ${keyFile} as key file, which is not this store's installation key: unset PARLEY_KEY_FILE, or copy ${own} there.`,
  );
}

/** Says what keeps the clock of the store from going on by this machine's, and returns whether nothing does. */
function tellOfClock(mark: ClockMark, io: Io): boolean {
  try {
    if (!openStoreClock(systemClock).goOnFrom(mark)) judgeClock(systemClock.now(), mark.lastMs);
    return true;
  } catch (error) {
    io.tell((error as Error).message);
    return false;
  }
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
