import type { Plant } from "./plant-bug.ts";

/** Bugs in the ends of approved calls, and in freezes. */
export const PLANTS_OF_OUTCOMES: readonly Plant[] = [
  {
    bug: "a known end of a call is replaced by another report",
    file: "src/requests/model/call-outcome.ts",
    find: 'throw new Refusal("outcome_known", { state: former.state, at: former.at });',
    put: "return next;",
    harness: "outcomes",
    says: /W4: call-\d+ was (done|failed|withdrawn)/,
  },
  {
    bug: "a call whose end is unknown is given to a run",
    file: "src/requests/model/call-outcome.ts",
    find: 'if (state !== "awaited" && state !== "not_reported") throw',
    put: 'if (!["awaited", "not_reported", "unknown", "not_run"].includes(state)) throw',
    harness: "outcomes",
    says: /W4: \S+ was given call-\d+ after that was (unknown|not_run)|W4: call-\d+ was (unknown|not_run)/,
  },
  {
    bug: "an end that time brings is not in the record",
    file: "src/requests/outcome/report-outcome.ts",
    find: 'await storeOutcome(tx, locked.request, outcome, { kind: "clock", id: "clock" });',
    put: "await upsertCallOutcome(tx, requestId, outcome);",
    harness: "outcomes",
    says: /W4: call-\d+ is (unknown|not_run), and the record has/,
  },
  {
    bug: "deadlines go on for whom a freeze covers",
    file: "src/policy/freezes.ts",
    find: "for (const statement of ctx.standStill({ sinceMs, nowMs: now })) await tx.all(statement);",
    put: "ctx.standStill({ sinceMs, nowMs: now });",
    harness: "standstill",
    fast: true,
    says: /a deadline moved by 0 ms/,
  },
];
