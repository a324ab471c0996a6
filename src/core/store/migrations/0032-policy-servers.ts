import type { Migration } from "./migration.ts";

/** The policy of each running server, and the server's last sign of life. */
export const policyServers: Migration = {
  number: 32,
  name: "policy of each server",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE policy_servers (
       server_id ${text} PRIMARY KEY,
       name ${text} NOT NULL,
       policy_version ${text} NOT NULL,
       policy ${text} NOT NULL,
       seen_at ${integer} NOT NULL
     )${strict}`,
  ],
};
