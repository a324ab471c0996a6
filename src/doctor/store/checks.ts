import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { MOST_OFFENDERS, type Check } from "../../core/store/check.ts";
import { CORE_CHECKS } from "../../core/store/stream-checks.ts";
import type { Queryable } from "../../core/store/db.ts";
import { ACCESS_CHECKS } from "../../access/store/bound-subscriptions.ts";
import { ADDRESSED_CHECKS } from "../../requests/store/checks.ts";
import { ASSIGNMENT_CHECKS } from "../../tasks/store/checks.ts";
import { CONVERSATION_CHECKS } from "../../conversations/store/checks.ts";
import { GATE_CHECKS } from "../../gate/store/checks.ts";
import { QUESTION_CHECKS } from "../../questions/store/checks.ts";
import { RELAY_CHECKS } from "../../asks/store/checks.ts";

const CHECKS: readonly Check[] = [
  ...CORE_CHECKS,
  ...ACCESS_CHECKS,
  ...QUESTION_CHECKS,
  ...ADDRESSED_CHECKS,
  ...CONVERSATION_CHECKS,
  ...RELAY_CHECKS,
  ...GATE_CHECKS,
  ...ASSIGNMENT_CHECKS,
];

/** The result of one check; the promise holds when `offenders` is empty. */
export interface Finding {
  /** The invariant, as docs/spec/invariants.md numbers it. */
  check: string;
  promise: string;
  /** Up to 20 ids, or sentences where there is no id. */
  offenders: string[];
}

/**
 * Returns what every check of the rows finds; it repairs nothing and may run beside any number of writers.
 *
 * A check that takes several reads can see a change between them, so what offends is looked at twice.
 */
export async function examineRows(on: Queryable, quick: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { check, promise, look } of CHECKS) {
    // A server that examines its store goes on answering between two checks.
    await yieldToEventLoop();
    let offenders = await look(on, quick);
    if (offenders.length > 0) {
      const again = new Set(await look(on, quick));
      offenders = offenders.filter((offender) => again.has(offender));
    }
    findings.push({ check, promise, offenders: offenders.slice(0, MOST_OFFENDERS) });
  }
  return findings;
}
