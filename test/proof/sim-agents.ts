import { digestOf } from "../../src/lib/json/canonical-json.ts";
import { TAGS } from "../../src/questions/model/question.ts";
import { cancelQuestion } from "../../src/questions/cancel.ts";
import { type Created, createQuestion } from "../../src/questions/create.ts";
import {
  type QuestionReading,
  listOwnQuestions,
  readQuestion,
  readQuestions,
  waitForQuestion,
} from "../../src/questions/read.ts";
import { call, insist, type CallResult } from "./sim-calls.ts";
import { type AskEntry, type AskIntent, judgeMissing, judgeWake } from "./sim-ledger.ts";
import type { SimNode } from "./sim-node.ts";
import { snipe } from "./sim-people.ts";
import { chargeRead } from "./sim-reads.ts";
import { followOne } from "./sim-streams.ts";
import { guarded, isOver, type SimWorld } from "./sim-world.ts";

const DAY_MS = 86_400_000;

/** Asks, watches, cancels, and asks again what it got no answer to, until the story is over. */
export async function playAgent(world: SimWorld, asker: string, untilMs: number): Promise<void> {
  const { time, dice } = world;
  const asked: Promise<void>[] = [];
  for (let number = 1; time.now() < untilMs; number += 1) {
    asked.push(guarded(world, pursue(world, newIntent(world, asker, number))));
    await time.sleep(dice.between(50, 4500));
    if (dice.chance(0.3)) await lookAround(world, asker);
  }
  await Promise.all(asked);
}

function newIntent(world: SimWorld, asker: string, number: number): AskIntent {
  const { dice } = world;
  const choice = dice.chance(0.4);
  const question = {
    asker,
    prompt: `${asker} wants to know, number ${number}`,
    form: choice ? ({ kind: "choice", options: ["10", "9", "__proto__"] } as const) : ({ kind: "text" } as const),
    audience: dice.shuffle([...TAGS]).slice(0, dice.between(1, 2)),
    need: dice.pick([1, 1, 2, 2, 3, 5]),
    timeoutSeconds: dice.pick([1, 2, 3, 5, 8, 12]),
  };
  // The agents use the same keys: a key is its principal's.
  const key = dice.chance(0.65) ? `key-${number}` : null;
  const intent: AskIntent = {
    ...question,
    key,
    bodyHash: digestOf(question),
    entries: [],
    unknown: 0,
    underWay: 0,
    rivalled: false,
  };
  world.ledger.intents.push(intent);
  return intent;
}

async function pursue(world: SimWorld, intent: AskIntent): Promise<void> {
  const { dice } = world;
  const copies = intent.key !== null && dice.chance(0.3) ? dice.between(2, 3) : 1;
  const told = await Promise.all(
    Array.from({ length: copies }, () =>
      insist(
        world,
        () => create(world, intent),
        () => isOver(world) || (intent.key === null && dice.chance(0.5)),
      ),
    ),
  );
  const entry = intent.entries[0];
  if (!entry || told.every(({ kind }) => kind === "refused")) return;

  const doing: Promise<void>[] = [];
  if (dice.chance(0.6)) doing.push(waitOn(world, entry));
  if (dice.chance(0.3)) doing.push(waitOn(world, entry));
  if (dice.chance(0.6)) doing.push(followOne(world, entry));
  if (dice.chance(0.5)) doing.push(snipe(world, entry));
  if (dice.chance(0.2)) doing.push(cancel(world, entry));
  if (intent.key !== null && dice.chance(0.5)) doing.push(repeat(world, intent));
  await Promise.all(doing.map((one) => guarded(world, one)));
}

/** Makes one request to create what is intended, and judges the reply. */
export async function create(world: SimWorld, intent: AskIntent): Promise<CallResult<Created>> {
  const { ledger, broken } = world;
  const { asker, prompt, form, audience, need, timeoutSeconds, key, bodyHash } = intent;
  const known = intent.entries.at(-1);
  const storeNow = world.store.now();
  const newAsk = { door: "ask-a-human", asker, prompt, form, audience, need, timeoutSeconds, wire: {} };
  intent.underWay += 1;
  const told = await call(world, `${asker} creates ${prompt} ${key ?? "without a key"}`, (node) =>
    createQuestion(node.ctx, newAsk, key === null ? undefined : { key, bodyHash }),
  );
  intent.underWay -= 1;
  if (told.kind === "unknown") intent.unknown += 1;
  if (told.kind === "refused") judgeRefusal(world, intent, known, told.refusal.code);
  if (told.kind !== "done") return told;

  const { question, replayed } = told.value;
  const before = ledger.asks.get(question.id);
  if (before && before.intent !== intent)
    broken("I2", `${asker} got ${question.id}, which stands for another question`);
  if (replayed && key === null) broken("I1", `${question.id} was replayed without a key`);
  if (replayed && before && storeNow - before.createdAt >= DAY_MS + 1000) {
    broken("I1", `${key} of ${asker} stood for ${question.id} for more than a day`);
  }
  const entry = before ?? ledger.add(intent, question);
  if (replayed) return told;

  world.figures.created += 1;
  // A replay may arrive before the reply it repeats, but that reply is given once.
  if (entry.toldAsNew) broken("I3", `${question.id} was created again instead of replayed`);
  entry.toldAsNew = true;
  return told;
}

function judgeRefusal(world: SimWorld, intent: AskIntent, known: AskEntry | undefined, code: string): void {
  const { broken, rules, ledger, store } = world;
  if (code === "idempotency_mismatch" && intent.rivalled) return;
  const keyLives = intent.key !== null && known !== undefined && store.now() - known.createdAt < DAY_MS - 1000;
  if (keyLives)
    return broken("I4", `${intent.asker} retried ${intent.key}, which made ${known.id}, and was told ${code}`);
  const own = ledger.intents.filter(({ asker }) => asker === intent.asker);
  const made = own.reduce((sum, one) => sum + one.entries.length + one.unknown + one.underWay, 0);
  const limit = code === "rate_limited" ? rules.limits.questionsPerHour : rules.limits.openQuestions;
  if (code !== "rate_limited" && code !== "quota_exceeded") broken("A12", `${intent.asker} was refused: ${code}`);
  else if (made < limit) broken("I4", `${intent.asker} was told ${code} with ${made} of ${limit}`);
}

/** Sends a used key again: with the same question, which brings the same ask, and with another, which is refused. */
async function repeat(world: SimWorld, intent: AskIntent): Promise<void> {
  const { time, dice, store, ledger } = world;
  await time.sleep(dice.between(0, 3000));
  if (isOver(world)) return;
  await create(world, intent);
  const entry = intent.entries.at(-1);
  if (!entry || intent.key === null) return;
  const prompt = `${intent.prompt}, or something else`;
  const other: AskIntent = { ...intent, prompt, bodyHash: digestOf(prompt), entries: [], unknown: 0, underWay: 0 };
  ledger.intents.push(other);
  intent.rivalled = other.rivalled = true;
  const told = await create(world, other);
  const keyLived = store.now() - entry.createdAt < DAY_MS - 1000;
  if (keyLived && told.kind === "done")
    world.broken("I2", `${intent.asker} reused ${intent.key} and got ${told.value.question.id}`);
}

async function waitOn(world: SimWorld, entry: AskEntry): Promise<void> {
  const { time, dice, ledger } = world;
  while (!entry.final && !isOver(world)) {
    const waitMs = dice.pick([0, 200, 1000, 3000, 6000]);
    const after = dice.chance(0.6) ? dice.int(entry.intent.need) : undefined;
    const taken = ledger.snapshot(entry);
    const signal = new AbortController();
    const told = await call(
      world,
      `${entry.intent.asker} waits ${waitMs} ms for ${entry.id} after ${after ?? "-"}`,
      async (node) => {
        await chargeRead(world, node, entry.intent.asker);
        const options = { waitMs, signal: signal.signal, ...(after !== undefined && { after }) };
        return waitForQuestion(node.ctx, entry.id, entry.intent.asker, options);
      },
    );
    signal.abort();
    if (told.kind === "done") judgeWait(world, entry, told.value, { taken, waitMs, after, node: told.node });
    if (told.kind === "refused") judgeMissing(world, entry, told.refusal.code);
    await time.sleep(waitMs === 0 ? dice.between(100, 1500) : dice.between(0, 30));
  }
}

function judgeWait(
  world: SimWorld,
  entry: AskEntry,
  reading: QuestionReading,
  given: {
    taken: ReturnType<SimWorld["ledger"]["snapshot"]>;
    waitMs: number;
    after: number | undefined;
    node: SimNode;
  },
): void {
  const { taken, after, node, waitMs } = given;
  const { question } = reading;
  world.ledger.judge(entry, reading, taken, node);
  const enough = after !== undefined && question.n > after;
  const tookMs = world.time.now() - taken.at;
  const disturbed = node.machine.disturbedUntil >= taken.at;
  if (!enough && question.state === "open" && !disturbed && node.ready && tookMs < waitMs) {
    world.broken("T4", `${node.name} ended a wait of ${waitMs} ms for ${entry.id} after ${tookMs} ms with nothing`);
  }
  if (!disturbed && tookMs > waitMs + 250)
    world.broken("T4", `a wait of ${waitMs} ms for ${entry.id} took ${tookMs} ms`);
  if (enough) judgeWake(world, entry, { version: Math.min(question.version, after + 2), node, since: taken.at });
  else if (question.state !== "open") judgeWake(world, entry, { version: question.version, node, since: taken.at });
}

async function cancel(world: SimWorld, entry: AskEntry): Promise<void> {
  const { time, dice, store } = world;
  const leftMs = entry.expiresAt - store.now();
  await time.sleep(dice.chance(0.5) ? Math.max(0, leftMs + dice.between(-2, 2)) : dice.between(0, 4000));
  if (isOver(world)) return;
  entry.cancelTried = true;
  const once = async () => {
    const told = await call(world, `${entry.intent.asker} cancels ${entry.id}`, (node) =>
      cancelQuestion(node.ctx, entry.id, entry.intent.asker),
    );
    if (told.kind === "done" && told.value.state === "open")
      world.broken("A1", `${entry.id} is open after it was cancelled`);
    if (told.kind === "done") entry.seen = Math.max(entry.seen, told.value.version);
    if (told.kind === "refused") judgeMissing(world, entry, told.refusal.code);
    return told;
  };
  await insist(world, once, () => isOver(world));
}

/** Looks at everything of its own, at somebody else's, and at what does not exist. */
async function lookAround(world: SimWorld, asker: string): Promise<void> {
  const { dice, ledger } = world;
  const own = [...ledger.asks.values()].filter((entry) => entry.intent.asker === asker);
  const taken = new Map(own.map((entry) => [entry.id, ledger.snapshot(entry)]));
  const ids = dice.shuffle(own.map(({ id }) => id)).slice(0, 20);
  const batch = dice.chance(0.5);
  const told = await call(world, `${asker} looks around`, async (node) =>
    batch ? readQuestions(node.ctx, ids, asker) : (await listOwnQuestions(node.ctx, asker, { limit: 20 })).readings,
  );
  if (told.kind === "done") {
    for (const reading of told.value) {
      const [entry, then] = [ledger.asks.get(reading.question.id), taken.get(reading.question.id)];
      if (reading.question.asker !== asker)
        world.broken("X1", `${asker} was shown ${reading.question.id} of ${reading.question.asker}`);
      if (entry && then) ledger.judge(entry, reading, then, told.node);
    }
    const shown = new Set(told.value.map(({ question }) => question.id));
    const missing = batch
      ? ids.map((id) => ledger.asks.get(id)).find((entry) => entry && !shown.has(entry.id))
      : undefined;
    if (missing) judgeMissing(world, missing, "not among those asked for");
  }
  const others = [...ledger.asks.values()].filter((entry) => entry.intent.asker !== asker);
  if (others.length === 0) return;
  const other = dice.pick(others);
  const peek = await call(world, `${asker} reads ${other.id}`, (node) => readQuestion(node.ctx, other.id, asker));
  if (peek.kind === "done") world.broken("X1", `${asker} read ${other.id} of ${other.intent.asker}`);
}
