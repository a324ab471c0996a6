import { resolve } from "node:path";
import { type KeyChange, readDependents, rotateInstallationKey } from "../../key-rotation/rotate-key.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemRandom } from "../../lib/random.ts";
import { configOf } from "../command-config.ts";
import { COMMAND_LINE, withDatabase } from "../command-store.ts";
import { command, EXIT, type Io, STORE_FLAGS } from "../command.ts";

export const keysRotateInstallation = command({
  takes: {
    "--dry-run": "say what would end with the old key, beside servers that may run, and change nothing",
    "--into FILE": "write the new key into this new file and leave the key file as it is, such as where it is mounted",
    ...STORE_FLAGS,
  },
  example: "parley keys rotate-installation --dry-run",
  async run({ dryRun, into: named, ...flags }, io) {
    const config = configOf(flags, io);
    const { keyFile } = config;
    if (dryRun) {
      const dependents = await withDatabase(config, (db) => readDependents(db, keyFile));
      io.out(`Nothing is changed yet. The installation key in ${keyFile} would become a new one.`);
      tellOfEnds(dependents, io);
      io.tell("Stop every server of this store first, and start them again afterwards.");
      return EXIT.done;
    }
    const into = named === undefined ? undefined : resolve(named);
    const place = { ...config, into };
    const change = await rotateInstallationKey(place, { by: COMMAND_LINE, clock: systemClock, random: systemRandom });
    io.out(`The store has a new installation key, in ${into ?? keyFile}; ${change.sealed} secrets are sealed with it.`);
    tellOfEnds(change, io);
    tellOfServers({ isOnPostgres: config.databaseUrl !== undefined, keyFile, into }, io);
    return EXIT.done;
  },
});

function tellOfEnds(
  { messages, decisions, participants }: Pick<KeyChange, "messages" | "decisions" | "participants">,
  io: Pick<Io, "tell">,
): void {
  for (const line of [
    "What ends with the old key:",
    `  links, codes and reply addresses in messages that were sent, of which ${messages} are about open requests: people find these in their inbox, and later messages have new ones`,
    `  the cookies by which people of the crowd without an account are known (${participants}): they count as new, unless they have a recovery code`,
    `  cursors of lists, and earlier decisions that the relay repeats (${decisions}): they are asked anew`,
    "  telling from which address an earlier decision came: the record and receipts keep that under the old key",
    "What stays good: keys, sessions, sign-in links, leases, webhooks, push subscriptions, and receipts, whose later ones a new key signs.",
    "Whoever had the database, too, knows the secrets of webhooks and the tokens of Slack: make new ones.",
  ])
    io.tell(line);
}

function tellOfServers(
  { isOnPostgres, keyFile, into }: { isOnPostgres: boolean; keyFile: string; into: string | undefined },
  io: Pick<Io, "tell">,
): void {
  if (into !== undefined)
    io.tell(`Name ${into} with PARLEY_KEY_FILE from now on; ${keyFile} opens this store no more.`);
  if (isOnPostgres) io.tell("Put the new key in the key file of every other server of this database, and start them.");
  else io.tell("Start the server again: parley serve.");
  io.tell("Backups and exports from before hold the old key, and are restored with it.");
}
