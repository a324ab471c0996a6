import { knownSet } from "../facts/name-words.ts";

/** Verbs of functions that only read. */
const READS = knownSet(
  "get list read search find show view describe count lookup look fetch query grep glob ls check status preview",
  "cat stat head tail download tree",
);
/** Verbs of functions whose whole deed is their command or their SQL. */
const RUNS = knownSet(
  "run exec execute bash sh shell zsh powershell cmd command terminal console sql query statement local container",
);
export const TAKES_AWAY = knownSet(
  "delete del destroy drop purge wipe erase truncate terminate revoke shred uninstall decommission deprovision unpublish evict prune",
);
/** Removing by one of these takes more away than a mark or a row of a list where its object is grave. */
export const REMOVES = knownSet(
  "remove rm clear reset disable deactivate close cancel flush",
  "suspend ban lock shutdown stop failover restore rollback format anonymize merge detach",
);
const CHANGES = knownSet(
  "replace edit write update insert upsert create set move rename put patch post send transfer apply add append overwrite",
  "save upload publish pay refund grant merge deploy unlink",
);

/** Returns whether one of the words changes something, so that no other word makes a function one that only reads. */
export function changes(words: readonly string[]): boolean {
  return words.some((word) => TAKES_AWAY.has(word) || REMOVES.has(word) || CHANGES.has(word));
}

/** Returns whether a function only reads by its name: `find_and_delete_users` does not. */
export function isReader(words: readonly string[]): boolean {
  return READS.has(words[0] ?? "") && !changes(words);
}

/** Returns whether a function of files only reads them: its verb may stand anywhere, as in `file_read`. */
export function isFileReader(words: readonly string[]): boolean {
  return words.some((word) => READS.has(word)) && !changes(words);
}

/** Returns whether a function does no more than its command, its SQL or its files say. */
export function isRunner(words: readonly string[]): boolean {
  return isFileReader(words) || (RUNS.has(words[0] ?? "") && !changes(words));
}
