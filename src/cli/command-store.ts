import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { systemClock } from "../lib/clock.ts";
import { idMaker } from "../lib/id.ts";
import { systemRandom } from "../lib/random.ts";
import { systemUser } from "../lib/system-user.ts";
import type { Actor } from "../core/store/audit.ts";
import type { Db } from "../core/store/db.ts";
import { openStore, openToExamine } from "../core/store/open-store.ts";
import { configOf } from "./command-config.ts";
import type { Io, StorePlace } from "./command.ts";

/** The actor at the command line, as the record names it: the name of the system user who can open the store. */
export const COMMAND_LINE: Actor = { kind: "server", id: `cli:${systemUser()}` };

export type CommandContext = Pick<Context, "db" | "wake" | "keyring" | "random" | "newId">;

/**
 * Runs `work` on the store of the settings, beside a server that may be running on it. Only a command that `mayBegin` a
 * store makes one; every other refuses a folder without one, which may be mistyped.
 *
 * @throws {Error} one sentence for the operator
 */
export async function withStore<T>(
  place: StorePlace,
  io: Io,
  work: (ctx: CommandContext, config: Config) => Promise<T>,
  { mayBegin = false }: { mayBegin?: boolean } = {},
): Promise<T> {
  const config = configOf(place, io);
  const store = await openStore(config, {
    clock: systemClock,
    random: systemRandom,
    log: { warn: (_details, message) => io.tell(message) },
    exclusive: false,
    mayBegin,
    onFatal: (error) => {
      throw error;
    },
  });
  try {
    for (const note of store.notes) io.tell(note);
    return await work(
      { ...store, random: systemRandom, newId: idMaker(systemRandom, () => systemClock.now()) },
      config,
    );
  } finally {
    await store.close();
  }
}

/** Runs `work` on the database of the settings as it is, which nothing changes. */
export async function withDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openToExamine(config, systemClock);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
