import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import type { OutcomeReport } from "../model/call-outcome.ts";
import type { Request } from "../model/request.ts";
import { findAwaitedPrompts, type PromptsOf } from "../store/newest.ts";
import { reportOutcome } from "./report-outcome.ts";

/** A use of a tool that is over, in the marks that its prompt left with its request (spec/a2h 21). */
export interface EndedUse extends PromptsOf {
  tool: string;
  /** The use by the agent's own id, where the event names it. */
  use?: string;
  /** The use by its session, tool and input. */
  useDigest?: string;
}

/**
 * Stores how an approved prompt of a coding agent ended: the one of this use, else the newest with the same session, tool
 * and input. A use that nobody approved here changes nothing.
 */
export async function reportUse(
  ctx: Pick<Context, "db" | "wake" | "secrets">,
  ended: EndedUse,
  report: OutcomeReport,
): Promise<void> {
  const awaited = (await findAwaitedPrompts(ctx.db, ended)).map(({ request }) => request);
  const request = awaited.find((one) => isUse(one, ended)) ?? awaited.find((one) => isLike(one, ended));
  if (!request) return;
  try {
    await reportOutcome(ctx, request.id, report);
  } catch (error) {
    // Another report came first.
    if (!(error instanceof Refusal)) throw error;
  }
}

const marksOf = ({ wire }: Request) => (wire["agent_prompt"] ?? {}) as { use?: string; use_digest?: string };

const isUse = (request: Request, { use }: EndedUse): boolean => use !== undefined && marksOf(request).use === use;

/** A request that names another use is not about this one, however alike they are. */
function isLike(request: Request, { use, useDigest }: EndedUse): boolean {
  const marks = marksOf(request);
  const isOther = marks.use !== undefined && use !== undefined;
  return !isOther && useDigest !== undefined && marks.use_digest === useDigest;
}
