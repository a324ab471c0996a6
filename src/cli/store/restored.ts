import { parseArgs } from "node:util";
import { putBackHeld, readHeld } from "../../backup/put-back.ts";
import type { HeldKind, HeldRows } from "../../backup/store/held-rows.ts";
import type { Config } from "../../config/config.ts";
import { openToExamine } from "../../core/store/open-store.ts";
import { systemClock } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, type Io, STORE_FLAGS } from "../command.ts";

export const RESTORED_OPTIONS = {
  ...STORE_OPTIONS,
  "keep-access": { type: "boolean" },
  send: { type: "boolean" },
} as const;

const BECAUSE: Readonly<Record<HeldKind, string>> = {
  access: "Out of force, because somebody may have revoked them since",
  messages: "Held, because they may have been sent since",
};
const FLAGS: Readonly<Record<HeldKind, string>> = { access: "--keep-access", messages: "--send" };
const KINDS = Object.keys(FLAGS) as HeldKind[];

export const restored: Command = {
  usage: "[--keep-access] [--send]",
  flags: {
    "--keep-access": "put keys, permanent permissions, learned rules and webhook endpoints back in force, all of them",
    "--send": "send the messages that are held",
    ...STORE_FLAGS,
  },
  example: "parley restored --keep-access",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: RESTORED_OPTIONS });
    const { put, held } = await withStore(values, io, async (ctx) => {
      const rows = await putBackHeld(ctx, keptKinds(values), COMMAND_LINE);
      return { put: rows, held: await readHeld(ctx.db) };
    });
    for (const { noun, names } of put) io.out(`put back: ${names.length} ${noun}`);
    for (const kind of KINDS) listKind(kind, held, io.out);
    if (put.length + held.length === 0) io.tell("No restore holds anything here.");
    return EXIT.done;
  },
};

/** Returns the kinds of rows that these flags leave or put in force. */
export function keptKinds(flags: { "keep-access"?: boolean | undefined; send?: boolean | undefined }): HeldKind[] {
  return KINDS.filter((kind) => (kind === "access" ? flags["keep-access"] : flags.send) === true);
}

/**
 * Says what a restore has ended and what it holds. At a terminal it asks once whether the rights that it holds are still
 * to be in force.
 */
export async function tellOfEpoch(
  place: { "data-dir": string | undefined; config: string | undefined },
  config: Config,
  io: Io,
): Promise<void> {
  const db = await openToExamine(config, systemClock);
  const held = await readHeld(db).finally(() => db.close());
  io.tell(
    "Every session, sign-in link, one-time link, recovery code, lease and unused approval of the backup has ended, and so have earlier decisions that the relay repeats.",
  );
  io.tell(
    "People and their addresses, the policy file and the installation key are as they were then: remove again whom you removed since, and change again what you changed.",
  );
  for (const kind of KINDS) {
    if (!listKind(kind, held, io.tell)) continue;
    if (kind === "access" && /^y(es)?$/i.test((await io.prompt?.("Put all of these in force again? [y/N] ")) ?? "")) {
      await withStore(place, io, (ctx) => putBackHeld(ctx, [kind], COMMAND_LINE));
      io.tell("They are in force.");
    } else io.tell(`Once you have looked at them: parley restored ${FLAGS[kind]} --data-dir ${config.dataDir}`);
  }
}

/** Lists the rows of a kind, and returns whether there are any. */
function listKind(kind: HeldKind, held: readonly HeldRows[], print: (line: string) => void): boolean {
  const rows = held.filter((one) => one.kind === kind);
  if (rows.length > 0) print(`${BECAUSE[kind]}:`);
  for (const { noun, names } of rows) {
    print(`  ${names.length} ${noun}`);
    for (const name of names) print(`    ${printable(name)}`);
  }
  return rows.length > 0;
}
