import { MOST_OFFENDERS } from "../../core/store/check.ts";
import type { Queryable } from "../../core/store/db.ts";
import { join, sql, type Sql } from "../../core/store/sql.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { candidatesIn, readParts } from "../model/find-credentials.ts";
import { findNamedDeliveries } from "./exposed.ts";

const PAGE = 200;

/** Words of people that agents can read: a table's key, and its words. */
export interface WordsPlace {
  from: Sql;
  key: Sql;
  words: Sql;
}

/** Where requests keep such words. */
export const REQUEST_WORDS: WordsPlace = {
  from: sql`requests`,
  key: sql`ask_id`,
  words: sql`coalesce(outcome, '') || ' ' || coalesce(refused, '')`,
};

/**
 * Returns approvals that were decided by way of a message whose link, reply address or id stands in words of these
 * places: versions before 0.2 kept such words, and an agent could make the approval itself (spec/security 10).
 */
export async function findExposedApprovals(on: Queryable, places: readonly WordsPlace[]): Promise<string[]> {
  const found = new Set<string>();
  for (const { from, key, words } of places) {
    for (let after = ""; ;) {
      const rows = await on.all<{ id: string; words: string }>(
        sql`SELECT ${key} AS id, ${words} AS words FROM ${from}
          WHERE ${key} > ${after} AND ${mayName(words)} ORDER BY ${key} LIMIT ${PAGE}`,
      );
      for (const row of rows) {
        await yieldToEventLoop();
        for (const id of await approvedThrough(on, row.words)) found.add(id);
        after = row.id;
      }
      if (rows.length < PAGE || found.size > MOST_OFFENDERS) break;
    }
  }
  return [...found].slice(0, MOST_OFFENDERS);
}

/** Versions that kept such words kept them as they were written, so that few rows need a closer look. */
function mayName(words: Sql): Sql {
  const signs = ["%/r/%", "%2Fr%2F%", "%ask+%", "%dlv_%"].map((sign) => sql`(${words}) LIKE ${sign}`);
  return sql`(${join(signs, " OR ")})`;
}

/** Returns the requests that were approved on the channel of a message that a text names. */
async function approvedThrough(on: Queryable, text: string): Promise<string[]> {
  const candidates = [...readParts(text)].flatMap(candidatesIn);
  const ids = candidates.filter(({ kind }) => kind === "delivery").map((one) => one.text);
  const hashes = candidates.filter(({ kind }) => kind !== "delivery").map((one) => sha256Hex(one.text));
  const named = await findNamedDeliveries(on, { hashes: [...new Set(hashes)], ids: [...new Set(ids)] });
  if (named.length === 0) return [];
  const rows = await on.all<{ ask_id: string; channel: string; outcome: string }>(
    sql`SELECT DISTINCT a.ask_id, d.channel, a.outcome FROM deliveries d JOIN requests a ON a.ask_id = d.ask_id
      WHERE a.state = 'answered' AND d.delivery_id IN (${join(named.map(({ id }) => id))})`,
  );
  return rows.flatMap(({ ask_id, channel, outcome }) => {
    const { approved, by } = JSON.parse(outcome) as { approved?: boolean; by?: { via: string } };
    return approved === true && by?.via === channel ? [ask_id] : [];
  });
}
