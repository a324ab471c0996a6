import { createHash } from "node:crypto";
import { openKeyring } from "../../src/lib/secrets/keyring.ts";
import { one } from "../../src/core/store/db.ts";
import { sql } from "../../src/core/store/sql.ts";
import { readQuestion } from "../../src/questions/read.ts";
import { create, playAgent } from "./sim-agents.ts";
import { call, insist } from "./sim-calls.ts";
import { checkRest } from "./sim-checks.ts";
import { diceOf } from "./sim-dice.ts";
import { judgeMissing, openLedger } from "./sim-ledger.ts";
import { bootNode, newMachine, type SimNode } from "./sim-node.ts";
import { type Person, playPerson, tryAnswer, walkFeed } from "./sim-people.ts";
import { openSimStore, type SimStore } from "./sim-store.ts";
import { followAll, followFeedPicture } from "./sim-streams.ts";
import { openSimTime, type SimTime } from "./sim-time.ts";
import { watchDeadlines } from "./sim-watch.ts";
import { FINE, makeWeather, rulesOf } from "./sim-weather.ts";
import { guarded, isOver, type Figures, type SimWorld } from "./sim-world.ts";

/** The results of one seed. */
export interface SimResult {
  seed: number;
  /** The hash of every step. Equal seeds have equal hashes. */
  hash: string;
  /** Promises that did not hold, the first few. */
  broken: string[];
  figures: Partial<Figures>;
}

const NODES = 3;
const MOST_BROKEN = 8;
/** After the end every client may still come back once, and every stream be taken up again. */
const GRACE_MS = 4000;
const REST_WITHIN_MS = 60_000;

/** Plays the story of one seed, to its rest, and judges it. */
export async function runSeed(seed: number, print?: (line: string) => void): Promise<SimResult> {
  const hash = createHash("sha256");
  const broken: string[] = [];
  let judged = false;
  const dice = diceOf(seed);
  const time: SimTime = openSimTime(dice, () => store.isBusy());
  const store: SimStore = await openSimStore({
    time: () => time,
    dice,
    // Reads that see no uncommitted row are a connection of their own in a file, and a wait in memory.
    inFile: dice.chance(0.5),
    onSpin: (statement) => world.broken("R2", `somebody reads without end: ${statement}`),
  });
  const figures: Figures = {
    calls: 0,
    created: 0,
    answered: 0,
    refused: 0,
    unknown: 0,
    commits: 0,
    faults: 0,
    streamed: 0,
    latestExpiryMs: 0,
    latestWakeMs: 0,
  };
  const world: SimWorld = {
    seed,
    time,
    dice,
    store,
    weather: { ...FINE, legMs: dice.pick([0, 1, 3, 5]), wakeLegMs: dice.pick([0, 1, 10]) },
    rules: rulesOf(dice),
    nodes: [],
    people: [],
    ledger: openLedger(() => world),
    figures,
    underWay: 0,
    countsReads: true,
    phase: "story",
    trace(line) {
      // The remains of a broken story may still move.
      if (judged) return;
      const text = `${time.now()} ${line}`;
      hash.update(text).update("\n");
      print?.(text);
    },
    broken(check, says) {
      world.trace(`BROKEN ${check}: ${says}`);
      if (broken.length < MOST_BROKEN) broken.push(`${check} at ${time.now()} ms: ${says}`);
    },
  };

  try {
    let over = false;
    const story = play(world).finally(() => (over = true));
    await time.runUntil(() => over);
    await story;
  } catch (error) {
    world.broken("T4", error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  judged = true;
  await store.close().catch(() => undefined);
  return { seed, hash: hash.digest("hex"), broken, figures };
}

async function play(world: SimWorld): Promise<void> {
  const { dice } = world;
  const keyring = openKeyring(dice.bytes(32), dice.bytes);
  const boot = (slot: number): void => {
    const machine = world.nodes[slot]?.machine ?? newMachine(slot);
    if (!world.nodes[slot]?.alive) world.nodes[slot] = bootNode(world, machine, keyring);
  };
  for (let slot = 0; slot < NODES; slot += 1) boot(slot);
  world.people = cast(world);

  const storyMs = dice.between(4000, 12_000);
  const agents = Array.from({ length: dice.between(1, 3) }, (_, i) => `open:agent-${i}`);
  let resting = false;
  const playing = [
    ...agents.map((asker) => playAgent(world, asker, storyMs - 500)),
    ...agents.slice(0, 2).map((asker) => followAll(world, asker)),
    ...world.people.map((person) => playPerson(world, person)),
    followFeedPicture(world),
    stroll(world),
    watchDeadlines(world, () => resting),
  ].map((one) => guarded(world, one));
  await makeWeather(world, storyMs, boot);
  await heal(world, boot);
  await askAgain(world);
  await untilNothingMoves(world);

  world.phase = "rest";
  world.trace("rest");
  await readEverything(world);
  resting = true;
  await Promise.all(playing);
  await checkRest(world);
  world.trace(`end ${JSON.stringify(world.figures)}`);
}

/** The people of a story: known by fingerprint, by credential, by name, or not at all. */
function cast({ dice }: SimWorld): Person[] {
  const touchedBySignedIn = Array.from({ length: 3 }, () => new Set<string>());
  return Array.from({ length: dice.between(3, 8) }, (_, i): Person => {
    const kind = dice.int(10);
    return {
      name: `person-${i}`,
      ...(kind < 8 && { fingerprint: `device-${i}` }),
      // Two devices of the same person now and then.
      ...(kind === 8 && { person: `person_${i % 3}` }),
      credential: null,
      keepsCredential: kind < 4,
      network: `network-${i % 4}`,
      writes: 0,
      touched: (kind === 8 && touchedBySignedIn[i % 3]) || new Set(),
    };
  });
}

async function stroll(world: SimWorld): Promise<void> {
  while (!isOver(world)) {
    await world.time.sleep(world.dice.between(500, 4000));
    if (!isOver(world)) await walkFeed(world, world.dice.pick([null, ...world.people]));
  }
}

/** From here on nothing goes wrong, on any machine. */
async function heal(world: SimWorld, boot: (slot: number) => void): Promise<void> {
  const { time, nodes } = world;
  world.phase = "healed";
  for (const { machine } of [...nodes]) {
    boot(machine.slot);
    machine.awayUntil = machine.slowUntil = time.now();
  }
  const startedAt = time.now();
  while (world.underWay > 0 || nodes.some(({ ready }) => !ready)) {
    await time.sleep(50);
    if (time.now() - startedAt > REST_WITHIN_MS) {
      const lazy = nodes.filter(({ ready }) => !ready).map(({ name }) => name);
      return world.broken(
        "T4",
        `${world.underWay} requests are under way and ${lazy.join(", ") || "no node"} not ready long after the weather`,
      );
    }
  }
}

/** Sends each unknown request again until it gets a reply. There must be one result, whatever the first request did. */
async function askAgain(world: SimWorld): Promise<void> {
  const { ledger } = world;
  const never = () => false;
  for (const intent of [...ledger.intents]) {
    if (intent.key !== null && intent.unknown > 0) await insist(world, () => create(world, intent), never);
  }
  for (const intent of [...ledger.answers]) {
    const entry = ledger.asks.get(intent.questionId);
    if (!intent.known || intent.response || intent.unknown === 0 || !entry) continue;
    await insist(world, () => tryAnswer(world, intent.person, entry, intent), never);
    intent.open = false;
  }
}

async function untilNothingMoves(world: SimWorld): Promise<void> {
  const { time, store } = world;
  const startedAt = time.now();
  for (;;) {
    const { open } = await one<{ open: number }>(
      store.truth,
      sql`SELECT count(*) AS open FROM questions WHERE state = 'open'`,
    );
    if (open === 0) break;
    await time.sleep(100);
    if (time.now() - startedAt > REST_WITHIN_MS)
      return world.broken("T1", `${open} asks are open long after their deadlines`);
  }
  await time.sleep(GRACE_MS);
}

/** Every acknowledged ask is read on every node, and is the same everywhere. */
async function readEverything(world: SimWorld): Promise<void> {
  const { ledger, nodes } = world;
  for (const entry of ledger.asks.values()) {
    await Promise.all(nodes.map((node) => readOn(node, entry.id)));
  }

  async function readOn(node: SimNode, id: string): Promise<void> {
    const entry = ledger.asks.get(id);
    if (!entry) return;
    const taken = ledger.snapshot(entry);
    const told = await call(
      world,
      `${entry.intent.asker} reads ${id} at last`,
      ({ ctx }) => readQuestion(ctx, id, entry.intent.asker),
      { node },
    );
    if (told.kind === "done") ledger.judge(entry, told.value, taken, node);
    else if (told.kind === "refused") judgeMissing(world, entry, told.refusal.code);
    else world.broken("T4", `${node.name} said nothing of ${id} in fine weather`);
  }
}
