import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StoreSource } from "../../backup/archive-lines.ts";
import { KEY_NAME, PROMPTS_FOLDER, SETTINGS_NAME } from "../../backup/model/members.ts";
import { type Config, type ConfigSources } from "../../config/config.ts";
import { settingsWithoutSecrets } from "../../config/without-secrets.ts";
import { judgeFile } from "../../core/store/damage.ts";
import { DATABASE_FILE, HIGHWATER_FILE, refuseUnfinished } from "../../core/store/data-dir.ts";
import { finishKeyChange, nextKeyFile, openInstallationKey } from "../../core/store/installation-key.ts";
import { readHighwater } from "../../core/store/highwater.ts";
import { openContainedFiles } from "../../lib/files/contained-files.ts";
import { openKeyring } from "../../lib/secrets/keyring.ts";
import { systemRandom } from "../../lib/random.ts";
import { withDatabase } from "../command-store.ts";
import type { Io } from "../command.ts";

/** Says which files of jobs were not there to be taken along. */
export function tellOfDamaged(damaged: readonly string[], where: string, io: Io): void {
  for (const what of damaged) {
    io.tell(`${what} is missing in the data directory, or is not what was kept; ${where} lacks it, too.`);
  }
}

/**
 * Returns the store of the settings, with what belongs to it beside its rows.
 *
 * @throws {Error} one sentence for the operator, when the store is missing
 */
export async function storeSource(config: Config, sources: ConfigSources): Promise<StoreSource> {
  const { dataDir, keyFile, relay } = config;
  refuseUnfinished(dataDir);
  const isOnSqlite = config.databaseUrl === undefined;
  if (isOnSqlite) judgeFile(join(dataDir, DATABASE_FILE), readHighwater(join(dataDir, HIGHWATER_FILE)) ?? 0);
  if (isOnSqlite && !existsSync(join(dataDir, DATABASE_FILE)))
    throw new Error(`There is no Parley database in ${dataDir}.`);
  if (!existsSync(keyFile)) {
    throw new Error(`There is no installation key at ${keyFile}; name the one of this database with PARLEY_KEY_FILE.`);
  }
  if (existsSync(nextKeyFile(keyFile))) await withDatabase(config, (db) => finishKeyChange(db, keyFile));
  const settings = settingsWithoutSecrets(sources);
  return {
    dataDir,
    databaseUrl: config.databaseUrl,
    databaseListenUrl: config.databaseListenUrl,
    databaseWaitMs: config.databaseWaitMs,
    keyFile,
    keyring: openKeyring(openInstallationKey(keyFile, systemRandom), systemRandom),
    artifacts: openContainedFiles(join(dataDir, "artifacts")),
    settingsLeftOut: settings?.leftOut ?? [],
    readBeside: () => [
      { name: KEY_NAME, bytes: readFileSync(keyFile) },
      ...(settings ? [{ name: SETTINGS_NAME, bytes: Buffer.from(settings.text) }] : []),
      ...readIfThere("policy.yaml", relay.policyFile),
      ...readIfThere("participants.json", join(dataDir, "participants.json")),
      ...promptsIn(relay.promptsDir),
    ],
  };
}

function readIfThere(name: string, path: string): { name: string; bytes: Uint8Array }[] {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? [{ name, bytes: readFileSync(path) }] : [];
}

/** Roles of the operator's own. */
function promptsIn(folder: string): { name: string; bytes: Uint8Array }[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^[^\n\r]+\.ya?ml$/.test(name));
  return names.sort().flatMap((name) => readIfThere(`${PROMPTS_FOLDER}/${name}`, join(folder, name)));
}
