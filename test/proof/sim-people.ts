import { digestOf } from "../../src/lib/json/canonical-json.ts";
import type { Caller } from "../../src/questions/model/participant.ts";
import { one } from "../../src/core/store/db.ts";
import { sql } from "../../src/core/store/sql.ts";
import type { Refusal } from "../../src/refusals.ts";
import { type RecordedAnswer, answerQuestion } from "../../src/questions/answer.ts";
import { identifyForRead } from "../../src/questions/identify.ts";
import { reportQuestion, skipQuestion } from "../../src/questions/mark.ts";
import { REPORT_REASONS } from "../../src/questions/model/question.ts";
import { type FeedBookmark, readFeed } from "../../src/questions/read-feed.ts";
import { viewQuestion } from "../../src/questions/view.ts";
import { call, insist, type CallResult } from "./sim-calls.ts";
import { type AnswerIntent, type AskEntry, judgeMissing } from "./sim-ledger.ts";
import { isOver, type SimWorld } from "./sim-world.ts";

/** Somebody of the crowd, and what their client shows of them. */
export interface Person {
  name: string;
  /** Sent with every request, unless a credential stands for it. */
  fingerprint?: string;
  /** Signed in. */
  person?: string;
  /** The credential of the last reply; a client that keeps none stays with its fingerprint. */
  credential: string | null;
  keepsCredential: boolean;
  network: string;
  /** Requests to write that were accepted, or got no reply. */
  writes: number;
  /** Asks this person did something about, on any device: the feed may keep them back. */
  touched: Set<string>;
}

/** Devices of one signed-in person are one person. */
const whoIs = ({ person, name }: Person): string => person ?? name;

export function callerOf({ fingerprint, person, credential, network }: Person): Caller {
  return {
    network,
    ...(person !== undefined && { person }),
    ...(credential !== null && { participant: credential }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

/** Reads the feed and answers, skips, reports or looks, until the story is over. */
export async function playPerson(world: SimWorld, person: Person): Promise<void> {
  const { time, dice, ledger } = world;
  while (!isOver(world)) {
    await time.sleep(dice.between(20, 1500));
    if (isOver(world)) return;
    const known = [...ledger.asks.keys()];
    // Most find their question in the feed; some come with an old link.
    const questionId = dice.chance(0.75) ? await findOpen(world, person) : known.length > 0 ? dice.pick(known) : null;
    const entry = questionId === null ? undefined : ledger.asks.get(questionId);
    if (!entry) continue;
    const doing = dice.int(100);
    if (doing < 6) await skip(world, person, entry);
    else if (doing < 12) await report(world, person, entry);
    else {
      if (doing < 40) await view(world, person, entry);
      if (doing < 20) await tryNonsense(world, person, entry);
      await answer(world, person, entry);
    }
  }
}

async function findOpen(world: SimWorld, person: Person): Promise<string | null> {
  const told = await call(world, `${person.name} reads the feed`, async ({ ctx }) => {
    const identity = await identifyForRead(ctx, callerOf(person));
    return readFeed(ctx, identity, { viewer: person.name, tags: [], limit: 5 });
  });
  const asks = told.kind === "done" ? (told.value?.asks ?? []) : [];
  return asks.length > 0 ? world.dice.pick(asks).id : null;
}

/** Answers an ask as people do: once, twice at a time, again if there was no reply. */
async function answer(world: SimWorld, person: Person, entry: AskEntry): Promise<void> {
  const { dice } = world;
  const given = ofPerson(world, person, entry) ?? newAnswer(world, person, entry);
  const copies = dice.chance(0.25) ? dice.between(2, 3) : 1;
  const tries = Array.from({ length: copies }, () =>
    insist(
      world,
      () => tryAnswer(world, person, entry, given),
      () => isOver(world) || dice.chance(0.4),
    ),
  );
  await Promise.all(tries);
  if (given.key !== null && dice.chance(0.25)) await tryAnswer(world, person, entry, given);
}

/** A client sends the same words again as long as it does not know what became of them. */
function ofPerson({ ledger }: SimWorld, person: Person, entry: AskEntry): AnswerIntent | undefined {
  return ledger.answers.find((one) => one.who === whoIs(person) && one.questionId === entry.id && one.known);
}

function newAnswer(world: SimWorld, person: Person, entry: AskEntry): AnswerIntent {
  const { dice, ledger } = world;
  const { form } = entry.intent;
  const intent: AnswerIntent = {
    questionId: entry.id,
    who: whoIs(person),
    person,
    // A fingerprint stands for nobody once its participant has shown a credential.
    known: person.keepsCredential ? person.credential !== null : (person.fingerprint ?? person.person) !== undefined,
    text: form.kind === "text" ? `${person.name} says ${ledger.answers.length}` : null,
    option: form.kind === "choice" ? dice.int(form.options.length) : null,
    confidence: dice.chance(0.5) ? dice.between(1, 5) : null,
    key: dice.chance(0.5) ? `answer-${ledger.answers.length}` : null,
    response: null,
    ids: new Set(),
    sent: 0,
    unknown: 0,
    open: true,
  };
  ledger.answers.push(intent);
  return intent;
}

/** Makes one request to answer, and judges the reply. */
export async function tryAnswer(
  world: SimWorld,
  person: Person,
  entry: AskEntry,
  given: AnswerIntent,
): Promise<CallResult<RecordedAnswer>> {
  const storeNow = world.store.now();
  given.sent += 1;
  person.touched.add(entry.id);
  const wasFull = entry.final?.state === "answered";
  const words = {
    ...(given.text !== null && { answer: given.text }),
    ...(given.option !== null && { selectedOption: given.option }),
    ...(given.confidence !== null && { confidence: given.confidence }),
  };
  const told = await call(
    world,
    `${person.name} answers ${entry.id} ${given.key === null ? "" : "with a key"}`,
    ({ ctx }) =>
      answerQuestion(ctx, {
        questionId: entry.id,
        caller: callerOf(person),
        given: words,
        asAgent: { withKey: false, names: [] },
        ...(given.key !== null && {
          idempotency: { key: given.key, bodyHash: digestOf({ questionId: entry.id, ...words }) },
        }),
      }),
  );
  if (told.kind === "unknown") given.unknown += 1;
  if (told.kind !== "refused") person.writes += 1;
  if (told.kind === "refused") judgeRefusal(world, entry, given, told.refusal);
  if (told.kind !== "done") return told;

  const { receipt, replayed, issue, person: answeredAs } = told.value;
  const { broken } = world;
  if (issue !== null && person.keepsCredential) person.credential = issue;
  if (given.response && given.known && given.response.id !== receipt.responseId) {
    broken("A4", `${person.name} answered ${entry.id} twice: ${given.response.id} and ${receipt.responseId}`);
  }
  if (replayed) {
    if (given.key === null) broken("I3", `${person.name} sent no key and got a replay`);
    const first = given.response?.receipt;
    if (first && JSON.stringify(first) !== JSON.stringify(receipt))
      broken("I3", `the replayed receipt of ${receipt.responseId} differs`);
  } else {
    world.figures.answered += 1;
    if (storeNow >= entry.expiresAt)
      broken("A5", `${entry.id} took ${receipt.responseId}, begun ${storeNow - entry.expiresAt} ms late`);
    if (wasFull) broken("A3", `${entry.id} took ${receipt.responseId} after it was settled`);
  }
  if (!given.response?.receipt || !given.known)
    given.response = { id: receipt.responseId, receipt, person: answeredAs };
  given.ids.add(receipt.responseId);
  if (!entry.acked.includes(receipt.responseId)) entry.acked.push(receipt.responseId);
  return told;
}

function judgeRefusal(
  world: SimWorld,
  entry: AskEntry,
  given: AnswerIntent,
  { code, details }: { code: string; details: Refusal["details"] },
): void {
  const { broken, store, rules, ledger } = world;
  switch (code) {
    case "question_not_found":
      return judgeMissing(world, entry, code);
    case "already_answered": {
      const id = String(details["response_id"]);
      if (given.response && given.response.id !== id)
        broken("A4", `${given.who} hears of ${id} and gave ${given.response.id}`);
      if (!given.response && given.unknown === 0 && given.sent < 2 && !othersUnderWay(ledger.answers, given)) {
        broken("A6", `${given.who} has not answered ${entry.id} and was told so`);
      }
      given.response ??= { id, receipt: null, person: null };
      given.ids.add(id);
      if (!entry.acked.includes(id)) entry.acked.push(id);
      return;
    }
    case "question_closed": {
      if (given.response && given.known)
        broken("A6", `${given.who} answered ${entry.id} and was told that it is closed`);
      const status = details["status"];
      const early = status === "EXPIRED" && !entry.cancelTried && store.now() < entry.expiresAt;
      if (early) broken("A5", `${entry.id} refused an answer ${entry.expiresAt - store.now()} ms before its deadline`);
      if (entry.final && (entry.final.state === "answered") !== (status === "CLOSED")) {
        broken("A1", `${entry.id} is ${entry.final.state} and told ${given.who} ${String(status)}`);
      }
      return;
    }
    case "rate_limited": {
      const { limits } = rules;
      const tiny =
        limits.answersPerHour < 10 || limits.newParticipantsPerHour < 15 || limits.answersPerNetworkPerHour < 50;
      if (!tiny) broken("I4", `${given.who} was told of a limit nobody can have reached`);
      return;
    }
    default:
      broken("A12", `${given.who} was refused by ${entry.id}: ${code}`);
  }
}

/** Two requests of one person at once: the reply to the one may show the other. */
function othersUnderWay(answers: readonly AnswerIntent[], given: AnswerIntent): boolean {
  return answers.some((other) => other !== given && other.who === given.who && other.questionId === given.questionId);
}

/** Sends an invalid answer, or one from the asker. It is refused, and nothing of it is stored. */
async function tryNonsense(world: SimWorld, person: Person, entry: AskEntry): Promise<void> {
  const { asker, form } = entry.intent;
  const byAsker = world.dice.chance(0.4);
  const nonsense =
    form.kind === "text"
      ? { answer: " ", selectedOption: 0 }
      : { answer: "nonsense", selectedOption: form.options.length };
  const told = await call(
    world,
    `${person.name} sends ${byAsker ? "an asker's answer" : "nonsense"} to ${entry.id}`,
    ({ ctx }) =>
      answerQuestion(ctx, {
        questionId: entry.id,
        caller: callerOf(person),
        given: byAsker ? { answer: "nonsense", selectedOption: 0 } : nonsense,
        asAgent: { withKey: false, names: byAsker ? ["open:somebody", asker] : [] },
        idempotency: { key: "nonsense", bodyHash: digestOf(entry.id) },
      }),
  );
  if (told.kind === "done")
    world.broken(byAsker ? "A11" : "A7", `${entry.id} took it from ${person.name}: ${JSON.stringify(nonsense)}`);
  if (told.kind === "refused" && byAsker && !["self_answer", "question_not_found"].includes(told.refusal.code)) {
    world.broken("A11", `${asker} answered ${entry.id} itself and was told ${told.refusal.code}`);
  }
}

async function view(world: SimWorld, person: Person, entry: AskEntry): Promise<void> {
  const { broken, ledger, store } = world;
  const storeNow = store.now();
  const given = ledger.answers.find((one) => one.who === whoIs(person) && one.questionId === entry.id);
  const wasAnswered = given?.known === true && given.response !== null;
  const told = await call(world, `${person.name} views ${entry.id}`, async ({ ctx }) => {
    const identity = await identifyForRead(ctx, callerOf(person));
    return viewQuestion(ctx, entry.id, identity, person.name);
  });
  if (told.kind === "refused" && told.refusal.code !== "question_closed") judgeMissing(world, entry, told.refusal.code);
  if (told.kind === "refused" && told.refusal.code === "question_closed" && wasAnswered) {
    broken("A6", `${person.name} answered ${entry.id} and cannot see it`);
  }
  if (told.kind !== "done") return;
  if (wasAnswered && !told.value.answered) broken("A14", `${person.name} answered ${entry.id} and is asked again`);
  if (told.value.question.state === "open" && storeNow >= entry.expiresAt)
    broken("T2", `${entry.id} was shown open after its deadline`);
}

async function skip(world: SimWorld, person: Person, entry: AskEntry): Promise<void> {
  person.touched.add(entry.id);
  const told = await call(world, `${person.name} skips ${entry.id}`, ({ ctx }) =>
    skipQuestion(ctx, entry.id, callerOf(person)),
  );
  noteWrite(person, told);
}

async function report(world: SimWorld, person: Person, entry: AskEntry): Promise<void> {
  person.touched.add(entry.id);
  const reason = world.dice.pick(REPORT_REASONS);
  const told = await call(world, `${person.name} reports ${entry.id}`, ({ ctx }) =>
    reportQuestion(ctx, entry.id, callerOf(person), { reason }),
  );
  noteWrite(person, told);
}

function noteWrite(person: Person, told: CallResult<{ issue: string | null }>): void {
  if (told.kind !== "refused") person.writes += 1;
  if (told.kind === "done" && told.value.issue !== null && person.keepsCredential) person.credential = told.value.issue;
}

/** Somebody new answers within a millisecond of the deadline, on the store's clock. */
export async function snipe(world: SimWorld, entry: AskEntry): Promise<void> {
  const { time, dice, store, people } = world;
  const aimMs = entry.expiresAt - store.now() + dice.between(-1, 1) - dice.int(world.weather.legMs + 1);
  await time.sleep(Math.max(0, aimMs));
  if (isOver(world)) return;
  const sniper: Person = {
    name: `sniper-${people.length}`,
    fingerprint: `sniper-${people.length}`,
    credential: null,
    keepsCredential: false,
    network: "nearby",
    writes: 0,
    touched: new Set(),
  };
  people.push(sniper);
  await tryAnswer(world, sniper, entry, newAnswer(world, sniper, entry));
}

/**
 * Somebody walks through the whole feed, page by page and from node to node: nothing that was open before the first page
 * and is open after the last one was left out, except what they did something about
 * (spec/invariants A12; spec/ask-a-human 4.2).
 */
export async function walkFeed(world: SimWorld, person: Person | null): Promise<void> {
  const { ledger, store } = world;
  const name = person?.name ?? "a stranger";
  const before = [...ledger.asks.keys()];
  const seen = new Set<string>();
  let from: FeedBookmark | undefined;
  do {
    const bookmark = from;
    const told = await call(world, `${name} walks through the feed`, async ({ ctx }) => {
      const identity = person && (await identifyForRead(ctx, callerOf(person)));
      return readFeed(ctx, identity, { viewer: name, tags: [], limit: 2, ...(bookmark && { from: bookmark }) });
    });
    // An hour may have passed on the store's clock.
    if (told.kind !== "done" || told.value === null) return;
    for (const ask of told.value.asks) seen.add(ask.id);
    from = told.value.next ?? undefined;
  } while (from && seen.size < 200);

  for (const questionId of before) {
    if (seen.has(questionId) || person?.touched.has(questionId)) continue;
    const { open } = await one<{ open: number }>(
      store.truth,
      sql`SELECT count(*) AS open FROM questions WHERE ask_id = ${questionId} AND state = 'open' AND held = 0
        AND expires_at > (SELECT parley_now())`,
    );
    if (open > 0) world.broken("A12", `${questionId} is open and was left out of the feed of ${name}`);
  }
}
