import { median, percentile, runClosed, type Sample, type Step } from "./load.ts";
import type { Started } from "./servers.ts";

/** One thing that is measured, on one server, by so many clients. */
export interface Cell {
  name: string;
  clients: number;
  server: Started;
  step: Step;
  /** Creates the data that the steps need; its time is not measured. About `expected` requests will follow. */
  prepare?: (expected: number) => Promise<void>;
}

/** The measurements of all rounds of one cell. */
export interface Figures {
  /** Requests a second of each round. */
  rates: number[];
  latenciesMs: number[];
  /** The server's processor time for a request, of each round, in microseconds. */
  cpuUs: number[];
}

const LIKELY_PER_SECOND = 8000;

/** Measures cells in turns, so that whatever else the machine does falls on all of them alike. */
export class Measurements {
  readonly #figures = new Map<string, Figures>();
  readonly #times: { warmMs: number; ms: number };
  readonly #say: (line: string) => void;

  constructor(times: { warmMs: number; ms: number }, say: (line: string) => void) {
    this.#times = times;
    this.#say = say;
  }

  /** Runs every cell once in each round, forwards in odd rounds and backwards in even ones. */
  async interleave(rounds: number, cells: readonly Cell[]): Promise<void> {
    for (let round = 1; round <= rounds; round += 1) {
      const began = performance.now();
      for (const cell of round % 2 === 1 ? cells : cells.toReversed()) await this.#measure(cell);
      this.#say(`  round ${round} of ${rounds}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
    }
  }

  has(name: string, clients: number): boolean {
    return this.#figures.has(`${name} ${clients}`);
  }

  of(name: string, clients: number): Figures {
    const figures = this.#figures.get(`${name} ${clients}`);
    if (!figures) throw new Error(`${name} was not measured with ${clients} clients`);
    return figures;
  }

  async #measure(cell: Cell): Promise<void> {
    const id = `${cell.name} ${cell.clients}`;
    let figures = this.#figures.get(id);
    if (!figures) this.#figures.set(id, (figures = { rates: [], latenciesMs: [], cpuUs: [] }));
    const seconds = (this.#times.warmMs + this.#times.ms) / 1000;
    await cell.prepare?.(Math.ceil(Math.max(LIKELY_PER_SECOND, ...figures.rates.map((rate) => 2 * rate)) * seconds));

    let sent = 0;
    const cpuBefore = cell.server.cpuMs();
    const sample = await runClosed(cell.clients, this.#times, (client) => {
      sent += 1;
      return cell.step(client);
    });
    figures.cpuUs.push(((cell.server.cpuMs() - cpuBefore) / sent) * 1000);
    figures.rates.push(sample.perSecond);
    for (const latency of sample.latenciesMs) figures.latenciesMs.push(latency);
  }
}

export interface Ratio {
  /** The ratio of the medians of all rounds. */
  value: number;
  /** The smallest ratio of a single round; `most` is the largest. */
  least: number;
  most: number;
}

/** Returns how many times as fast one was as the other. */
export function ratioOf(one: Figures, other: Figures): Ratio {
  const each = one.rates.map((rate, round) => rate / (other.rates[round] ?? Number.NaN));
  return { value: median(one.rates) / median(other.rates), least: Math.min(...each), most: Math.max(...each) };
}

/** Returns 50th, 95th and 99th percentile, in ms. */
export function tailOf({ latenciesMs }: Pick<Sample, "latenciesMs">): [p50: number, p95: number, p99: number] {
  return [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.95), percentile(latenciesMs, 0.99)];
}
