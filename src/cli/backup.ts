import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { KEY_NAME, PROMPTS_FOLDER, SETTINGS_NAME } from "../backup/model/members.ts";
import { writeBackup, type BackupSource } from "../backup/write-backup.ts";
import { type Config, type ConfigSources, loadConfig } from "../config/config.ts";
import { settingsWithoutSecrets } from "../config/without-secrets.ts";
import { judgeFile } from "../core/store/damage.ts";
import { DATABASE_FILE, HIGHWATER_FILE, openInstallationKey, refuseUnfinished } from "../core/store/data-dir.ts";
import { readHighwater } from "../core/store/highwater.ts";
import { systemClock } from "../lib/clock.ts";
import { openContainedFiles } from "../lib/contained-files.ts";
import { openKeyring } from "../lib/keyring.ts";
import { systemRandom } from "../lib/random.ts";
import { VERSION } from "../lib/version.ts";
import { STORE_OPTIONS } from "./command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS } from "./command.ts";

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
        `parley backup: the rows are in PostgreSQL; back them up with pg_dump, and keep beside the dump the installation key ${config.keyFile}, ${join(config.dataDir, "artifacts")}, ${config.relay.policyFile} and your settings.`,
      );
      return EXIT.refused;
    }
    const report = await writeBackup(file, sourceOf(config, sources), {
      clock: systemClock,
      version: VERSION,
      onProgress: io.progress,
      signal: io.interrupted,
    });
    io.progress("");
    for (const what of report.damaged) {
      io.tell(`${what} is missing in the data directory, or is not what was kept; the backup lacks it, too.`);
    }
    const size = (report.bytes / MEBIBYTE).toFixed(1);
    const files = report.artifacts === 1 ? "1 file of a job" : `${report.artifacts} files of jobs`;
    io.out(`${file}  ${size} MiB, the database up to commit ${report.commitNo}, ${files}`);
    io.tell("It holds the installation key and all that was said: keep it as you keep the data directory.");
    return EXIT.done;
  },
};

/** @throws {Error} one sentence for the operator, when there is nothing to back up */
function sourceOf(config: Config, sources: ConfigSources): BackupSource {
  const { dataDir, keyFile, relay } = config;
  refuseUnfinished(dataDir);
  judgeFile(join(dataDir, DATABASE_FILE), readHighwater(join(dataDir, HIGHWATER_FILE)) ?? 0);
  if (!existsSync(join(dataDir, DATABASE_FILE))) throw new Error(`There is no Parley database in ${dataDir}.`);
  if (!existsSync(keyFile)) {
    throw new Error(`There is no installation key at ${keyFile}; name the one of this database with PARLEY_KEY_FILE.`);
  }
  const settings = settingsWithoutSecrets(sources);
  return {
    dataDir,
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
