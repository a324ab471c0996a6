import { yieldToEventLoop } from "../../../lib/event-loop.ts";
import type { ReadyJson } from "../../../lib/json/ready-json.ts";
import { printable, printableExactly, printableLines } from "../../../lib/printable.ts";
import {
  NO_DEADLINE,
  type Request as Ask,
  type RequestForm,
  type Audience,
  type DecidedBy,
  type Decider,
  type GuardedArguments,
  type Press,
  type Target,
} from "../../../requests/model/request.ts";
import {
  agentName,
  askerName,
  indented,
  isGuarded,
  optionsOf,
  shownTitle,
  viewBesideArguments,
  withEditedArguments,
} from "../../../requests/model/view.ts";
import { sentenceOf } from "../../../requests/model/sentence.ts";
import type { Language } from "../../../requests/model/sentence-words.ts";
import { riskOf, riskReasonsOf } from "../../../requests/model/risk.ts";
import { isAsked, isJoint, leavesOf, identitiesOf, isInformed, isPlace } from "../../../requests/model/audience.ts";
import type { InboxCounts } from "../../../requests/model/inbox.ts";
import { type CallOutcome, outcomeOf as callOutcomeOf } from "../../../requests/model/call-outcome.ts";
import { answersInquiries } from "../../../requests/model/inquiry.ts";
import { approvedCalls } from "../../../requests/model/plan.ts";
import type { RequestDetails } from "../../../requests/read/read-request.ts";
import { wireTime } from "../../http/question.ts";
import type {
  WireAskToPeople,
  WireDecidedBy,
  WireEditedCall,
  WireInboxAskLine,
  WireInboxCounts,
  WireInboxOutcome,
} from "../../../wire/inbox.ts";
import type { WireCallOutcome } from "../../../wire/a2h/request.ts";
import type { WireInquiredAsk } from "../../../wire/inquiry.ts";
import { drawnForEditor, drawnRows } from "../drawing/draw-thread.ts";

/** A reason holds 5,000 characters, words among them. */
const MOST_IN_REASON = 4000;

/** Nobody reads more before deciding. */
export const MOST_REASONS = 5;

/** A reply in which the arguments of calls are JSON already. */
export type WithArguments<Reply> = Reply extends readonly (infer Item)[]
  ? WithArguments<Item>[]
  : Reply extends object
    ? {
        [Name in keyof Reply]: Name extends "arguments" | "kwargs" | "evidence"
          ? ReadyJson | null
          : WithArguments<Reply[Name]>;
      }
    : Reply;

/** How people are called, by id. */
type Names = ReadonlyMap<string, string>;

/** The names that a list shows, and the language of its reader. */
interface ListReader {
  names: Names;
  language: Language;
  /** The stored outcomes of approved calls, by request. */
  callOutcomes: ReadonlyMap<string, CallOutcome>;
}

/** The person who sees an ask in full, when, and in which language; beside the calls of a plan, without its arguments. */
interface AskReader {
  who: Decider;
  now: number;
  language: Language;
  besideCalls?: boolean;
}

/**
 * Returns asks as lines of a list. Each looks at all arguments of a call, so others are served between two of them.
 */
export async function listedAsks<T extends object = object>(
  asks: readonly Ask[],
  { callOutcomes, ...reader }: ListReader,
  more: (request: Ask) => T = () => ({}) as T,
): Promise<(WithArguments<WireInboxAskLine> & T)[]> {
  const rows: (WithArguments<WireInboxAskLine> & T)[] = [];
  for (const request of asks) {
    const callOutcome = callOutcomes.get(request.id);
    rows.push({ ...(await listedAsk(request, { ...reader, callOutcome })), ...NOT_MARKED, ...more(request) });
    await yieldToEventLoop();
  }
  return rows;
}

/** A line as somebody sees it who has done nothing about it, and to whom nobody handed it. */
const NOT_MARKED = { alike: null, snoozed_until: null, handed_by: null, handed_on: null };

/** Returns an ask as a line of the list. */
async function listedAsk(
  request: Ask,
  { names, language, callOutcome }: Omit<ListReader, "callOutcomes"> & { callOutcome: CallOutcome | undefined },
): Promise<WithArguments<Omit<WireInboxAskLine, keyof typeof NOT_MARKED>>> {
  return {
    id: request.id,
    kind: request.form.kind,
    title: shownTitle(request),
    fn: request.form.kind === "approval" ? printableExactly(request.form.fn) : null,
    sentence: sentenceOf(request, language),
    risk: riskOf(request),
    agent: askerName(request),
    state: request.state,
    created_at: wireTime(request.createdAt),
    expires_at: request.expiresAt >= NO_DEADLINE ? null : wireTime(request.expiresAt),
    settled_at: request.settledAt === null ? null : wireTime(request.settledAt),
    being_decided: request.presses !== undefined,
    outcome: await outcomeOf(request, names, language),
    call_outcome: callOutcomeBody(request, callOutcome),
  };
}

/** Returns what became of an approved call, from its stored outcome; null where there is nothing to say. */
export function callOutcomeBody(request: Ask, stored: CallOutcome | undefined): WireCallOutcome | null {
  const outcome = callOutcomeOf(request, stored);
  if (!outcome) return null;
  const { state, at, words, resultDigest } = outcome;
  return {
    state,
    at: wireTime(at),
    ...(words !== null && { text: shown(words) }),
    ...(resultDigest !== null && { result_digest: resultDigest }),
  };
}

/** Returns how many asks wait of what is wanted, by kind, by when they are due and by agent. */
export function inboxCountsBody({ at, all, kinds, due, agents, newestAt, snoozed }: InboxCounts): WireInboxCounts {
  const byName = [...agents].map(([agent, count]) => ({ agent, count }));
  return {
    at: wireTime(at),
    all,
    kinds: { ...kinds },
    due: { ...due },
    agents: byName.toSorted((a, b) => (a.agent < b.agent ? -1 : 1)),
    newest_at: newestAt === null ? null : wireTime(newestAt),
    snoozed,
  };
}

/** Returns everything a person asked may see of an ask: never an address, nor what an agent keeps for itself. */
export async function wholeRequest(
  request: Ask,
  details: RequestDetails,
  { who, now, language, besideCalls = false }: AskReader,
): Promise<WithArguments<WireAskToPeople>> {
  const names = new Map([...details.humans].map(([id, { name }]) => [id, name]));
  const view = viewBesideArguments(request);
  const { form } = request;
  const isMine = (by: DecidedBy) => by.kind === "person" && by.id === who.person;
  return {
    ...(await listedAsk(request, { names, language, callOutcome: details.callOutcome })),
    risk_reasons: riskReasonsOf(request).slice(0, MOST_REASONS),
    run: view.run,
    words: view.words,
    arguments: form.kind === "approval" && !besideCalls ? await drawnRows(request, form.kwargs) : null,
    guarded: isGuarded(request),
    digest: view.digest,
    options: view.options.map(({ name, title, description, promptFill, interactive }) => ({
      name,
      title: title ?? name,
      description: description ?? null,
      prompt_fill: promptFill ?? null,
      interactive,
    })),
    listed: form.kind === "reply" && form.listed === true,
    schema: view.schema,
    editable: form.kind === "approval" && form.editable,
    kwargs: form.kind === "approval" && form.calls === undefined ? await writableArguments(form) : null,
    kwargs_schema: form.kind === "approval" && form.editable ? (form.kwargsSchema ?? null) : null,
    silence: view.silence,
    on_silence: view.onSilence,
    may_decide: request.state === "open" && isAsked(request.audience, who, form.kind, now - request.createdAt),
    needs: needsOf(request.audience),
    may_answer: leavesOf(request.audience).flatMap(({ target, afterMs }) => {
      const from = afterMs > 0 ? wireTime(request.createdAt + afterMs) : null;
      return asked(target, names, who).map((one) => ({ ...one, from }));
    }),
    decisions: details.decisions.map(({ decision }) => ({
      by: byOf(decision.by, names),
      mine: isMine(decision.by),
      approved: decision.approved,
      comment: decision.comment === undefined ? null : shown(decision.comment),
      at: wireTime(decision.at),
    })),
    presses: (request.presses ?? []).map((press) => shownPress(form, press, names, press.person === who.person)),
    answers_inquiries: answersInquiries(request),
    inquiries: inquiriesBody(request, names, who.person),
    refused: request.refused && {
      at: wireTime(request.refused.at),
      by: names.get(request.refused.responder) ?? null,
      via: request.refused.via,
      reason: request.refused.reason,
    },
    deliveries: deliveriesOf(details, names),
  };
}

/** Returns the questions to the agent of an ask, as this person sees them. */
export function inquiriesBody(
  { inquiries = [] }: Ask,
  names: Names,
  person: string | null,
): WireInquiredAsk["inquiries"] {
  return inquiries.map(({ person: asker, text, at, toldAt, answer, answeredAt }) => ({
    name: names.get(asker) ?? null,
    mine: asker === person,
    text: shown(text),
    at: wireTime(at),
    told_at: toldAt === undefined ? null : wireTime(toldAt),
    answer: answer === undefined ? null : shown(answer),
    answered_at: answeredAt === undefined ? null : wireTime(answeredAt),
  }));
}

/** Others learn nothing of a decision that can still be undone, but who makes one. */
function shownPress(
  form: RequestForm,
  { person, decision, at, dueAt }: Press,
  names: Names,
  mine: boolean,
): WireAskToPeople["presses"][number] {
  const own = mine ? decision : null;
  const calls = form.kind === "approval" && own?.kind === "approve" ? (own.upTo ?? form.calls) : undefined;
  return {
    name: names.get(person) ?? null,
    mine,
    approved: own?.kind === "approve" || own?.kind === "reject" ? own.kind === "approve" : null,
    approved_calls: calls ?? null,
    at: wireTime(at),
    until: wireTime(dueAt),
  };
}

function deliveriesOf(details: RequestDetails, names: Names): WireAskToPeople["deliveries"] {
  return details.deliveries
    .filter(({ kind }) => kind === "ask")
    .map(({ channel, person, state, changedAt }) => ({
      channel,
      name: person === null ? null : (names.get(person) ?? null),
      state,
      at: wireTime(changedAt),
    }));
}

/** Returns a call with other arguments as its approval would run it; `guard` says which of them hold a secret. */
export async function editedCall(
  request: Ask,
  { kwargs, guard }: { kwargs: string; guard?: GuardedArguments | null },
  language: Language,
): Promise<WithArguments<WireEditedCall>> {
  const call = withEditedArguments(request, kwargs, guard);
  return { sentence: sentenceOf(call, language), risk: riskOf(call), arguments: await drawnRows(call, kwargs) };
}

/** Returns how an ask ended, or null while it is open. */
async function outcomeOf(
  request: Ask,
  names: Names,
  language: Language,
): Promise<WithArguments<WireInboxOutcome> | null> {
  const { outcome } = request;
  if (!outcome) return null;
  const option = optionsOf(request).find(({ name }) => name === outcome.option);
  const { kwargs, guard } = outcome;
  const run = kwargs !== undefined && { kwargs, guard };
  const edited = outcome.edited && run ? await editedCall(request, run, language) : null;
  return {
    status: outcome.status,
    approved: outcome.approved ?? null,
    option: outcome.option === undefined ? null : printable(option?.title ?? outcome.option),
    comment: outcome.comment === undefined ? null : shown(outcome.comment),
    text: outcome.text === undefined ? null : shown(outcome.text),
    value: outcome.value === undefined ? null : shown(indented(outcome.value)),
    edited: outcome.edited ?? false,
    arguments: edited?.arguments ?? null,
    sentence: edited?.sentence ?? null,
    digest: outcome.digest ?? null,
    approved_calls: approvedCalls(request) || null,
    by: outcome.by ? byOf(outcome.by, names) : null,
  };
}

/** Somebody known by an address only has no name here, for names are checked and addresses are nobody's business. */
export function byOf({ kind, id, via }: DecidedBy, names: Names): WireDecidedBy {
  const called = kind === "agent" ? printable(agentName(id)) : kind === "policy" ? printable(id) : null;
  const name = kind === "person" ? (names.get(id) ?? null) : called;
  return { kind, name, via };
}

function asked(target: Target, names: Names, who: Decider): Omit<WireAskToPeople["may_answer"][number], "from">[] {
  const alone = { many: false, group: null };
  const person = (id: string) => ({ name: names.get(id) ?? null, me: id === who.person, ...alone });
  if (target.via === "person") {
    const group = target.group === undefined ? null : printable(target.group);
    return [{ ...person(target.person), channel: "inbox", group }];
  }
  if (target.via === "webhook") return target.people.map((id) => ({ ...person(id), channel: "webhook" }));
  if (isInformed(target)) return [];
  const me = isAsked({ kind: "leaf", target }, who, "approval", 0);
  return [{ ...alone, name: null, channel: target.via, me, many: asksSeveral(target) }];
}

/** True where one place in an audience can be filled by any of several people. */
function asksSeveral(target: Target): boolean {
  return target.via === "inbox" || isPlace(target) || identitiesOf(target).length > 1;
}

/** Returns how many of those asked must agree: one, all, some, or as a tree says that has more than one level. */
function needsOf(audience: Audience): WireAskToPeople["needs"] {
  const of = leavesOf(audience).length;
  const isFlat = audience.kind === "leaf" || nodesOf(audience).every((node) => node.kind === "leaf");
  if (isJoint(audience) && (!isFlat || audience.kind === "any")) return { rule: "several", of, least: 2 };
  if (audience.kind === "all") return { rule: "all", of, least: of };
  if (audience.kind === "quorum") return { rule: "some", of, least: audience.min };
  return { rule: "one", of, least: 1 };
}

function nodesOf(audience: Exclude<Audience, { kind: "leaf" }>): readonly Audience[] {
  return audience.kind === "any" ? audience.of.map(({ node }) => node) : audience.of;
}

/** Returns the arguments as JSON: to change the call, or to state in a reason what to ask for instead. */
async function writableArguments({
  kwargs,
  editable: isEditable,
}: RequestForm & { kind: "approval" }): Promise<ReadyJson | null> {
  if (!isEditable && kwargs.length > MOST_IN_REASON) return null;
  const { text, characters } = await drawnForEditor(kwargs);
  return isEditable || characters <= MOST_IN_REASON ? text : null;
}

function shown(text: string): string {
  return printableLines(text).join("\n");
}
