import type { Decision, EndReports } from "@parley/sdk";

/** So long the result of a tool waits for the report about it, which goes on afterwards. */
const REPORT_HOLD_MS = 2000;

/** Returns the reports of a decision; undefined for one of an `@parley/sdk` that has none yet. */
export function reportsIn(decision: Partial<Pick<Decision, "done" | "failed">>): EndReports | undefined {
  const { done, failed } = decision;
  return done && failed && { done, failed };
}

/** Waits for a report for 2 seconds at most; a refusal changes nothing. */
export async function quietly(report: Promise<void> | undefined): Promise<void> {
  if (!report) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const held = new Promise<void>((resolve) => (timer = setTimeout(resolve, REPORT_HOLD_MS)));
  await Promise.race([report.catch(() => undefined), held]);
  clearTimeout(timer);
}

/**
 * Runs an approved call and reports its end: done with the digest of the result, or failed with the error's name, since
 * its words may hold a secret. Neither result nor error depends on the report. What `isPause` is no end.
 */
export async function reportedRun<Result>(
  reports: EndReports | undefined,
  run: () => Result | Promise<Result>,
  isPause: (error: unknown) => boolean,
): Promise<Result> {
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    const text = error instanceof Error ? error.name.slice(0, 100) : typeof error;
    if (!isPause(error)) await quietly(reports?.failed({ text }));
    throw error;
  }
  await quietly(reports?.done({ result }));
  return result;
}
