import type { Migration } from "./migration.ts";

/**
 * Entries of the record are written first and chained afterwards: `seq`, `prev` and `hash` are empty until then.
 * Entries that are chained already keep every byte. The order of `id` is the order in which entries were written.
 */
export const sealing: Migration = {
  number: 24,
  name: "sealing",
  statements: ({ counted, integer, text, strict }) => [
    `CREATE TABLE audit_sealing (
       id ${counted},
       seq ${integer},
       at ${integer} NOT NULL,
       action ${text} NOT NULL,
       agent ${text},
       ask_id ${text},
       call_id ${text},
       entry ${text} NOT NULL,
       data ${text},
       prev ${text},
       hash ${text},
       CHECK ((seq IS NULL) = (prev IS NULL) AND (seq IS NULL) = (hash IS NULL))
     )${strict}`,
    `INSERT INTO audit_sealing (seq, at, action, agent, ask_id, call_id, entry, data, prev, hash)
       SELECT seq, at, action, agent, ask_id, call_id, entry, data, prev, hash FROM audit ORDER BY seq`,
    `DROP TABLE audit`,
    `ALTER TABLE audit_sealing RENAME TO audit`,
    `CREATE UNIQUE INDEX audit_by_seq ON audit (seq)`,
    `CREATE INDEX audit_unsealed ON audit (id) WHERE seq IS NULL`,
    `CREATE INDEX audit_of_ask ON audit (ask_id) WHERE ask_id IS NOT NULL`,
    `CREATE INDEX audit_of_call ON audit (call_id, action) WHERE call_id IS NOT NULL`,
  ],
};
