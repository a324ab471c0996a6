import type { Migration } from "./migration.ts";

/**
 * A request may be one call of a plan, at its place there from 1 on; it is decided with the request of its plan. An
 * approved one is used once. The images of a plan's evidence are rows of their own.
 */
export const plans: Migration = {
  number: 44,
  name: "plans",
  statements: ({ text, integer, strict }) => [
    `ALTER TABLE requests ADD COLUMN plan ${text}`,
    `ALTER TABLE requests ADD COLUMN plan_ord ${integer}`,
    `ALTER TABLE requests ADD COLUMN used_by ${text}`,
    `ALTER TABLE requests ADD COLUMN used_at ${integer}`,
    "CREATE UNIQUE INDEX requests_of_plans ON requests (plan, plan_ord) WHERE plan IS NOT NULL",
    `CREATE TABLE plan_images (
      plan ${text} NOT NULL,
      ord ${integer} NOT NULL,
      media_type ${text} NOT NULL,
      data ${text} NOT NULL,
      PRIMARY KEY (plan, ord)
    )${strict}`,
  ],
};
