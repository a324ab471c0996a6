import type { AskId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { Stage, StageRecord } from "../model/ask.ts";
import { learnFrom } from "../respond/learn-from-ask.ts";
import * as verbs from "../respond/stages.ts";
import type { Machine } from "./machine.ts";
import { throughStages } from "./respond-stages.ts";

export type { Machine, MachineEvent, MachineRole } from "./machine.ts";

export interface Respond {
  /** Sees to an ask at once, on this node. */
  offer(askId: AskId): void;
  /** Sees to what nobody has seen to; returns whether there was anything. */
  step(signal: AbortSignal): Promise<boolean>;
  /** Resolves once nothing is under way. */
  settled(): Promise<void>;
}

const ASKS_PER_STEP = 100;
const TAKEN_FOR_MS = 5000;

/**
 * Offers asks to policy, cache and runner, in that order, and to people what none of them answered (spec/relay 7).
 * Nothing that matters is kept in memory: an ask whose server died is offered again, by any server.
 */
export function openRespond(ctx: Context, machine: Machine): Respond {
  const under = new Map<string, Promise<void>>();

  function see(id: string): Promise<void> {
    const running = under.get(id);
    if (running) return running;
    const work = respondTo(ctx, machine, id)
      .catch((err: unknown) => ctx.log.error({ err, ask_id: id }, "an ask could not be seen to; it is offered again"))
      .finally(() => under.delete(id));
    under.set(id, work);
    return work;
  }

  return {
    offer: (id) => void see(id),
    async step(signal) {
      const neglected = (await verbs.findNeglected(ctx, ASKS_PER_STEP)).filter((id) => !under.has(id));
      const taken = await Promise.all(
        neglected.map((id) => (signal.aborted ? undefined : verbs.takeAsk(ctx, id, TAKEN_FOR_MS))),
      );
      for (const held of taken) if (held) void see(held.ask.id);
      return taken.some((held) => held !== undefined);
    },
    async settled() {
      await Promise.all(under.values());
    },
  };
}

async function respondTo(ctx: Context, machine: Machine, id: string): Promise<void> {
  const task = await verbs.readTask(ctx, id);
  if (!task) return;
  const { held, job } = task;
  const { ask } = held;
  if (ask.status !== "PENDING")
    return learnFrom(ctx, ask, {
      policy: machine.policy(),
      learnAfter: machine.learnAfter,
      grantDays: machine.grantDays,
    });
  if (ask.addressedId !== null || ask.questionId !== null || ask.joinedTo !== null) return;

  const stages: StageRecord[] = [];
  let since = ctx.clock.monotonic();
  const pass = (stage: Stage, outcome: string): void => {
    const now = ctx.clock.monotonic();
    stages.push(verbs.stageLine(stage, outcome, now - since));
    machine.observe?.({ kind: "stage", stage, outcome, ask, job: job.job, ms: now - since });
    since = now;
  };
  await throughStages(ctx, machine, { held, job, stages, pass });
}
