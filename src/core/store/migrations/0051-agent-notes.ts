import type { Migration } from "./migration.ts";

/** Notes of people to the agents at work. */
export const agentNotes: Migration = {
  number: 51,
  name: "agent notes",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE agent_notes (
      note_id ${text} NOT NULL PRIMARY KEY,
      agent ${text} NOT NULL,
      run ${text} NOT NULL,
      ask_id ${text},
      person ${text} NOT NULL,
      words ${text} NOT NULL,
      sent_at ${integer} NOT NULL,
      given_at ${integer}
    )${strict}`,
    "CREATE INDEX agent_notes_of_runs ON agent_notes (agent, run, sent_at, note_id)",
    "CREATE INDEX agent_notes_of_asks ON agent_notes (ask_id) WHERE ask_id IS NOT NULL",
    "CREATE INDEX agent_notes_sent ON agent_notes (sent_at)",
  ],
};
