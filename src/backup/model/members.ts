/** The members of a backup and their names: those of a data directory, and two of its own. */

/** Says what the file is; its first member. */
export const DESCRIPTION = "backup.json";
/** The digest of every other member that counts, as `sha256sum --check` reads them; its last member. */
export const SUMS = "SHA256SUMS";
export const KEY_NAME = "installation.key";
export const SETTINGS_NAME = "parley.yaml";
export const ARTIFACTS_FOLDER = "artifacts";
export const PROMPTS_FOLDER = "prompts";

/** The number of this form of backup; a program restores its own and older ones. */
export const FORMAT = 1;
const KIND = "parley-backup";

const PLAIN_NAMES = ["parley.db", "highwater", KEY_NAME, SETTINGS_NAME, "policy.yaml", "participants.json"];
/** Without these there is nothing to start from. */
const NEEDED = ["parley.db", "highwater", KEY_NAME];

/** The names that a restore can put into a folder. */
export const RESTORED_NAMES: readonly string[] = [...PLAIN_NAMES, ARTIFACTS_FOLDER, PROMPTS_FOLDER];

export interface Description {
  format: number;
  /** The version of the program that made it. */
  parley: string;
  /** The schema of the database in it. */
  schema: number;
  madeAt: string;
  /** Settings that stood in the settings file and are not in the backup's, such as secrets. */
  settingsLeftOut: readonly string[];
}

/** Returns null for what describes no backup. */
export function readDescription(text: string): Description | null {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
  const { kind, format, parley, schema, made_at: madeAt, settings_left_out: leftOut } = fields;
  if (kind !== KIND || typeof format !== "number" || typeof parley !== "string" || typeof schema !== "number") {
    return null;
  }
  return {
    format,
    parley,
    schema,
    madeAt: String(madeAt),
    settingsLeftOut: Array.isArray(leftOut) ? leftOut.map(String) : [],
  };
}

/** Returns null where a line says something else. */
export function readSums(text: string): Map<string, string> | null {
  const sums = new Map<string, string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (digest === undefined || name === undefined) return null;
    sums.set(name, digest);
  }
  return sums;
}

/** Returns what keeps these members from being a backup, or null. */
export function missingFrom(names: ReadonlySet<string>): string | null {
  const missing = NEEDED.find((name) => !names.has(name));
  return missing === undefined ? null : `${missing} is missing`;
}

/** Returns whether a member of this name may be written into a data directory: nothing leads out of it. */
export function isRestored(name: string): boolean {
  if (PLAIN_NAMES.includes(name)) return true;
  const [folder, ...steps] = name.split("/");
  const isFolder = folder === ARTIFACTS_FOLDER || folder === PROMPTS_FOLDER;
  return isFolder && steps.length > 0 && steps.every((step) => !["", ".", ".."].includes(step) && !step.includes("\0"));
}
