import { resolve } from "node:path";
import { judgeFolder } from "../../backup/fill-folder.ts";
import { type MoveTarget, moveStore } from "../../backup/move-store.ts";
import { type Config, type ConfigSources, loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { tellOfArrived } from "./arrived.ts";
import { WrongUsage } from "../arguments.ts";
import { sourcesOf } from "../command-config.ts";
import { command, type Io, STORE_FLAGS } from "../command.ts";
import { rowsLine } from "./rows-line.ts";
import { storeSource, tellOfDamaged } from "./store-source.ts";

/** They say where the present store is, and say nothing of one in a folder of its own. */
const PLACES = [
  ...["DATABASE_URL", "DATABASE_LISTEN_URL"].flatMap((name) =>
    [name, `PARLEY_${name}`].flatMap((variable) => [variable, `${variable}_FILE`]),
  ),
  "PARLEY_KEY_FILE",
  "PARLEY_CONFIG",
  "PARLEY_RELAY_POLICY_FILE",
  "PARLEY_RELAY_PROMPTS_DIR",
];

export const move = command({
  takes: {
    "--to ADDRESS": {
      help: "an empty PostgreSQL database, or a folder that is empty or not there yet; else PARLEY_MOVE_TO, which no list of processes shows",
      read: targetFrom,
      env: "PARLEY_MOVE_TO",
      required: true,
    },
    ...STORE_FLAGS,
  },
  example: "parley move --to postgres://parley@db.internal/parley",
  async run({ to: target, ...place }, io) {
    const sources = sourcesOf(place, io);
    const config = loadConfig(sources);
    if ("dataDir" in target) judgeFolder(target.dataDir);
    const report = await moveStore(await storeSource(config, sources), target, {
      clock: systemClock,
      onProgress: io.progress,
      signal: io.interrupted,
    });
    io.progress("");
    tellOfDamaged(report.damaged, "the new one", io);
    const arrived = configOf(target, sources);
    io.out(`moved ${report.tables} tables to ${"dataDir" in target ? target.dataDir : "PostgreSQL"}`);
    io.out(rowsLine(report));
    tellOfSource(config, io);
    const broken = "Something is broken in what was moved; it is as it was.";
    return tellOfArrived(arrived, { broken, atMs: report.lastMs }, io);
  },
});

function targetFrom(to: string): MoveTarget {
  if (to === "") throw new WrongUsage("--to is missing");
  if (!/^postgres(ql)?:/.test(to)) return { dataDir: resolve(to) };
  // The error does not quote the address: it may contain a password.
  if (!URL.canParse(to)) throw new WrongUsage("--to must be an address such as postgres://parley@db.internal/parley");
  return { databaseUrl: to };
}

function configOf(target: MoveTarget, { flags, env, file }: ConfigSources): Config {
  if ("databaseUrl" in target) {
    const there = { PARLEY_DATABASE_URL: target.databaseUrl, PARLEY_DATABASE_LISTEN_URL: target.databaseUrl };
    return loadConfig({ flags, env: { ...env, ...there }, file });
  }
  const left = Object.entries(env).filter(([name]) => !PLACES.includes(name));
  return loadConfig({ flags: { "data-dir": target.dataDir }, env: Object.fromEntries(left) });
}

function tellOfSource({ databaseUrl, dataDir }: Config, io: Io): void {
  const where = databaseUrl === undefined ? `the database in ${dataDir}` : "the PostgreSQL database";
  io.tell(`Nothing was changed in ${where}. Start no server on it any more, and delete it when all is well.`);
}
