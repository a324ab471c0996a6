/** The people's half of the model. */
import { credit, DAY, PERIODS, standingsOf, statsOf, ZONES } from "./model-points.ts";
import {
  type Ask,
  type Caller,
  type Expected,
  type Given,
  type Model,
  refused,
  tally,
  type Who,
  wireTime,
} from "./model-rules.ts";

type Headers = Expected["headers"];

const ok = (body: unknown, headers: Headers): Expected => ({ status: 200, body, headers });
/** The value that stands for everything that the contract leaves open. */
export const ANY = "<any>";

/** Returns the known person of a caller, or undefined. */
function known(model: Model, caller: Caller): Who | undefined {
  return caller.shows === "nothing" ? undefined : model.people.get(caller.name);
}

/**
 * Returns the person who comes, with the zone they are in now. Nothing is stored until `keep`, which returns the
 * credential header, if one is given.
 */
function enter(model: Model, caller: Caller): { who: Who; zone: string; keep(): Headers } {
  const held = known(model, caller);
  const marks = { views: new Map(), skips: new Map(), reports: new Set<string>() };
  const who: Who = held ?? { zone: "UTC", zoneAt: -Infinity, ledger: [], badges: [], ...marks };
  const { zone = who.zone } = caller;
  const moves = zone in ZONES && zone !== who.zone && model.now - who.zoneAt >= DAY;
  return {
    who,
    zone: moves ? zone : who.zone,
    keep(): Headers {
      if (moves) Object.assign(who, { zone, zoneAt: model.now });
      if (!held) model.people.set(caller.shows === "nothing" ? model.nextId("p") : caller.name, who);
      return held && caller.shows === "credential" ? {} : { "x-participant-token": "<token>" };
    },
  };
}

const answerOf = (ask: Ask, who: Who | undefined) => ask.responses.find((response) => response.who === who);

/** An answer as somebody sends it. */
export interface SentAnswer {
  id: string;
  given: Given;
  key?: string | undefined;
}

export function answer(model: Model, caller: Caller, { id, given, key }: SentAnswer): Expected {
  const { answersPerHour } = model.rules;
  const somebody = known(model, caller);
  const bucket = (who: Who | undefined) => `answers ${[...model.people].find(([, one]) => one === who)?.[0]}`;
  const peeked = somebody ? model.peek(bucket(somebody), answersPerHour) : {};

  const ask = model.asks.get(id);
  if (!ask) return model.unknown(id, peeked);
  if (caller.asAgent === ask.agent) return refused(403, { code: "SELF_ANSWER", message: ANY }, peeked);

  const { who, zone, keep } = enter(model, caller);
  const meaning = JSON.stringify([id, given.answer, given.selected_option, given.confidence]);
  const used = somebody && key !== undefined ? model.answerKeys.get(`${caller.name} ${key}`) : undefined;
  if (used && model.now < used.until) {
    if (used.meaning !== meaning) return model.mismatch(peeked);
    return ok(used.receipt, { ...peeked, ...keep(), "idempotency-replayed": "true" });
  }
  const before = answerOf(ask, who);
  if (before) {
    const details = { question_id: id, response_id: before.id };
    return refused(
      409,
      { code: "ALREADY_ANSWERED", message: "You have already answered this question.", details },
      peeked,
    );
  }
  if (model.isFinal(ask)) return model.closed(ask, peeked);
  const problems = problemsOf(ask, given);
  if (problems.length > 0) return invalid(problems, peeked);
  const tooMany = somebody && model.full(bucket(somebody), answersPerHour);
  if (tooMany) return tooMany;

  const issued = keep();
  const { now } = model;
  const tier = caller.shows === "credential" && somebody ? "returning" : "anonymous";
  const { confidence } = given;
  const answered = ask.type === "text" ? { answer: given.answer } : { selected_option: given.selected_option };
  const response = { ...answered, ...(confidence !== undefined && { confidence }) };
  const answersBefore = ask.responses.length;
  ask.responses.push({ id: model.nextId("r"), at: now, who, tier, given: response });
  if (ask.responses.length === ask.min_responses) ask.endedAt = now;
  const question = { ...ask, need: ask.min_responses, answersBefore };
  const firstView = who.views.get(id);
  const earned = credit(who.ledger, who.badges, model.rules, { at: now, zone, question, given: response, firstView });
  const made = ask.responses.at(-1)?.id ?? "";
  const receipt = { response_id: made, ...earned };
  if (key !== undefined && caller.shows !== "nothing") {
    model.answerKeys.set(`${caller.name} ${key}`, { meaning, receipt, until: now + DAY });
  }
  return { status: 201, body: receipt, headers: { ...model.count(bucket(who), answersPerHour), ...issued }, made };
}

interface Problem {
  message: string;
  field: string;
  constraint: string;
  [fact: string]: unknown;
}

function problemsOf(ask: Ask, given: Given): Problem[] {
  const problems: (Problem | null)[] = [];
  if (ask.type === "text") {
    const [field, { answer: text }] = ["answer", given];
    const message = "answer is required when the question is text";
    if (text === undefined || (typeof text === "string" && text.trim() === "")) {
      problems.push({ message, field, constraint: "required" });
    } else if (typeof text !== "string") {
      problems.push({ message: "answer must be a string", field, constraint: "type" });
    } else if ([...text].length > 5000) {
      const bounds = { constraint: "length", min: 1, max: 5000 };
      problems.push({ message: "answer must be between 1 and 5000 characters", field, ...bounds });
    }
  } else if (given.selected_option === undefined) {
    const message = "selected_option is required when the question is multiple_choice";
    problems.push({ message, field: "selected_option", constraint: "required" });
  } else {
    problems.push(wholeProblem("selected_option", given.selected_option, 0, (ask.options?.length ?? 0) - 1));
  }
  if (given.confidence !== undefined) problems.push(wholeProblem("confidence", given.confidence, 1, 5));
  return problems.filter((problem) => problem !== null);
}

function wholeProblem(field: string, value: unknown, min: number, max: number): Problem | null {
  if (!Number.isInteger(value)) return { message: `${field} must be an integer`, field, constraint: "type" };
  if (Number(value) >= min && Number(value) <= max) return null;
  return { message: `${field} must be between ${min} and ${max}`, field, constraint: "range", min, max };
}

/** The first problem in full, and where there are more of them, all. */
export function invalid(problems: readonly Problem[], headers: Headers): Expected {
  const facts = problems.map(({ message: _, ...rest }) => rest);
  const details = { ...facts[0], ...(problems.length > 1 && { errors: facts }) };
  return refused(400, { code: "VALIDATION_ERROR", message: problems[0]?.message ?? "", details }, headers);
}

/** A question as somebody of the crowd sees it. */
function offered(model: Model, ask: Ask) {
  const { prompt, type, options, audience } = ask;
  return {
    question_id: ask.id,
    prompt,
    type,
    ...(options && { options }),
    audience,
    responses_needed: model.isFinal(ask) ? 0 : ask.min_responses - ask.responses.length,
    created_at: wireTime(ask.createdAt),
    expires_at: wireTime(ask.expiresAt),
    points: type === "text" ? 10 : 5,
  };
}

export function view(model: Model, caller: Caller, id: string): Expected {
  const headers = model.readHeaders;
  const ask = model.asks.get(id);
  if (!ask) return model.unknown(id, headers);
  const who = known(model, caller);
  if (who && answerOf(ask, who)) {
    return ok({ ...offered(model, ask), can_answer: false, reason: "already_answered" }, headers);
  }
  if (model.isFinal(ask)) return model.closed(ask, headers);
  if (who && !who.views.has(id)) who.views.set(id, model.now);
  return ok({ ...offered(model, ask), can_answer: true }, headers);
}

export function results(model: Model, caller: Caller, id: string): Expected {
  const headers = model.readHeaders;
  const ask = model.asks.get(id);
  if (!ask) return model.unknown(id, headers);
  const who = known(model, caller);
  if (!who || !answerOf(ask, who)) return refused(403, { code: "ANSWER_FIRST", message: ANY }, headers);
  const { responses, min_responses: need } = ask;
  const counts = { required_responses: need, current_responses: responses.length };
  const shared = { ...tally(ask, responses), responses: responses.map(({ given }) => given) };
  const body = { question_id: id, status: model.statusOf(ask), ...counts, ...(ask.share_results && shared) };
  return ok(body, headers);
}

export function skip(model: Model, caller: Caller, id: string): Expected {
  if (!model.asks.has(id)) return model.unknown(id, {});
  const { who, keep } = enter(model, caller);
  who.skips.set(id, model.now + DAY);
  return { status: 204, body: {}, headers: keep() };
}

export function report(model: Model, caller: Caller, id: string): Expected {
  if (!model.asks.has(id)) return model.unknown(id, {});
  const { who, keep } = enter(model, caller);
  who.reports.add(id);
  return { status: 204, body: {}, headers: keep() };
}

/** The feed, in the order of ids instead of its own. */
export function feed(model: Model, caller: Caller, tags: readonly string[]): Expected {
  const headers = model.readHeaders;
  const who = known(model, caller);
  const isNews = (ask: Ask) =>
    !who || !(answerOf(ask, who) || who.reports.has(ask.id) || (who.skips.get(ask.id) ?? 0) > model.now);
  const asks = [...model.asks.values()].filter((ask) => !model.isFinal(ask) && isNews(ask));
  const wanted = asks.filter(({ audience }) => tags.length === 0 || audience.some((tag) => tags.includes(tag)));
  const questions = wanted.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map((ask) => offered(model, ask));
  return ok({ questions, next_cursor: null, last_created_at: ANY }, headers);
}

export function stats(model: Model, caller: Caller): Expected {
  const headers = model.readHeaders;
  const who = known(model, caller);
  const rank = who && standingsOf(ledgers(model), "all_time", model.now).find((one) => one.who === who)?.rank;
  return ok(
    { ...statsOf(who?.ledger ?? [], who?.badges ?? [], model.now, who?.zone ?? "UTC"), rank: rank ?? null },
    headers,
  );
}

const ledgers = (model: Model) => new Map([...model.people.values()].map((who) => [who, who.ledger]));

export function leaderboard(model: Model, caller: Caller, period: string, limit?: string): Expected {
  const headers = model.readHeaders;
  if (!PERIODS.some((one) => one === period)) return refused(400, { code: "VALIDATION_ERROR", message: ANY }, headers);
  const who = known(model, caller);
  const all = standingsOf(ledgers(model), period, model.now);
  const shown = all.slice(0, Math.min(100, Math.max(1, Number(limit ?? 10))));
  const own = all.find((one) => who !== undefined && one.who === who);
  const entries = shown.map(({ rank, points, answers, who: one }) => ({
    rank,
    points,
    answers,
    is_current_user: who !== undefined && one === who,
    name: null,
  }));
  return ok({ period, entries, your_rank: own?.rank ?? null, your_points: own?.points ?? 0, your_name: null }, headers);
}
