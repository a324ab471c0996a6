import { ParleyError } from "./errors.ts";
import { A2H, type Asking, read } from "./outcome.ts";
import type { GroupList, Human, HumanPage } from "./wire.ts";

/** How the server's own names for channels and groups look. */
const NAME_OF_CHANNEL = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * Returns the `channel_id` for a number, the name of a group, a person's exact name or the name of a channel. The
 * operator wrote groups down, so their names come before those of people, as they do on the server.
 *
 * @throws {ParleyError} `UNKNOWN_PERSON` where nobody or several people have the name
 */
export async function channelIdOf(connection: Asking, to: string, signal: AbortSignal | undefined): Promise<string> {
  if (/^\d+$/.test(to)) return to;
  const { groups } = await read<GroupList>(connection, `${A2H}/groups`, { signal });
  if (groups.some(({ name }) => name === to)) return to;
  const [only, ...others] = /[\p{L}\p{N}]/u.test(to)
    ? (await humansLike(connection, to, signal)).filter(({ name }) => name === to)
    : [];
  if (only && others.length === 0) return only.id;
  if (only) {
    const ids = [only, ...others].map(({ id }) => id).join(", ");
    throw new ParleyError("UNKNOWN_PERSON", `Several people are called ${to}; name one by id: ${ids}.`);
  }
  // The names of channels are the operator's secret: the server says whether there is one.
  if (NAME_OF_CHANNEL.test(to)) return to;
  throw new ParleyError("UNKNOWN_PERSON", `Nobody is called ${to}.`);
}

/** Returns everybody whose name is like this one, as the server finds names. */
export async function humansLike(connection: Asking, name: string, signal: AbortSignal | undefined): Promise<Human[]> {
  const found: Human[] = [];
  const search = `${A2H}/humans/search?limit=200&q=${encodeURIComponent(name)}`;
  for (let from = ""; ;) {
    const { humans, nextCursor } = await read<HumanPage>(connection, search + from, { signal });
    found.push(...humans);
    if (nextCursor === undefined) return found;
    from = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}
