import { yieldToEventLoop } from "../../src/lib/event-loop.ts";
import type { Dice } from "./sim-dice.ts";

/** Virtual time: it moves when nothing else can run, straight to the next thing somebody waits for. */
export interface SimTime {
  /** Milliseconds since the simulation began. */
  now(): number;
  /** Calls `run` when time has come to `when`; the function returned forgets it. */
  at(when: number, run: () => void): () => void;
  sleep(ms: number): Promise<void>;
  /**
   * Lets time pass until `done`.
   *
   * @throws {Error} when a transaction does not end, or nobody waits for anything and yet it is not done
   */
  runUntil(done: () => boolean): Promise<void>;
}

interface Appointment {
  when: number;
  order: number;
  run: (() => void) | null;
}

/** More turns of the event loop than any transaction needs: whatever still runs by then waits for itself. */
const MOST_TURNS = 2000;
/** More moments than any simulation has. A simulation that reaches it is in an endless loop. */
const MOST_MOMENTS = 400_000;

/** Opens virtual time; `busy` says whether the store is still at work. */
export function openSimTime(dice: Dice, busy: () => boolean): SimTime {
  const heap: Appointment[] = [];
  let now = 0;
  let order = 0;

  async function settle(): Promise<void> {
    let turns = 0;
    do {
      await yieldToEventLoop();
      turns += 1;
      if (turns > MOST_TURNS) throw new Error("a transaction does not end: it waits for itself");
    } while (busy());
  }

  function takeNextMoment(): Appointment[] {
    while (heap[0] && heap[0].run === null) pop(heap);
    const first = heap[0];
    if (!first) return [];
    const batch: Appointment[] = [];
    while (heap[0]?.when === first.when) {
      const one = pop(heap);
      if (one.run !== null) batch.push(one);
    }
    now = first.when;
    return dice.shuffle(batch);
  }

  const time: SimTime = {
    now: () => now,
    at(when, run) {
      const appointment: Appointment = { when: Math.max(now, when), order: (order += 1), run };
      push(heap, appointment);
      return () => void (appointment.run = null);
    },
    sleep: (ms) => new Promise((resolve) => void time.at(now + ms, resolve)),
    async runUntil(done) {
      for (let moments = 0; moments < MOST_MOMENTS; moments += 1) {
        await settle();
        if (done()) return;
        const batch = takeNextMoment();
        if (batch.length === 0) throw new Error("nobody waits for anything, and the story is not over");
        for (const { run } of batch) run?.();
      }
      throw new Error("time goes round in a circle");
    },
  };
  return time;
}

const before = (one: Appointment, other: Appointment) =>
  one.when < other.when || (one.when === other.when && one.order < other.order);

function push(heap: Appointment[], appointment: Appointment): void {
  let at = heap.length;
  heap.push(appointment);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Appointment;
    if (!before(appointment, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = appointment;
}

function pop(heap: Appointment[]): Appointment {
  const top = heap[0] as Appointment;
  const last = heap.pop() as Appointment;
  if (heap.length === 0) return top;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1] as Appointment, heap[child] as Appointment)) child += 1;
    if (!before(heap[child] as Appointment, last)) break;
    heap[at] = heap[child] as Appointment;
    at = child;
  }
  heap[at] = last;
  return top;
}
