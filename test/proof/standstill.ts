import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../src/context.ts";
import { storeNow } from "../../src/core/store/db.ts";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { freeze, type FreezeScope, thaw } from "../../src/policy/freezes.ts";
import { askPeople } from "../support/addressed.ts";
import { ROOMY } from "../support/contract.ts";
import { type DatabaseName, DATABASES, type Node, openWorld, type World } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { type Dice, diceOf } from "./sim-dice.ts";
import { STANDSTILL_RULES, type StandstillLoad, startStandstillLoad } from "./standstill-load.ts";

/** The freezes on each database. */
const ROUNDS = 8;
const LONG_ROUNDS_PER_HOUR = 3000;
/** A world is left after so many freezes, so that what nobody decides does not pile up. */
const ROUNDS_OF_A_WORLD = 50;
/** The allowed calls between two freezes, at the least, and the most time that they may take. */
const CALLS_BETWEEN = 10;
const CALLS_WITHIN_MS = 60_000;
const FROZEN_MS = { least: 30, most: 150 };
/** The longest time from the press to the last call that is allowed (spec/security 3.1). */
const LAST_WITHIN_MS = 1000;
const MOST_TOLD = 20;
const REPEAT = "npm run prove -- standstill";
const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const ENV = {
  ...ROOMY,
  PARLEY_INBOX_UNDO_SECONDS: "1",
  PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
  PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000000",
  PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "1000000",
};

interface Story {
  freezes: number;
  allowed: Record<string, number>;
  /** From the press to the last allowed call by the store's clock, one for each freeze that had any. */
  lastMs: number[];
  /** Of transactions that were under way when the freeze was acknowledged. */
  underWay: number;
  underWayMs: number;
  /** Asked for after the freeze was acknowledged, and allowed. */
  after: number;
  deadlines: number;
}

/**
 * Agents are frozen again and again under load, on two servers of PostgreSQL and on one of SQLite: nothing is allowed
 * after the freeze is acknowledged, by a rule, a grant, a person, a press, a claim or a gate, and deadlines move by
 * exactly the time of the freeze (spec/security 3.1).
 */
export const standstill: Harness = {
  name: "standstill",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = firstSeedOf(options);
    const repeat = `${REPEAT} --seed ${seed}`;
    const failures: Failure[] = [];
    const figures: Record<string, number | string> = { seed };
    for (const on of DATABASES) {
      const onProblem = (says: string) => void failures.push({ says: `on ${on}: ${says}`, repeat });
      const story = await tellStory(on, { ...options, seed }, onProblem);
      if (options.boxMs === undefined && story.lastMs.length === 0) onProblem("nothing was under way at any freeze");
      Object.assign(figures, figuresOf(on, story));
      if (options.stopAtFirstFailure === true && failures.length > 0) break;
    }
    return { figures, failures: failures.slice(0, MOST_TOLD) };
  },
};

async function tellStory(
  on: DatabaseName,
  options: HarnessOptions & { seed: number },
  onProblem: (says: string) => void,
): Promise<Story> {
  const { longHours, boxMs = Infinity, stopAtFirstFailure, trace, seed } = options;
  const rounds = longHours ? Math.ceil((LONG_ROUNDS_PER_HOUR * longHours) / DATABASES.length) : ROUNDS;
  const over = performance.now() + boxMs / DATABASES.length;
  const story: Story = { freezes: 0, allowed: {}, lastMs: [], underWay: 0, underWayMs: 0, after: 0, deadlines: 0 };
  let problems = 0;
  const told = (says: string): void => {
    problems += 1;
    onProblem(says);
  };
  const isOver = () => performance.now() > over || (stopAtFirstFailure === true && problems > 0);
  const dice = diceOf(seed);
  while (story.freezes < rounds && !isOver()) {
    await using world = await openWorld({ on, env: ENV, running: true });
    writeFileSync(world.config.relay.policyFile, STANDSTILL_RULES);
    await world.server.reload();
    const nodes: Node[] = on === "postgres" ? [world, await world.addNode()] : [world];
    const load = await startStandstillLoad(world, nodes, told);
    try {
      for (let i = 0; i < ROUNDS_OF_A_WORLD && story.freezes < rounds && !isOver(); i += 1) {
        await freezeOnce({ world, nodes, load, dice, story, told });
        if (trace) console.error(`standstill, ${on}: ${story.freezes}, ${story.lastMs.at(-1)} ms`);
      }
    } finally {
      await load.stop();
    }
    for (const { what } of load.allowed) story.allowed[what] = (story.allowed[what] ?? 0) + 1;
    for (const { check, offenders } of await examineStore(world.server.ctx, { quick: false })) {
      if (offenders.length > 0) told(`doctor: ${check}: ${offenders.join(", ")}`);
    }
  }
  return story;
}

interface Scene {
  world: World;
  nodes: readonly Node[];
  load: StandstillLoad;
  dice: Dice;
  story: Story;
  told: (says: string) => void;
}

/** Freezes on one server at a random moment, looks at what is still allowed, and thaws on one of them. */
async function freezeOnce({ world, nodes, load, dice, story, told }: Scene): Promise<void> {
  const { ctx } = world.server;
  await someCalls(load, told);
  await sleep(dice.between(0, 80));
  const scope: FreezeScope = dice.pick([
    { scope: "all", subject: "" },
    { scope: "agent", subject: load.asker },
    { scope: "person", subject: load.owner },
  ] as const);
  const deadline = await askPeople(ctx, { asker: load.asker });
  const from = load.allowed.length;
  const pressedAt = await storeNow(ctx.db);
  const { id, madeAt } = await freeze(dice.pick(nodes).server.ctx, scope, ADMIN);
  const acknowledgedAt = await storeNow(ctx.db);
  const acknowledged = performance.now();
  const young = await askPeople(ctx, { asker: load.asker });
  await sleep(dice.between(FROZEN_MS.least, FROZEN_MS.most));
  const entries = await allowedSince(ctx, pressedAt);
  const late = load.allowed.slice(from).filter(({ sentAt }) => sentAt > acknowledged);
  await thaw(dice.pick(nodes).server.ctx, id, ADMIN);

  story.freezes += 1;
  const last = entries.at(-1);
  if (last) {
    story.lastMs.push(last.at - pressedAt);
    if (last.at - pressedAt > LAST_WITHIN_MS)
      told(`frozen: ${last.action} came ${last.at - pressedAt} ms after the press`);
  }
  const underWay = entries.filter(({ at }) => at > acknowledgedAt);
  story.underWay += underWay.length;
  story.underWayMs = Math.max(story.underWayMs, ...underWay.map(({ at }) => at - acknowledgedAt));
  story.after += late.length;
  for (const { what } of late) told(`frozen: ${what} was asked for after the freeze, and allowed`);

  const thawedAt = await thawOf(ctx, id);
  for (const { request, from: since } of [
    { request: deadline, from: madeAt },
    { request: young, from: young.createdAt },
  ]) {
    story.deadlines += 1;
    const movedMs = (await expiryOf(ctx, request.id)) - request.expiresAt;
    if (movedMs !== thawedAt - since) {
      told(`frozen: a deadline moved by ${movedMs} ms, while its agent was frozen for ${thawedAt - since} ms`);
    }
  }
}

/** Waits until enough was allowed since the thaw on each server. */
async function someCalls({ allowed }: StandstillLoad, told: (says: string) => void): Promise<void> {
  const from = allowed.length;
  const until = performance.now() + CALLS_WITHIN_MS;
  while (allowed.length < from + CALLS_BETWEEN && performance.now() < until) await sleep(5);
  if (allowed.length < from + CALLS_BETWEEN) told("frozen: after the thaw nothing is allowed any more");
}

/** Returns what the record has of allowed calls from this moment on, the oldest first. */
async function allowedSince({ db }: Pick<Context, "db">, from: number): Promise<{ action: string; at: number }[]> {
  return db.all(
    sql`SELECT action, at FROM audit WHERE at >= ${from} AND action IN ('function_call.approved', 'function_call.claimed',
      'function_call.used', 'gate_call.started') ORDER BY at, id`,
  );
}

async function thawOf({ db }: Pick<Context, "db">, id: string): Promise<number> {
  const rows = await db.all<{ at: number; data: string }>(
    sql`SELECT at, data FROM audit WHERE action = 'freeze.ended' ORDER BY id DESC LIMIT 1`,
  );
  const [row] = rows.filter(({ data }) => data.includes(id));
  return row?.at ?? NaN;
}

async function expiryOf({ db }: Pick<Context, "db">, requestId: string): Promise<number> {
  const [row] = await db.all<{ at: number }>(sql`SELECT expires_at AS at FROM requests WHERE ask_id = ${requestId}`);
  return row?.at ?? NaN;
}

function figuresOf(on: DatabaseName, story: Story) {
  const { freezes, allowed, lastMs, underWay, underWayMs, after, deadlines } = story;
  const sorted = [...lastMs].sort((one, other) => one - other);
  const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return {
    [`freezes on ${on}`]: freezes,
    [`with calls under way on ${on}`]: lastMs.length,
    [`press to last p50/p99/most on ${on}`]: `${[0.5, 0.99, 1].map(share).join("/")} ms`,
    [`ended after the freeze on ${on}`]: `${underWay}, at most ${underWayMs} ms`,
    [`asked for and allowed after on ${on}`]: after,
    [`deadlines on ${on}`]: deadlines,
    ...Object.fromEntries(Object.entries(allowed).map(([what, count]) => [`${what} on ${on}`, count])),
  };
}
