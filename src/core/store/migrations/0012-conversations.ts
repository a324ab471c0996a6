import type { Migration } from "./migration.ts";

/** The conversations that people begin with agents, the names of their threads, and their messages. */
export const conversations: Migration = {
  number: 12,
  name: "conversations",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE conversations (
       number ${integer} PRIMARY KEY,
       entry ${text} NOT NULL,
       agent ${text} NOT NULL,
       channel ${text} NOT NULL CHECK (channel IN ('slack', 'email', 'sms', 'whatsapp', 'inbox')),
       person ${text} REFERENCES people (person_id),
       opener ${text} NOT NULL,
       target ${text} NOT NULL,
       sealed_key ${text},
       created_at ${integer} NOT NULL,
       said_at ${integer} NOT NULL
     )${strict}`,
    `CREATE INDEX conversations_of_person ON conversations (person, said_at) WHERE person IS NOT NULL`,
    `CREATE INDEX conversations_quiet ON conversations (said_at)`,
    `CREATE TABLE conversation_threads (
       thread ${text} PRIMARY KEY,
       conversation ${integer} NOT NULL REFERENCES conversations (number)
     )${strict}`,
    `CREATE INDEX conversation_threads_of ON conversation_threads (conversation)`,
    `CREATE TABLE conversation_messages (
       uid ${text} PRIMARY KEY,
       seq ${integer} NOT NULL UNIQUE,
       conversation ${integer} NOT NULL REFERENCES conversations (number),
       agent ${text} NOT NULL,
       source ${text} NOT NULL UNIQUE,
       words ${text} NOT NULL,
       raw ${text} NOT NULL,
       follow_up ${integer} NOT NULL CHECK (follow_up IN (0, 1)),
       created_at ${integer} NOT NULL,
       acked_at ${integer}
     )${strict}`,
    `CREATE INDEX conversation_messages_of_agent ON conversation_messages (agent, seq)`,
    `CREATE INDEX conversation_messages_untaken ON conversation_messages (agent, seq) WHERE acked_at IS NULL`,
    `CREATE INDEX conversation_messages_of ON conversation_messages (conversation, seq)`,
    `INSERT INTO numbers (name, last) VALUES ('conversation message', 0)`,
    `ALTER TABLE addressed_asks ADD COLUMN conversation ${integer}`,
    `CREATE INDEX addressed_asks_of_conversation ON addressed_asks (conversation, created_at)
       WHERE conversation IS NOT NULL`,
    `ALTER TABLE keys ADD COLUMN conversation ${integer}`,
    `ALTER TABLE keys ADD COLUMN channel ${text}`,
    `ALTER TABLE webhook_events ADD COLUMN message ${text}`,
  ],
};
