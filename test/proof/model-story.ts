import { isDeepStrictEqual } from "node:util";
import type { Pair, Request } from "./model-pair.ts";
import { Mismatch } from "./model-pair.ts";
import type { Ask, Caller, Expected, Given, Model, Question } from "./model-rules.ts";

/** How a question was sent under a key, so that it can be sent again. */
export interface Keyed {
  agent: string;
  key: string;
  body: object;
  question: Question;
}

/** One sequence of steps on the shared servers, with a cast of its own. */
export class Story {
  readonly model: Model;
  readonly pair: Pair;
  readonly agents: readonly string[];
  readonly people: readonly Pick<Caller, "name" | "shows">[];
  /** Ids of everything asked, in order. */
  readonly asked: string[] = [];
  readonly keyed: Keyed[] = [];
  readonly given: { who: Caller; id: string; given: Given; key: string | undefined }[] = [];
  /** The steps and their results, a line each. */
  readonly lines: string[] = [];
  private readonly beganAt: number;

  constructor(model: Model, pair: Pair, number: number) {
    this.model = model;
    this.pair = pair;
    this.agents = ["ana-bot", "ben-bot"].map((name) => `${name}-${number}`);
    this.people = [
      { name: `bo-${number}`, shows: "fingerprint" },
      { name: `cy-${number}`, shows: "credential" },
      { name: `dee-${number}`, shows: "nothing" },
    ];
    this.beganAt = model.now;
  }

  agent(number: number): string {
    return this.agents[number % this.agents.length] ?? "";
  }

  /** The question of this number, if it is certain that it is still kept. */
  ask(number: number): Ask | undefined {
    const ask = this.model.asks.get(this.asked[number % this.asked.length] ?? "");
    return ask && !this.model.isOutlived(ask) ? ask : undefined;
  }

  /** Time goes on by itself, so that no two things happen at once. */
  async tick(ms = 1): Promise<void> {
    await this.pair.advance(ms, true);
    this.model.now += ms;
  }

  /** Makes one request of both servers and of the model. */
  async exchange(request: Request, answer: () => Expected, from?: string): Promise<Expected> {
    // A question is asked on a whole second, because that is the time of creation that it shows.
    await this.tick(request.path === "/agent/questions" && request.body ? 1000 - (this.model.now % 1000) : 1);
    const expected = answer();
    const body = request.body === undefined ? "" : ` ${JSON.stringify(request.body)}`;
    const headers = Object.entries(request.headers ?? {}).map(([name, value]) => ` ${name}:${value}`);
    this.lines.push(`${this.time()} ${request.method} ${request.path}${headers.join("")}${body} -> ${expected.status}`);
    await this.pair.exchange(request, expected, from);
    return expected;
  }

  note(line: string): void {
    this.lines.push(`${this.time()} ${line}`);
  }

  private time(): string {
    return `+${((this.model.now - this.beganAt) / 1000).toFixed(3)}s`;
  }

  headersOf({ name, shows, zone, asAgent }: Caller): Record<string, string> {
    const isKnown = this.model.people.has(name);
    return {
      ...(shows === "credential" && isKnown && { "x-participant-token": `{token:${name}}` }),
      ...((shows === "fingerprint" || (shows === "credential" && !isKnown)) && { "x-fingerprint": `${name}-device` }),
      ...(zone !== undefined && { "x-time-zone": zone }),
      ...(asAgent !== undefined && { "x-agent-id": asAgent }),
    };
  }

  /** Everything is still as it should be, and each agent's stream tells of each change once. */
  async end(): Promise<void> {
    for (const agent of this.agents) {
      const own = this.asked.flatMap((id) => this.model.own(agent, id) ?? []);
      if (own.length === 0 || own.length > 100 || own.some((ask) => this.model.isOutlived(ask))) continue;
      const path = `/agent/questions?expand=meta&ids=${own.map(({ id }) => id).join(",")}`;
      await this.exchange({ method: "GET", path, headers: { "x-agent-id": agent } }, () => {
        const questions = own.map((ask) => this.model.shown(ask, { expand: true }));
        return { status: 200, body: { questions, not_found: [] }, headers: this.model.readHeaders };
      });
      if (this.model.now - this.beganAt < STREAMS_KEPT_MS) await this.checkStream(agent, own);
    }
  }

  private async checkStream(agent: string, own: readonly Ask[]): Promise<void> {
    const histories = new Map(own.map((ask) => [ask.id, this.model.history(ask)]));
    const count = [...histories.values()].reduce((sum, history) => sum + history.length, 0);
    for (const events of await this.pair.stream(agent, count)) {
      const numbers = events.map(({ id }) => id);
      if (numbers.some((number, i) => number !== i + 1))
        throw new Mismatch(`the stream of ${agent} goes ${numbers.join()}`);
      for (const [id, history] of histories) {
        const told = events.filter(({ body }) => body["question_id"] === id).map(({ body }) => body);
        if (isDeepStrictEqual(told, history)) continue;
        throw new Mismatch(
          `the stream told ${JSON.stringify(told)}\n    and should have told ${JSON.stringify(history)}`,
        );
      }
    }
  }
}

const STREAMS_KEPT_MS = 86_400_000;
