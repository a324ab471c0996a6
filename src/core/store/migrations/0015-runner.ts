import type { Migration } from "./migration.ts";

/** The tools that models may be offered, the cost of models, and the runs that identical asks share. */
export const runner: Migration = {
  number: 15,
  name: "runner",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE tool_pins (
       name ${text} PRIMARY KEY,
       hash ${text} NOT NULL,
       definition ${text} NOT NULL,
       pinned_at ${integer} NOT NULL,
       changed_hash ${text},
       changed_definition ${text},
       changed_at ${integer}
     )${strict}`,
    // The unit is nano-USD where prices are set, and tokens where they are not.
    `CREATE TABLE runner_spending (
       month ${text} NOT NULL,
       unit ${text} NOT NULL CHECK (unit IN ('nano_usd', 'tokens')),
       spent ${integer} NOT NULL,
       input_tokens ${integer} NOT NULL,
       output_tokens ${integer} NOT NULL,
       PRIMARY KEY (month, unit)
     )${strict}`,
    `CREATE TABLE runner_runs (
       decision_key ${text} PRIMARY KEY,
       ask_id ${text} NOT NULL,
       outcome ${text},
       claimed_until ${integer} NOT NULL
     )${strict}`,
    `CREATE INDEX runner_runs_over ON runner_runs (claimed_until)`,
  ],
};
