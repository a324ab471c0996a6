import { crowd } from "./0022-baseline/crowd.ts";
import { people } from "./0022-baseline/people.ts";
import { relay } from "./0022-baseline/relay.ts";
import { tasks } from "./0022-baseline/tasks.ts";
import type { Migration } from "./migration.ts";

/** The schema of version 0.1.0, the first one released. Later migrations change it. */
export const baseline: Migration = {
  number: 22,
  name: "baseline",
  statements: (words) => [crowd, people, relay, tasks].flatMap((part) => part(words)),
};
