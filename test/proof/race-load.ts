import { OPEN_QUESTIONS } from "./race-nodes.ts";
import type { By, Door, Question } from "./race-door.ts";
import type { Dice } from "./sim-dice.ts";
import type { AskFacts, Log, Operation } from "./race-log.ts";
import { followAgent, type Follower } from "./race-streams.ts";

export interface LoadOptions {
  urls: readonly string[];
  log: Log;
  door: Door;
  dice: Dice;
  /** The load ends with so many operations, or after so long. */
  operations: number;
  boxMs: number;
}

const CLIENTS = 64;
const HOT_ASKS = 10;
const HOT_KEYS = 5;
const ASKERS = 5;
const PEOPLE = 60;
const HOT_PEOPLE = 10;
/** After how many further tries an ask that is settled makes room for another, and so on. */
const TRIES_AFTER_END = 8;
const USES_OF_A_KEY = 16;
const TRIES_OVER_LIMIT = 5;

interface Slot {
  asker: number;
  ask: AskFacts | null;
  /** The count, as far as the clients know. */
  n: number;
  isFinal: boolean;
  triesAfterEnd: number;
  isRenewing: boolean;
}

interface Person {
  name: string;
  refused: number;
}

/**
 * Sixty-four clients do as they like, on three nodes, with ten hot asks, five hot keys and a few hot people. Returns
 * the followers of every agent's stream, still reading.
 */
export async function runLoad(options: LoadOptions): Promise<Follower[]> {
  const { urls, log, door, dice } = options;
  const followers: Follower[] = [];
  const until = performance.now() + options.boxMs;
  let names = 0;
  const newName = (kind: string) => `${kind}-${(names += 1)}`;

  const newAsker = (): string => {
    const name = newName("asker");
    followers.push(followAgent(urls, log, name, dice));
    return name;
  };
  const askers = Array.from({ length: ASKERS }, newAsker);
  const people: Person[] = Array.from({ length: PEOPLE }, () => ({ name: newName("person"), refused: 0 }));
  const keys = Array.from({ length: HOT_KEYS }, () => ({ agent: newName("keyed"), uses: 0 }));
  const slots = Array.from({ length: HOT_ASKS }, (_, i): Slot => ({
    asker: i % ASKERS,
    ask: null,
    n: 0,
    isFinal: false,
    triesAfterEnd: 0,
    isRenewing: false,
  }));

  const newQuestion = (): Question => ({
    need: dice.pick([1, 2, 5, 20, 50]),
    options: dice.chance(0.5) ? 2 + dice.int(4) : 0,
    timeoutSeconds: 60 + dice.int(60),
  });
  const anyone = (): Person => people[dice.int(dice.chance(0.4) ? HOT_PEOPLE : PEOPLE)] as Person;

  async function renew(slot: Slot, by: By): Promise<void> {
    slot.isRenewing = true;
    const made = await door.create(by, askers[slot.asker] as string, newQuestion());
    if (made.status === 429) askers[slot.asker] = newAsker();
    const ask = log.asks.get(made.ask ?? "");
    if (ask) Object.assign(slot, { ask, n: 0, isFinal: false, triesAfterEnd: 0 });
    slot.isRenewing = false;
  }

  /** Takes what a reply says of the slot's ask. */
  function learn(slot: Slot, ask: AskFacts, done: Operation): void {
    if (slot.ask?.id !== ask.id) return;
    if (done.kind === "answer" && done.status === 410) slot.isFinal = true;
    const seen = "readings" in done ? done.readings.find((reading) => reading.ask === ask.id) : undefined;
    if (seen) slot.n = Math.max(slot.n, seen.n);
    if (seen?.status === "CLOSED" || seen?.status === "EXPIRED") slot.isFinal = true;
  }

  async function answer(by: By, person: Person, ask: AskFacts): Promise<Operation> {
    const key = dice.chance(0.08) ? `once-${ask.id}` : undefined;
    // An impatient page sends the same answer several times at once, over whatever node it reaches.
    const copies = dice.chance(0.04) ? 3 : 1;
    const done = await Promise.all(
      Array.from({ length: copies }, (_, i) =>
        door.answer({ ...by, node: (by.node + i) % urls.length }, person.name, ask, key),
      ),
    );
    if (done.some(({ status }) => status === 429) && (person.refused += 1) > TRIES_OVER_LIMIT) {
      Object.assign(person, { name: newName("person"), refused: 0 });
    }
    return done[0] as Operation;
  }

  async function useKey(by: By): Promise<void> {
    const hot = dice.pick(keys);
    const variant = dice.chance(0.15) ? 1 : 0;
    await door.create(by, hot.agent, { need: 3, options: 2, timeoutSeconds: 60, variant }, "once");
    hot.uses += 1;
    if (hot.uses > USES_OF_A_KEY) Object.assign(hot, { agent: newName("keyed"), uses: 0 });
  }

  /** An agent asks for more at once than it may have open, ends some, and goes on to the end of its hour. */
  async function overrun(by: By): Promise<void> {
    const agent = newName("burst");
    const question = { need: 1, options: 0, timeoutSeconds: 3600 };
    for (let wave = 0; wave < 3; wave += 1) {
      const made = await Promise.all(
        Array.from({ length: OPEN_QUESTIONS + 4 }, (_, i) =>
          door.create({ ...by, node: i % urls.length }, agent, question),
        ),
      );
      const open = made.flatMap(({ ask }) => log.asks.get(ask ?? "") ?? []);
      await Promise.all(open.map((ask, i) => door.cancel({ ...by, node: i % urls.length }, ask)));
    }
  }

  async function step(client: number): Promise<void> {
    const by = { client, node: dice.int(urls.length) };
    const slot = dice.pick(slots);
    const { ask } = slot;
    if (!slot.isRenewing && (!ask || slot.triesAfterEnd > TRIES_AFTER_END)) return renew(slot, by);
    if (!ask) return void (await door.feed(by, anyone().name));
    if (slot.isFinal) slot.triesAfterEnd += 1;

    const roll = dice.int(10_000) / 10_000;
    if (roll < 0.6) return learn(slot, ask, await answer(by, anyone(), ask));
    if (roll < 0.74) return learn(slot, ask, await door.poll(by, ask));
    if (roll < 0.8) return learn(slot, ask, await door.wait(by, ask, 100 + dice.int(1400), slot.n));
    if (roll < 0.88) return useKey(by);
    if (roll < 0.92) return void (await door.feed(by, anyone().name));
    if (roll < 0.94) return void (await door.stats(by, anyone().name));
    if (roll < 0.945) return learn(slot, ask, await door.cancel(by, ask));
    if (roll < 0.9455) return overrun(by);
    if (roll < 0.96) {
      const own = slots.flatMap((other) => (other.ask?.agent === ask.agent ? [other.ask.id] : []));
      return learn(slot, ask, await door.pollMany(by, ask.agent, own));
    }
    // One of the latest asks, by any agent.
    const late = [...log.asks.values()].slice(-20);
    await answer(by, anyone(), late.length > 0 ? dice.pick(late) : ask);
  }

  async function client(number: number): Promise<void> {
    while (performance.now() < until && log.operations.length < options.operations) await step(number);
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)));
  return followers;
}
