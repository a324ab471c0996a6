/** Statements that take out what the migrations 36 to 43 made, for tests that go back to an earlier schema. */
export const WITHOUT_36_TO_43: readonly string[] = [
  "DROP TABLE request_hand_ons",
  "DROP TABLE request_snoozes",
  "DROP INDEX requests_of_functions",
  "ALTER TABLE requests DROP COLUMN fn",
  "ALTER TABLE policy_grants DROP COLUMN pattern",
  "DROP TABLE policy_allowances",
  "ALTER TABLE deliveries DROP COLUMN tried_at",
  "ALTER TABLE keys DROP COLUMN held_at",
  "DROP INDEX requests_of_prompts",
  "DROP INDEX requests_of_askers_prompts",
  "DROP INDEX requests_waited_for",
  "ALTER TABLE requests DROP COLUMN prompt_of",
  "ALTER TABLE requests DROP COLUMN waited_until",
  "ALTER TABLE requests DROP COLUMN lease_ms",
];
