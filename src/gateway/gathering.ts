import type { Clock } from "../lib/clock.ts";
import { MOST_PLAN_CALLS } from "../requests/model/plan.ts";
import { RequestRefused, ServerUnreachable, type GateClient, type GatheredCall } from "./gate-client.ts";

/** A plan is made when no call has come for so long, and at the latest so long after its first. */
const QUIET_MS = 200;
const MOST_MS = 2000;

/** The calls of one connection that its client sends before the first of them is asked about. */
export interface Gathering {
  /** Returns the place of a call that has just come, among all of its connection. */
  place(): number;
  /** Resolves when people can be asked about the call: as a part of a plan, or alone where no plan was made. */
  join(call: GatheredCall, place: number, signal: AbortSignal): Promise<void>;
}

interface Gathered {
  call: GatheredCall;
  place: number;
  signal: AbortSignal;
}

interface Group {
  calls: Gathered[];
  asked: Promise<void>;
}

/** Opens the gathering of a connection; `gone` is aborted with it. */
export function openGathering(
  { clock, client, newRun }: { clock: Clock; client: GateClient; newRun: () => string },
  gone: AbortSignal,
): Gathering {
  let places = 0;
  let open: Group | undefined;

  async function ask(calls: readonly Gathered[]): Promise<void> {
    await untilQuiet(calls);
    if (open?.calls === calls) open = undefined;
    const waiting = calls.filter(({ signal }) => !signal.aborted).sort((one, other) => one.place - other.place);
    if (waiting.length < 2) return;
    try {
      await client.plan({ calls: waiting.map(({ call }) => call), run: newRun() }, gone);
    } catch (error) {
      // Each call asks by itself then: also where the server knows no plans, or this one is too large.
      const isNotified = error instanceof ServerUnreachable || error instanceof RequestRefused;
      if (!isNotified && !gone.aborted) throw error;
    }
  }

  async function untilQuiet(calls: readonly Gathered[]): Promise<void> {
    const end = clock.monotonic() + MOST_MS;
    for (let seen = 0; seen < calls.length && !gone.aborted;) {
      seen = calls.length;
      await clock.sleep(Math.min(QUIET_MS, end - clock.monotonic()), gone);
      if (clock.monotonic() >= end) return;
    }
  }

  return {
    place: () => (places += 1),
    join(call, place, signal) {
      const gathered = { call, place, signal };
      if (open && open.calls.length < MOST_PLAN_CALLS) open.calls.push(gathered);
      else {
        const calls = [gathered];
        open = { calls, asked: Promise.resolve() };
        open.asked = ask(calls);
      }
      return open.asked;
    },
  };
}
