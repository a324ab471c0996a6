import { readEvents, readingFrom } from "./race-http.ts";
import type { Dice } from "./sim-dice.ts";
import type { Log, StreamEvent } from "./race-log.ts";

/** Reads one agent's stream until stopped. */
export interface Follower {
  agent: string;
  events: readonly StreamEvent[];
  stop(): Promise<void>;
}

const SHORTEST_MS = 100;
const LONGEST_MS = 2500;

/** Follows an agent's stream from its first event; the connection is cut again and again and resumed on any node. */
export function followAgent(urls: readonly string[], log: Log, agent: string, dice: Dice): Follower {
  const events: StreamEvent[] = [];
  const stream = { agent, events, cuts: 0, problems: [] as string[] };
  log.streams.push(stream);
  const stopping = new AbortController();
  const ended = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted && stream.problems.length === 0) {
      const node = dice.int(urls.length);
      const cut = AbortSignal.timeout(dice.between(SHORTEST_MS, LONGEST_MS));
      const signal = AbortSignal.any([cut, stopping.signal]);
      const after = events.at(-1)?.seq ?? 0;
      try {
        for await (const event of readEvents(urls[node] ?? "", { "x-agent-id": agent }, after, signal)) {
          const isReset = event.event === "reset";
          const reading = isReset ? null : readingFrom(JSON.parse(event.data) as Record<string, unknown>);
          events.push({ seq: Number(event.id), reading, node, at: performance.now() });
        }
        stream.problems.push(`node ${node} ended the stream by itself after number ${events.at(-1)?.seq ?? 0}`);
      } catch (error) {
        if (!signal.aborted) stream.problems.push(`node ${node}: ${String(error)}`);
      }
      stream.cuts += 1;
    }
  }

  return {
    agent,
    events,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
