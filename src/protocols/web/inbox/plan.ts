import type { Context } from "../../../context.ts";
import { yieldToEventLoop } from "../../../lib/event-loop.ts";
import { printableExactly } from "../../../lib/printable.ts";
import type { PlanWire } from "../../../requests/model/plan.ts";
import type { Request } from "../../../requests/model/request.ts";
import { judgedRequest } from "../../../requests/model/risk.ts";
import { sentenceOf } from "../../../requests/model/sentence.ts";
import type { Language } from "../../../requests/model/sentence-words.ts";
import { shownTitle } from "../../../requests/model/view.ts";
import { readPlanOutcomes, readWholeCalls } from "../../../requests/plans/read-plan.ts";
import type { WireInboxAsk } from "../../../wire/inbox.ts";
import { drawnEvidence, drawnRows } from "../drawing/draw-thread.ts";
import { callOutcomeBody, MOST_REASONS, type WithArguments } from "./wire.ts";

type WirePlan = WithArguments<NonNullable<WireInboxAsk["plan"]>>;

/**
 * Returns the calls of a plan as people decide about them, with the evidence; null for any other request. Each call
 * looks at all of its arguments, so others are served between two of them.
 */
export async function planBody(ctx: Context, request: Request, language: Language): Promise<WirePlan | null> {
  const { form } = request;
  if (form.kind !== "approval" || form.calls === undefined) return null;
  const calls: WirePlan["calls"] = [];
  const outcomes = request.outcome?.approved === true ? await readPlanOutcomes(ctx, request.id) : null;
  for await (const call of readWholeCalls(ctx, request.id)) {
    if (call.form.kind !== "approval") continue;
    const { risk, reasons } = judgedRequest(call);
    calls.push({
      place: calls.length + 1,
      fn: printableExactly(call.form.fn),
      sentence: sentenceOf(call, language),
      risk,
      risk_reasons: reasons.slice(0, MOST_REASONS),
      digest: call.digest ?? "",
      arguments: await drawnRows(call, call.form.kwargs),
      call_outcome: callOutcomeBody(call, outcomes?.get(call.id)),
    });
    await yieldToEventLoop();
  }
  const { first } = request.wire as PlanWire;
  const title = first === undefined ? shownTitle(request) : null;
  return { title, calls, evidence: await drawnEvidence(request, form.kwargs) };
}
