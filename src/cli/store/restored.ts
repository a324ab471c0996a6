import { putBackHeld, readHeld } from "../../backup/put-back.ts";
import type { HeldKind, HeldRows } from "../../backup/store/held-rows.ts";
import type { Config } from "../../config/config.ts";
import { printable } from "../../lib/printable.ts";
import { COMMAND_LINE, withDatabase, withStore } from "../command-store.ts";
import { command, EXIT, type Io, STORE_FLAGS, type StorePlace } from "../command.ts";

const BECAUSE: Readonly<Record<HeldKind, string>> = {
  access: "Out of force, because somebody may have revoked them since",
  messages: "Held, because they may have been sent since",
};
const FLAGS: Readonly<Record<HeldKind, string>> = { access: "--keep-access", messages: "--send" };
const KINDS = Object.keys(FLAGS) as HeldKind[];

export const restored = command({
  takes: {
    "--keep-access": "put keys, permanent permissions, learned rules and webhook endpoints back in force, all of them",
    "--send": "send the messages that are held",
    ...STORE_FLAGS,
  },
  example: "parley restored --keep-access",
  async run({ keepAccess, send, ...place }, io) {
    const { put, held } = await withStore(place, io, async (ctx) => {
      const rows = await putBackHeld(ctx, keptKinds({ keepAccess, send }), COMMAND_LINE);
      return { put: rows, held: await readHeld(ctx.db) };
    });
    for (const { noun, names } of put) io.out(`put back: ${names.length} ${noun}`);
    for (const kind of KINDS) listKind(kind, held, io.out);
    if (put.length + held.length === 0) io.tell("No restore holds anything here.");
    return EXIT.done;
  },
});

/** Returns the kinds of rows that these flags leave or put in force. */
export function keptKinds(flags: { keepAccess: boolean; send: boolean }): HeldKind[] {
  return KINDS.filter((kind) => (kind === "access" ? flags.keepAccess : flags.send));
}

/**
 * Says what a restore has ended and what it holds. At a terminal it asks once whether the rights that it holds are still
 * to be in force.
 */
export async function tellOfEpoch(place: StorePlace, config: Config, io: Io): Promise<void> {
  const held = await withDatabase(config, readHeld);
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
