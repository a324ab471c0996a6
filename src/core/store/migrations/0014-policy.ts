import type { Migration } from "./migration.ts";

/**
 * The permanent grants, the questions that people were asked often, and how often each rule spared people a question.
 */
export const policy: Migration = {
  number: 14,
  name: "policy",
  statements: ({ integer, text, strict }) => [
    // One row: the policy file is to be read again on every server whose number is another.
    `CREATE TABLE policy_reloads (
       id ${integer} PRIMARY KEY CHECK (id = 1),
       number ${integer} NOT NULL
     )${strict}`,
    `INSERT INTO policy_reloads (id, number) VALUES (1, 0)`,
    `CREATE TABLE policy_grants (
       grant_id ${text} PRIMARY KEY,
       class_key ${text} NOT NULL,
       action ${text} NOT NULL,
       resource ${text} NOT NULL,
       env ${text} NOT NULL,
       tool ${text},
       repo ${text},
       agent ${text},
       ask_id ${text} NOT NULL,
       made_by ${text} NOT NULL,
       created_at ${integer} NOT NULL,
       expires_at ${integer} NOT NULL,
       revoked_at ${integer},
       revoked_by ${text},
       uses ${integer} NOT NULL,
       used_at ${integer}
     )${strict}`,
    `CREATE INDEX policy_grants_class ON policy_grants (class_key) WHERE revoked_at IS NULL`,
    `CREATE TABLE policy_savings (
       rule ${text} NOT NULL,
       policy_version ${text} NOT NULL,
       saved ${integer} NOT NULL,
       saved_at ${integer} NOT NULL,
       PRIMARY KEY (rule, policy_version)
     )${strict}`,
    `CREATE TABLE policy_approvals (
       ask_id ${text} PRIMARY KEY,
       class_key ${text} NOT NULL,
       approved_at ${integer} NOT NULL
     )${strict}`,
    `CREATE INDEX policy_approvals_class ON policy_approvals (class_key, approved_at)`,
    `CREATE TABLE policy_proposals (
       proposal_id ${text} PRIMARY KEY,
       class_key ${text} NOT NULL UNIQUE,
       rule ${text} NOT NULL,
       state ${text} NOT NULL CHECK (state IN ('open', 'accepted', 'dismissed', 'revoked')),
       approvals ${integer} NOT NULL,
       created_at ${integer} NOT NULL,
       decided_by ${text},
       decided_at ${integer}
     )${strict}`,
  ],
};
