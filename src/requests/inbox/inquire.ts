import type { Context } from "../../context.ts";
import { refuseFields, textProblem } from "../../core/model/field-problem.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { appendAudit } from "../../core/store/audit.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC, requestTopic } from "../../core/store/wake.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { Refusal } from "../../refusals.ts";
import { cleanWords, exposeIn } from "../create/clean-words.ts";
import { aboutRequest } from "../create/create-request.ts";
import { responderOf } from "../decide/decider.ts";
import { undoPress } from "../decide/presses.ts";
import { endHeldIfDue } from "../end/end.ts";
import { settledRefusal } from "../end/finish.ts";
import {
  answersInquiries,
  inquiryAnsweredWords,
  isAskedBack,
  LONGEST_INQUIRY,
  LONGEST_INQUIRY_ANSWER,
  MOST_INQUIRIES,
  readInquiryId,
} from "../model/inquiry.ts";
import type { Inquiry, Request } from "../model/request.ts";
import { askerName } from "../model/view.ts";
import { lockRequest, updateInquiries } from "../store/requests.ts";
import { deleteSnoozes } from "../store/snoozes.ts";
import { lockOpen, mayDecide } from "./hand-on.ts";
import { tellAgain } from "./tell-again.ts";

/**
 * Puts a question to the agent of a request, which stays open: a wait of the agent ends with it. A decision of the same
 * person that can still be undone is undone. Returns the request as it is then (spec/a2h 23).
 *
 * @throws {Refusal} `request_not_found`, `not_asked`; `already_decided`, `request_expired` or `request_cancelled` once it
 *   is over; `cannot_ask_back` where its agent answers none; `inquiry_limit`; `invalid_input`
 */
export async function askBack(
  ctx: Context,
  { requestId, person }: { requestId: RequestId; person: string },
  text: string,
): Promise<Request> {
  const problem = textProblem("text", text.trim(), 1, LONGEST_INQUIRY);
  if (problem) throw refuseFields([problem]);
  const { identities } = await responderOf(ctx.db, person, "web");
  const safe = await withoutSecrets(ctx, text.trim());
  const words = await cleanWords(ctx, safe, { person, identities, requestId });
  const result = await transact(ctx, async (tx) => {
    const open = await lockOpen(ctx, tx, { requestId, person });
    if (open instanceof Refusal) return open;
    if (!answersInquiries(open.request)) return new Refusal("cannot_ask_back");
    const { inquiries = [] } = open.request;
    if (inquiries.length >= MOST_INQUIRIES) return new Refusal("inquiry_limit");
    // Somebody who asks has not decided.
    const request = (await undoPress(tx, open.request, person)) ?? open.request;
    const inquiry: Inquiry = { person, text: words.words, at: open.now };
    const asked = await updateInquiries(tx, request, [...inquiries, inquiry]);
    await exposeIn(ctx, tx, words);
    const actor = { kind: "human", id: person } as const;
    await appendAudit(tx, { actor, ...aboutRequest(request, "asked_back"), data: { inquiry: inquiries.length + 1 } });
    tx.wake(requestTopic(requestId));
    tx.wake(INBOX_TOPIC);
    return asked;
  });
  if (result instanceof Refusal) throw result;
  return result;
}

/** The agent of an open request has been told of its inquiries; its next wait goes on. Returns the request as it is then. */
export async function noteInquiriesTold(ctx: Pick<Context, "db" | "wake">, request: Request): Promise<Request> {
  if (!isAskedBack(request)) return request;
  return transact(ctx, async (tx) => {
    const locked = await lockRequest(tx, request.id);
    if (!locked || !isAskedBack(locked.request)) return locked?.request ?? request;
    const { inquiries = [] } = locked.request;
    tx.wake(INBOX_TOPIC);
    return updateInquiries(
      tx,
      locked.request,
      inquiries.map((one) => ({ ...one, toldAt: one.toldAt ?? locked.now })),
    );
  });
}

/**
 * Stores the answer of an agent to an inquiry about its request, and tells the person who asked, if they may still decide
 * it. The same answer again changes nothing. Returns the request as it is then, and the place of the inquiry, from 1 on.
 *
 * @throws {Refusal} `inquiry_not_found` also for another agent's; `inquiry_answered`; `already_decided`,
 *   `request_expired` or `request_cancelled` once the request is over; `invalid_input`
 */
export async function answerInquiry(
  ctx: Context,
  { asker, id, conversation = null }: { asker: string; id: string; conversation?: number | null },
  answer: string,
): Promise<{ request: Request; place: number }> {
  const problem = textProblem("text", answer.trim(), 1, LONGEST_INQUIRY_ANSWER);
  if (problem) throw refuseFields([problem]);
  const named = readInquiryId(id);
  if (!named) throw new Refusal("inquiry_not_found");
  const result = await transact(ctx, async (tx) => {
    const locked = await lockRequest(tx, named.requestId);
    const isOwn = locked?.request.asker === asker;
    const isWithin = conversation === null || locked?.request.conversation === conversation;
    const inquiry = locked?.request.inquiries?.[named.place - 1];
    if (!locked || !isOwn || !isWithin || !inquiry) return new Refusal("inquiry_not_found");
    if (inquiry.answer === answer) return locked.request;
    if (inquiry.answer !== undefined) return new Refusal("inquiry_answered");
    const request = await endHeldIfDue(ctx, tx, locked);
    if (request.state !== "open") return settledRefusal(request);
    const { person } = inquiry;
    const answered = { ...inquiry, toldAt: inquiry.toldAt ?? locked.now, answer, answeredAt: locked.now };
    const { inquiries = [] } = request;
    const words = inquiryAnsweredWords(askerName(request));
    const isAsked = await mayDecide(ctx, tx, { ...locked, request }, person);
    const told = isAsked ? await tellAgain(ctx, tx, request, { people: [person], words }) : request;
    const stored = await updateInquiries(tx, told, inquiries.with(named.place - 1, answered));
    await deleteSnoozes(tx, request.id, person);
    const actor = { kind: "agent", id: asker } as const;
    await appendAudit(tx, { actor, ...aboutRequest(request, "inquiry_answered"), data: { inquiry: named.place } });
    tx.wake(INBOX_TOPIC);
    return stored;
  });
  if (result instanceof Refusal) throw result;
  return { request: result, place: named.place };
}
