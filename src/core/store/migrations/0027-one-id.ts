import type { Migration } from "./migration.ts";

/** Columns that hold the id of a person, or of a participant or somebody else, and nothing beside it. */
const IDS: readonly (readonly [table: string, column: string])[] = [
  ...["keys", "sign_in_codes", "sign_ins", "identities", "conversations"].map((table) => [table, "person"] as const),
  ...["deliveries", "fallbacks", "notices", "push_subscriptions", "participants"].map((t) => [t, "person"] as const),
  ...["responses", "ledger", "badges", "views", "skips", "reports", "standings"].map((t) => [t, "person"] as const),
  ...["participants", "fingerprints"].map((table) => [table, "participant_id"] as const),
  ...["answers", "late_answers", "aa_reviews"].map((table) => [table, "principal"] as const),
  ["limit_windows", "subject"],
  ["addressees", "reader"],
  ["decisions", "by_id"],
  ["policy_grants", "made_by"],
  ["policy_grants", "revoked_by"],
  ["policy_proposals", "decided_by"],
];

/** Columns in which ids of people stand among other things. */
const TEXTS: readonly (readonly [table: string, column: string])[] = [
  ["addressed_asks", "audience"],
  ["addressed_asks", "outcome"],
  ["addressed_asks", "refused"],
  ["decisions", "responder"],
  ["decisions", "counted"],
  ["deliveries", "target"],
  ["deliveries", "long_target"],
  ["conversations", "target"],
  ["conversation_messages", "source"],
  ["people", "channels"],
];

/** The text around an id in such a column. Words of people and agents are text in JSON: their quotes are escaped. */
const AROUND: readonly (readonly [before: string, after: string])[] = [
  [`"person":"`, `"`],
  [`"kind":"person","id":"`, `"`],
  [`"responder":"`, `"`],
  [`"people":["`, `"`],
  [`,"`, `",`],
  [`,"`, `"]`],
  ["inbox ", " "],
];

const renamed = ([table, column]: readonly [string, string]): string =>
  `UPDATE ${table} SET ${column} = (SELECT n.new_id FROM people_renamed n WHERE n.old_id = ${table}.${column})
     WHERE ${column} IN (SELECT old_id FROM people_renamed)`;

/** Every person's id in turn, wherever it stands. */
function renamedWithin([table, column]: readonly [string, string]): string {
  const swapped = AROUND.reduce(
    (text, [before, after]) =>
      `replace(${text}, '${before}' || n.old_id || '${after}', '${before}' || n.new_id || '${after}')`,
    "step.said",
  );
  return `UPDATE ${table} SET ${column} = (
      WITH RECURSIVE step (i, said) AS (
        SELECT CAST(0 AS BIGINT), ${table}.${column}
        UNION ALL SELECT n.nth, ${swapped} FROM step JOIN people_renamed n ON n.nth = step.i + 1)
      SELECT said FROM step ORDER BY i DESC LIMIT 1)
    WHERE EXISTS (SELECT 1 FROM people_renamed n WHERE ${table}.${column} LIKE '%' || n.old_id || '%')`;
}

/**
 * A person's id is the number that every door shows, as text, and there is no other. Entries of the record from before
 * keep the id of then, because the chain covers it: `former_id`. A column of its own marks the operator of the server.
 */
export const oneId: Migration = {
  number: 27,
  name: "one-id",
  statements: ({ integer, text, strict }) => [
    `ALTER TABLE people ADD COLUMN former_id ${text}`,
    `ALTER TABLE people ADD COLUMN is_operator ${integer} NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1))`,
    `CREATE TABLE people_renamed (nth ${integer} PRIMARY KEY, old_id ${text} NOT NULL UNIQUE, new_id ${text} NOT NULL)${strict}`,
    `INSERT INTO people_renamed (nth, old_id, new_id)
       SELECT row_number() OVER (ORDER BY number), person_id, CAST(number AS TEXT) FROM people
       WHERE number IS NOT NULL AND person_id <> CAST(number AS TEXT)`,
    `INSERT INTO people (person_id, name, role, created_at, description, title, sees_all, channels, updated_at, left_at,
         former_id, is_operator)
       SELECT n.new_id, name, role, created_at, description, title, sees_all, channels, updated_at, left_at, n.old_id,
         CASE WHEN n.old_id = 'operator' THEN 1 ELSE 0 END
       FROM people JOIN people_renamed n ON n.old_id = person_id`,
    ...IDS.map(renamed),
    ...TEXTS.map(renamedWithin),
    `UPDATE idempotency SET principal = (SELECT 'person:' || n.new_id FROM people_renamed n
         WHERE idempotency.principal = 'person:' || n.old_id)
       WHERE principal IN (SELECT 'person:' || old_id FROM people_renamed)`,
    `UPDATE addressed_asks SET wire = (SELECT replace(wire, '"person":"' || n.old_id || '"', '"person":"' || n.new_id || '"')
         FROM people_renamed n WHERE wire LIKE '%"person":"' || n.old_id || '"%')
       WHERE ref LIKE 'test:%' AND EXISTS (
         SELECT 1 FROM people_renamed n WHERE wire LIKE '%"person":"' || n.old_id || '"%')`,
    `DELETE FROM people WHERE person_id IN (SELECT old_id FROM people_renamed)`,
    `UPDATE people SET number = CAST(person_id AS ${integer}) WHERE former_id IS NOT NULL`,
    `DROP TABLE people_renamed`,
    `CREATE UNIQUE INDEX people_operator ON people (is_operator) WHERE is_operator = 1`,
  ],
};
