import type { Clock } from "../lib/clock.ts";
import { canonicalExact, membersOf } from "../lib/json/exact-json.ts";
import type { RpcJson } from "./messages.ts";
import type { Run } from "./run.ts";
import type { ClientCall } from "./tool-call.ts";

/** A client has so long for the next round of a call. */
const ROUND_MS = 3_600_000;
/** So many runs of one connection wait for their next round; the oldest of more is given up. */
const MOST_ROUNDS = 100;

/** The runs of one connection that were answered `input_required`, and wait for their next round. */
export interface Rounds {
  /** The run waits for the round that this result asks for. */
  keep(run: Run, result: RpcJson): void;
  /** Takes the run that a call continues: once, and only for the same tool, arguments and state. */
  take(call: ClientCall): Run | undefined;
  /** No round comes any more: gives up every run. */
  endAll(): Promise<void>;
}

interface Waiting {
  run: Run;
  requestState: string | undefined;
  /** The names of the requests to the client, which its responses have too. */
  requests: RpcJson;
  over: AbortController;
}

/** Opens the rounds of a connection. `giveUp` reports that the end of a run is unknown. */
export function openRounds(clock: Clock, giveUp: (run: Run) => Promise<void>): Rounds {
  const waiting = new Set<Waiting>();

  async function end(one: Waiting): Promise<void> {
    if (!waiting.delete(one)) return;
    one.over.abort();
    await giveUp(one.run);
  }

  async function expire(one: Waiting): Promise<void> {
    await clock.sleep(ROUND_MS, one.over.signal);
    await end(one);
  }

  return {
    keep(run, { requestState, inputRequests }) {
      const state = typeof requestState === "string" ? requestState : undefined;
      const over = new AbortController();
      const one = { run, requestState: state, requests: membersOf(inputRequests), over };
      const [oldest] = waiting;
      if (oldest && waiting.size >= MOST_ROUNDS) void end(oldest);
      waiting.add(one);
      void expire(one);
    },
    take({ name, args, nextRound }) {
      const asked = canonicalExact(args);
      const names = Object.keys(nextRound?.inputResponses ?? {});
      const matching = [...waiting].filter(
        ({ run, requestState, requests }) =>
          run.tool === name &&
          run.asked === asked &&
          requestState === nextRound?.requestState &&
          names.every((one) => Object.hasOwn(requests, one)),
      );
      const [first] = matching;
      // Of two runs that a person edited differently, it cannot be told which one goes on.
      if (!first || matching.some(({ run }) => canonicalExact(run.args) !== canonicalExact(first.run.args))) {
        return undefined;
      }
      waiting.delete(first);
      first.over.abort();
      return first.run;
    },
    async endAll() {
      await Promise.all([...waiting].map(end));
    },
  };
}
