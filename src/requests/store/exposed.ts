import type { RequestId } from "../../core/model/ids.ts";
import type { Identity } from "../../access/model/identity.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";
import type { Target } from "../model/request.ts";

/** A message whose token or id stands in a text. */
export interface NamedDelivery {
  id: string;
  linkHash: string | null;
  replyHash: string | null;
}

/** PostgreSQL and SQLite take many thousand values in one statement; this many are found at once. */
const AT_ONCE = 1000;

/** Returns the messages that have one of these hashes, of their links or reply addresses, or one of these ids. */
export async function findNamedDeliveries(
  on: Queryable,
  { hashes, ids }: { hashes: readonly string[]; ids: readonly string[] },
): Promise<NamedDelivery[]> {
  const found: NamedDelivery[] = [];
  for (let from = 0; from < hashes.length; from += AT_ONCE) {
    const some = join(hashes.slice(from, from + AT_ONCE));
    found.push(...(await listNamed(on, sql`link_hash IN (${some}) OR reply_hash IN (${some})`)));
  }
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    found.push(...(await listNamed(on, sql`delivery_id IN (${join(ids.slice(from, from + AT_ONCE))})`)));
  }
  return found;
}

async function listNamed(on: Queryable, which: ReturnType<typeof sql>): Promise<NamedDelivery[]> {
  const rows = await on.all<{ delivery_id: string; link_hash: string | null; reply_hash: string | null }>(
    sql`SELECT delivery_id, link_hash, reply_hash FROM deliveries WHERE ${which}`,
  );
  return rows.map((row) => ({ id: row.delivery_id, linkHash: row.link_hash, replyHash: row.reply_hash }));
}

/** Returns the ids of the messages about a request that can be answered by what stands in them. */
export async function listAnswerable(on: Queryable, requestId: RequestId): Promise<string[]> {
  const rows = await on.all<{ delivery_id: string }>(
    sql`SELECT delivery_id FROM deliveries WHERE ask_id = ${requestId} AND link_hash IS NOT NULL`,
  );
  return rows.map((row) => row.delivery_id);
}

/** The same of every open request, among the messages that went to somebody; the newest `limit`. */
export async function listAnswerableBy(
  on: Queryable,
  { person, identities }: { person: string | null; identities: readonly Identity[] },
  limit: number,
): Promise<string[]> {
  const addresses = identities.map(({ value }) => JSON.stringify({ to: value }).slice(1, -1));
  const whose = [
    ...(person === null ? [] : [sql`d.person = ${person}`]),
    ...addresses.map((address) => sql`d.target LIKE ${`%${address}%`}`),
  ];
  if (whose.length === 0) return [];
  const rows = await on.all<{ delivery_id: string }>(
    sql`SELECT d.delivery_id FROM requests a JOIN deliveries d ON d.ask_id = a.ask_id
      WHERE a.state = 'open' AND d.link_hash IS NOT NULL AND (${join(whose, " OR ")})
      ORDER BY d.created_at DESC LIMIT ${limit}`,
  );
  return rows.map((row) => row.delivery_id);
}

/** A message that answers nothing from now on. */
export interface ExposedDelivery {
  id: string;
  requestId: RequestId;
  channel: string;
  target: Target;
  person: string | null;
}

/** The messages about open requests answer nothing from now on; returns those that did until now. */
export async function exposeIfOpen(tx: Tx, ids: readonly string[]): Promise<ExposedDelivery[]> {
  const exposed: ExposedDelivery[] = [];
  for (const id of ids) {
    const row = await first<{
      ask_id: string;
      channel: string;
      target: string;
      long_target: string | null;
      person: string | null;
    }>(
      tx,
      sql`UPDATE deliveries SET exposed_at = (SELECT parley_now()), changed_at = (SELECT parley_now())
        WHERE delivery_id = ${id} AND exposed_at IS NULL AND kind <> 'tell'
          AND ask_id IN (SELECT ask_id FROM requests WHERE state = 'open')
        RETURNING ask_id, channel, target, long_target, person`,
    );
    if (!row) continue;
    const target = JSON.parse(row.long_target ?? row.target) as Target;
    exposed.push({ id, requestId: row.ask_id, channel: row.channel, target, person: row.person });
  }
  return exposed;
}
