import type { Migration } from "./migration.ts";

/** Asks addressed to people: who is asked, what was decided, and every message that goes out about them. */
export const addressed: Migration = {
  number: 3,
  name: "addressed",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE addressed_asks (
       ask_id ${text} PRIMARY KEY,
       door ${text} NOT NULL,
       asker ${text} NOT NULL,
       ref ${text} NOT NULL,
       same_hash ${text} NOT NULL,
       title ${text} NOT NULL,
       words ${text} NOT NULL,
       form ${text} NOT NULL,
       audience ${text} NOT NULL,
       digest ${text},
       state ${text} NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
       version ${integer} NOT NULL,
       created_at ${integer} NOT NULL,
       expires_at ${integer} NOT NULL CHECK (expires_at > created_at),
       settled_at ${integer} CHECK ((state = 'open') = (settled_at IS NULL)),
       outcome ${text} CHECK ((state = 'open') = (outcome IS NULL)),
       refused ${text},
       wire ${text} NOT NULL,
       UNIQUE (asker, ref)
     )${strict}`,
    `CREATE INDEX addressed_asks_due ON addressed_asks (expires_at) WHERE state = 'open'`,
    `CREATE INDEX addressed_asks_of_asker ON addressed_asks (asker, created_at, ask_id)`,
    `CREATE INDEX addressed_asks_open_of_asker ON addressed_asks (asker, created_at, ask_id) WHERE state = 'open'`,
    `CREATE INDEX addressed_asks_settled ON addressed_asks (settled_at) WHERE state <> 'open'`,
    `CREATE INDEX addressed_asks_ref ON addressed_asks (ref)`,

    `CREATE TABLE addressees (
       reader ${text} NOT NULL,
       ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id),
       PRIMARY KEY (reader, ask_id)
     )${strict}`,
    `CREATE INDEX addressees_of_ask ON addressees (ask_id)`,

    `CREATE TABLE decisions (
       ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id),
       ord ${integer} NOT NULL,
       by_id ${text} NOT NULL,
       responder ${text} NOT NULL,
       counted ${text} NOT NULL,
       PRIMARY KEY (ask_id, by_id),
       UNIQUE (ask_id, ord)
     )${strict}`,

    `CREATE TABLE deliveries (
       delivery_id ${text} PRIMARY KEY,
       ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id),
       kind ${text} NOT NULL CHECK (kind IN ('ask', 'remind', 'tell')),
       channel ${text} NOT NULL,
       target ${text} NOT NULL,
       person ${text},
       step ${integer} NOT NULL,
       state ${text} NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'closing', 'closed', 'failed', 'skipped')),
       due_at ${integer} NOT NULL,
       attempt ${integer} NOT NULL,
       epoch ${integer} NOT NULL,
       external_ids ${text},
       thread ${text},
       words ${text},
       shown_digest ${text},
       link_hash ${text} UNIQUE,
       reply_hash ${text} UNIQUE,
       tries ${integer} NOT NULL,
       last_error ${text},
       created_at ${integer} NOT NULL,
       changed_at ${integer} NOT NULL,
       UNIQUE (ask_id, kind, step, channel, target)
     )${strict}`,
    `CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state IN ('queued', 'sending', 'closing')`,
    `CREATE INDEX deliveries_of_thread ON deliveries (thread) WHERE thread IS NOT NULL`,

    `CREATE TABLE heard (
       provider ${text} NOT NULL,
       id ${text} NOT NULL,
       at ${integer} NOT NULL,
       PRIMARY KEY (provider, id)
     )${strict}`,
    `CREATE INDEX heard_at ON heard (at)`,

    `CREATE TABLE identities (
       kind ${text} NOT NULL CHECK (kind IN ('slack', 'email', 'phone')),
       value ${text} NOT NULL,
       person ${text} NOT NULL REFERENCES people (person_id),
       PRIMARY KEY (kind, value)
     )${strict}`,
    `CREATE INDEX identities_of_person ON identities (person)`,

    `CREATE TABLE numbers (
       name ${text} PRIMARY KEY,
       last ${integer} NOT NULL
     )${strict}`,
    `INSERT INTO numbers (name, last) SELECT 'channel', count(*) FROM people`,
    `ALTER TABLE people ADD COLUMN number ${integer}`,
    `ALTER TABLE people ADD COLUMN description ${text}`,
    `ALTER TABLE people ADD COLUMN title ${text}`,
    `ALTER TABLE people ADD COLUMN sees_all ${integer} NOT NULL DEFAULT 0 CHECK (sees_all IN (0, 1))`,
    `ALTER TABLE people ADD COLUMN channels ${text} NOT NULL DEFAULT '[]'`,
    `ALTER TABLE people ADD COLUMN updated_at ${integer}`,
    `UPDATE people SET
       number = (SELECT count(*) FROM people p
         WHERE p.created_at < people.created_at
           OR p.created_at = people.created_at AND p.person_id <= people.person_id),
       sees_all = CASE WHEN role = 'admin' THEN 1 ELSE 0 END, updated_at = created_at`,
    `CREATE UNIQUE INDEX people_number ON people (number)`,

    `CREATE TABLE audit (
       seq ${integer} PRIMARY KEY,
       at ${integer} NOT NULL,
       action ${text} NOT NULL,
       agent ${text},
       ask_id ${text},
       call_id ${text},
       entry ${text} NOT NULL,
       data ${text},
       prev ${text} NOT NULL,
       hash ${text} NOT NULL
     )${strict}`,
    `CREATE INDEX audit_of_ask ON audit (ask_id) WHERE ask_id IS NOT NULL`,
    `CREATE TABLE audit_head (
       id ${integer} PRIMARY KEY CHECK (id = 1),
       seq ${integer} NOT NULL,
       hash ${text} NOT NULL
     )${strict}`,
    `INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '')`,
  ],
};
