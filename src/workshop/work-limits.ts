import type { Clock } from "../lib/clock.ts";

export interface AttemptLimits {
  /** Milliseconds of work, waiting for people not counted. */
  workMs: number;
  /** Milliseconds without a word from the agent, waiting not counted either. */
  silentMs: number;
  turns: number;
  maxBudgetUsd: number | null;
}

/** Watches over what one attempt may use (spec/assignment 6). */
export interface WorkLimits {
  /** Notes that the agent has written something. */
  noteOutput(): void;
  /** How many calls, permissions and questions wait for people now; while there are any, both clocks stand still. */
  waitingFor(count: number): void;
  used(usage: { turns?: number | undefined; costUsd?: number | undefined }): void;
  workedMs(): number;
  /** The clocks stand still for good. */
  close(): void;
}

const LOOK_EVERY_MS = 1000;

/** Returns the watch, which calls `onOver` once, with a sentence, when a limit is passed. */
export function openWorkLimits(clock: Clock, limits: AttemptLimits, onOver: (why: string) => void): WorkLimits {
  const closed = new AbortController();
  let worked = 0;
  let silent = 0;
  let waiting = 0;
  let lookedAt = clock.monotonic();

  const over = (why: string) => {
    if (closed.signal.aborted) return;
    closed.abort();
    onOver(why);
  };
  const look = () => {
    if (closed.signal.aborted) return;
    const now = clock.monotonic();
    if (waiting === 0) {
      worked += now - lookedAt;
      silent += now - lookedAt;
    }
    lookedAt = now;
    if (worked >= limits.workMs) over(`The agent worked for ${duration(limits.workMs)}, which is the limit.`);
    else if (silent >= limits.silentMs) over(`The agent said nothing for ${duration(limits.silentMs)}.`);
  };
  const watch = async () => {
    while (!closed.signal.aborted) {
      const left = Math.min(limits.workMs - worked, limits.silentMs - silent);
      await clock.sleep(waiting > 0 ? LOOK_EVERY_MS : Math.min(LOOK_EVERY_MS, Math.max(1, left)), closed.signal);
      if (!closed.signal.aborted) look();
    }
  };
  void watch();

  return {
    noteOutput() {
      look();
      silent = 0;
    },
    waitingFor(count) {
      look();
      waiting = count;
    },
    used({ turns = 0, costUsd = 0 }) {
      if (turns > limits.turns) over(`The agent took more than ${limits.turns} turns, which is the limit.`);
      const { maxBudgetUsd } = limits;
      if (maxBudgetUsd !== null && costUsd > maxBudgetUsd) over(`The agent used more than ${maxBudgetUsd} USD.`);
    },
    workedMs() {
      look();
      return Math.round(worked);
    },
    close() {
      look();
      closed.abort();
    },
  };
}

function duration(ms: number): string {
  if (ms >= 120_000) return `${Math.round(ms / 60_000)} minutes`;
  return ms >= 1000 ? `${Math.round(ms / 1000)} seconds` : `${ms} ms`;
}
