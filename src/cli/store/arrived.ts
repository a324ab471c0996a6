import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KEY_NAME } from "../../backup/model/members.ts";
import type { Config } from "../../config/config.ts";
import { judgeClock, readClockMark } from "../../core/store/clock/check-clock.ts";
import { type ClockMark, openStoreClock } from "../../core/store/clock/store-clock.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { withDatabase } from "../command-store.ts";
import { EXIT, type Io } from "../command.ts";
import { isSound, lookInside, tellReport } from "../doctor/doctor.ts";

/**
 * Says whether a store that was restored, imported or moved is sound, and how a server starts on it. Returns the exit
 * code.
 *
 * @param atMs when it was as it is: what was open then has not passed its deadline
 */
export async function tellOfArrived(
  config: Config,
  { broken, atMs }: { broken: string; atMs: number },
  io: Io,
): Promise<number> {
  tellOfKey(config, io);
  const isOnSqlite = config.databaseUrl === undefined;
  const mark = isOnSqlite ? await markOf(config) : UNKNOWN;
  const then: Clock = { ...systemClock, boot: null, now: () => atMs };
  const report = await lookInside(config, { quick: false, clock: then }, io);
  tellReport(report, broken, io);
  const flag = !isOnSqlite || tellOfClock(mark, io) ? "" : " --accept-clock";
  const database = isOnSqlite ? "" : ", with DATABASE_URL as it was given here";
  io.out(`Start it with: parley serve --data-dir ${quoted(config.dataDir)}${flag}${database}`);
  return isSound(report) ? EXIT.done : EXIT.refused;
}

const UNKNOWN: ClockMark = { boot: null, zeroMs: 0, lastMs: 0 };

const markOf = (config: Config): Promise<ClockMark> =>
  withDatabase(config, async (db) => (await readClockMark(db)) ?? UNKNOWN);

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
