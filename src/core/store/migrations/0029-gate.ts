import type { Migration } from "./migration.ts";

/** Calls of tools that stand behind a gate: each is the run of one approved request, and of no other. */
export const gate: Migration = {
  number: 29,
  name: "gate",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE gate_calls (
       ask_id ${text} PRIMARY KEY,
       asker ${text} NOT NULL,
       gate ${text} NOT NULL,
       tool ${text} NOT NULL,
       same_hash ${text} NOT NULL,
       policy_version ${text} NOT NULL,
       good_until ${integer} NOT NULL,
       digest ${text} NOT NULL,
       repeatable ${integer} NOT NULL CHECK (repeatable IN (0, 1)),
       again_of ${text},
       state ${text} NOT NULL CHECK (state IN ('asked', 'dropped', 'started', 'ended', 'unknown', 'settled')),
       run ${text},
       consent_digest ${text},
       started_at ${integer},
       held_until ${integer},
       ended_at ${integer},
       outcome ${text} CHECK (outcome IN ('result', 'error')),
       result_digest ${text},
       CHECK ((run IS NULL) = (state IN ('asked', 'dropped'))),
       CHECK ((run IS NULL) = (started_at IS NULL) AND (run IS NULL) = (held_until IS NULL)
         AND (run IS NULL) = (consent_digest IS NULL)),
       CHECK ((state = 'ended') = (ended_at IS NOT NULL) AND (state = 'ended') = (outcome IS NOT NULL)
         AND (state = 'ended') = (result_digest IS NOT NULL))
     )${strict}`,
    `CREATE INDEX gate_calls_same ON gate_calls (asker, same_hash) WHERE state IN ('asked', 'started', 'unknown')`,
    `CREATE INDEX gate_calls_held ON gate_calls (held_until) WHERE state = 'started'`,
  ],
};
