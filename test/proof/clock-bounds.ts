import type { Held, Open, Work } from "./clock-work.ts";
import { pause } from "./kill-steps.ts";

/** The observed lateness of deadlines, leases and waits. */
export interface Lateness {
  deadlines: number;
  leases: number;
  waits: number;
  /** The most that a deadline was early, and was late, in ms. */
  earlyMs: number;
  lateMs: number;
  leaseLateMs: number;
}

export interface Judge {
  /** The harness's own clock, which nobody sets. */
  nowMs: () => number;
  lateness: Lateness;
  onProblem: (says: string) => void;
}

/** A second, and the second to which the times of questions are cut. */
const EARLY_MS = 2000;
/** No read shows an ask open past its end; a second for the clock. */
const LATE_MS = 1000;
/** The time that a loop may take on a machine that is busy with other work. */
const LOOP_LATE_MS = 10_000;
const LOOK_EVERY_MS = 150;

/** Looks at something until it is over: neither before its time nor, by any look that began later, after it. */
export async function endsOnTime({ nowMs, lateness, onProblem }: Judge, work: Work, one: Open): Promise<void> {
  const early = one.sentMs + one.lastsMs;
  const late = one.heardMs + one.lastsMs;
  const lateMs = one.kind === "job" ? LOOP_LATE_MS : LATE_MS;
  lateness.deadlines += 1;
  for (;;) {
    const lookedMs = nowMs();
    const isOpen = await work.isOpen(one);
    if (isOpen !== true) {
      lateness.earlyMs = Math.max(lateness.earlyMs, early - nowMs());
      if (nowMs() < early - EARLY_MS) onProblem(`T3: a ${one.kind} ended early, by ${Math.round(early - nowMs())} ms`);
      return;
    }
    lateness.lateMs = Math.max(lateness.lateMs, lookedMs - late);
    if (lookedMs > late + lateMs) {
      return onProblem(`T3: a ${one.kind} ended late: it was open ${Math.round(lookedMs - late)} ms after its end`);
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Looks at a job whose holder says nothing more, until it is in line again. */
export async function leaseEndsOnTime({ nowMs, lateness, onProblem }: Judge, work: Work, held: Held): Promise<void> {
  lateness.leases += 1;
  for (;;) {
    const lookedMs = nowMs();
    const isHeld = (await work.stateOf(held.id)) === "RUNNING";
    const leftMs = held.sentMs + held.lastsMs - nowMs();
    const overMs = lookedMs - held.heardMs - held.lastsMs;
    if (!isHeld) {
      lateness.leaseLateMs = Math.max(lateness.leaseLateMs, -leftMs);
      if (leftMs > EARLY_MS) onProblem(`T3: a lease ended early, by ${Math.round(leftMs)} ms`);
      return;
    }
    if (overMs > LOOP_LATE_MS) {
      return onProblem(`T3: a lease ended late: it was held ${Math.round(overMs)} ms after its end`);
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Waits for something that does not end meanwhile. */
export async function waitsItsTime(
  { lateness, onProblem }: Judge,
  work: Work,
  one: Open,
  waitS: number,
): Promise<void> {
  lateness.waits += 1;
  const tookMs = await work.wait(one, waitS);
  if (tookMs < waitS * 1000 - 100) onProblem(`T4: a wait of ${waitS} s for a ${one.kind} ended after ${tookMs} ms`);
  if (tookMs > waitS * 1000 + LOOP_LATE_MS) onProblem(`T4: a wait of ${waitS} s for a ${one.kind} took ${tookMs} ms`);
}
