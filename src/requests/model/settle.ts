import { Refusal } from "../../refusals.ts";
import type { Request, CountedDecision, Decision, Outcome, Decider } from "./request.ts";
import type { DecisionOrigin } from "../../core/model/decision-origin.ts";
import { isAsked, isCounted, isSatisfied } from "./audience.ts";

/** A decision that was counted, with who it was by: what is needed to count the next one. */
export interface Counted {
  responder: Decider;
  decision: CountedDecision;
}

/** The effect of one more decision on a request. */
export interface Settled {
  counted: CountedDecision;
  /** Null while more people have to agree. */
  outcome: Outcome | null;
}

/** The facts about a decision when it is counted. */
export interface Judged {
  responder: Decider;
  by: CountedDecision["by"];
  origin?: DecisionOrigin;
  decision: Decision;
  at: number;
  /** How people are called in a joint comment. */
  nameOf(by: CountedDecision["by"]): string;
}

/**
 * Decides what one more decision does to an addressed request: an approval ends with its first rejection, or when enough
 * people have approved; a reply or a value with its first valid answer (spec/a2h 9 and 12).
 *
 * Pure: the caller holds the request, has found it open and in time, and saves what comes back.
 *
 * @throws {Refusal} `not_asked`, `not_counted`, `digest_mismatch`, `unknown_option`, `not_editable`, `wrong_decision`
 */
export function settle(request: Request, before: readonly Counted[], next: Judged): Settled {
  const { responder, decision, at, by, origin } = next;
  const sinceMs = at - request.createdAt;
  if (!responder.self && !isAsked(request.audience, responder, request.form.kind, sinceMs))
    throw new Refusal("not_asked");
  if (decision.kind === "approve" && !responder.self && !isCounted(request.audience, responder, sinceMs))
    throw new Refusal("not_counted");
  checkShape(request, decision);

  const counted: CountedDecision = {
    by,
    ...(origin && { pressed: origin }),
    approved: decision.kind === "approve" ? true : decision.kind === "reject" ? false : null,
    ...upToOf(request, decision),
    ...("comment" in decision && decision.comment !== undefined && { comment: decision.comment }),
    ...(request.digest !== null && { digest: request.digest }),
    at,
  };
  const outcome: Outcome = { status: "answered", by, ...besides(decision) };
  switch (decision.kind) {
    case "reply":
      return {
        counted,
        outcome: {
          ...outcome,
          ...(decision.text !== undefined && { text: decision.text }),
          ...(decision.option !== undefined && { option: decision.option }),
        },
      };
    case "value":
      return { counted, outcome: { ...outcome, text: decision.text } };
    case "reject":
      return {
        counted,
        outcome: {
          ...outcome,
          approved: false,
          ...(request.digest !== null && { digest: request.digest }),
          ...(decision.comment !== undefined && { comment: decision.comment }),
          ...(decision.option !== undefined && { option: decision.option }),
        },
      };
    case "approve": {
      const approvers = [...before.map((one) => one.responder), responder];
      if (!responder.self && !isSatisfied(request.audience, approvers, sinceMs)) return { counted, outcome: null };
      const comment = jointComment([...before.map((one) => one.decision), counted], next.nameOf);
      return {
        counted,
        outcome: {
          ...outcome,
          approved: true,
          ...(request.digest !== null && { digest: request.digest }),
          ...(comment !== undefined && { comment }),
          ...(decision.kwargs !== undefined && { kwargs: decision.kwargs }),
          ...leastUpTo([...before.map((one) => one.decision), counted]),
          ...(decision.withGrant && { standing: decision.withGrant }),
        },
      };
    }
  }
}

function besides({
  askBack,
  artifacts,
  value,
  sameNextTime,
}: Decision): Pick<Outcome, "askBack" | "artifacts" | "value" | "sameNextTime"> {
  return {
    ...(askBack !== undefined && { askBack }),
    ...(artifacts && { artifacts }),
    ...(sameNextTime && { sameNextTime }),
    ...(value !== undefined && { value: JSON.stringify(value) }),
  };
}

function checkShape(request: Request, decision: Decision): void {
  const { form } = request;
  if (form.kind === "approval") {
    if (decision.kind !== "approve" && decision.kind !== "reject") throw new Refusal("wrong_decision");
    if (decision.digest !== undefined && decision.digest !== request.digest) {
      throw new Refusal("digest_mismatch", { expected: request.digest });
    }
    if (decision.kind === "approve" && decision.kwargs !== undefined && !form.editable)
      throw new Refusal("not_editable");
    if (decision.kind === "approve") checkUpTo(form.calls, decision.upTo);
    checkOption(decision.option, decision.kind === "reject" ? form.rejectOptions : [], form.rejectOptions);
  } else if (decision.kind === "reject" && form.declinable) {
    checkOption(decision.option, []);
  } else if (decision.kind !== form.kind) {
    throw new Refusal("wrong_decision");
  } else if (form.kind === "reply" && decision.kind === "reply") {
    if (form.listed && decision.option === undefined) throw notOffered(form.options);
    checkOption(decision.option, form.options);
  }
}

/** An approval of a part of a plan is of its first calls, at least of one. */
function checkUpTo(calls: number | undefined, upTo: number | undefined): void {
  if (upTo === undefined) return;
  if (calls === undefined || !Number.isInteger(upTo) || upTo < 1 || upTo > calls) throw new Refusal("wrong_decision");
}

/** An approval of all calls of a plan says nothing of their number. */
function upToOf({ form }: Request, decision: Decision): Pick<CountedDecision, "upTo"> {
  if (form.kind !== "approval" || decision.kind !== "approve" || decision.upTo === undefined) return {};
  return decision.upTo === form.calls ? {} : { upTo: decision.upTo };
}

/** Several people approve the calls that each of them approves. */
function leastUpTo(approvals: readonly CountedDecision[]): Pick<Outcome, "upTo"> {
  const parts = approvals.flatMap(({ upTo }) => (upTo === undefined ? [] : [upTo]));
  return parts.length === 0 ? {} : { upTo: Math.min(...parts) };
}

function checkOption(
  option: string | undefined,
  fitting: readonly { name: string }[],
  offered: readonly { name: string }[] = fitting,
): void {
  if (option === undefined || fitting.some(({ name }) => name === option)) return;
  throw notOffered(offered);
}

function notOffered(offered: readonly { name: string }[]): Refusal {
  return new Refusal("unknown_option", { options: offered.map(({ name }) => name) });
}

/** One person's comment stands alone; those of several are each named (spec/a2h 12). */
function jointComment(decisions: readonly CountedDecision[], nameOf: Judged["nameOf"]): string | undefined {
  const countedDecisions = decisions.filter(({ comment }) => comment !== undefined && comment !== "");
  if (decisions.length === 1) return countedDecisions[0]?.comment;
  return countedDecisions.length === 0
    ? undefined
    : countedDecisions.map(({ by, comment }) => `${nameOf(by)}: ${comment}`).join("; ");
}
