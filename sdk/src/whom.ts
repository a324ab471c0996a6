import { ParleyError } from "./errors.ts";
import type { Connection } from "./http.ts";
import { A2H, read } from "./outcome.ts";
import type { Human } from "./wire.ts";

/** How the server's own names for channels and groups look. */
const NAME_OF_CHANNEL = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * Returns the `channel_id` for a number, the name of a group, a person's exact name or the name of a channel. The
 * operator wrote groups down, so their names come before those of people, as they do on the server.
 *
 * @throws {ParleyError} `UNKNOWN_PERSON` where nobody or several people have the name
 */
export async function channelIdOf(
  connection: Connection,
  to: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (/^\d+$/.test(to)) return to;
  const { groups } = await read<{ groups: { name: string }[] }>(connection, `${A2H}/groups`, { signal });
  if (groups.some(({ name }) => name === to)) return to;
  const [only, ...others] = /[\p{L}\p{N}]/u.test(to) ? await humansCalled(connection, to, signal) : [];
  if (only && others.length === 0) return only.id;
  if (only) {
    const ids = [only, ...others].map(({ id }) => id).join(", ");
    throw new ParleyError("UNKNOWN_PERSON", `Several people are called ${to}; name one by id: ${ids}.`);
  }
  // The names of channels are the operator's secret: the server says whether there is one.
  if (NAME_OF_CHANNEL.test(to)) return to;
  throw new ParleyError("UNKNOWN_PERSON", `Nobody is called ${to}.`);
}

async function humansCalled(connection: Connection, name: string, signal: AbortSignal | undefined): Promise<Human[]> {
  const found: Human[] = [];
  const search = `${A2H}/humans/search?limit=200&q=${encodeURIComponent(name)}`;
  for (let from = ""; ;) {
    const { humans, nextCursor } = await read<{ humans: Human[]; nextCursor?: string }>(connection, search + from, {
      signal,
    });
    found.push(...humans.filter((human) => human.name === name));
    if (nextCursor === undefined) return found;
    from = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}
