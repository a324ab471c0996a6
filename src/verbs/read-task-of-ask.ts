import type { Context } from "../context.ts";
import type { AddressedAsk } from "../model/addressed-ask.ts";
import type { Sandbox } from "../model/assignment.ts";
import { taskAskOf, type TaskAskWire } from "../model/task-asks.ts";
import { findAttemptOfJob } from "../store/aa-attempts.ts";
import { RELAY_DOOR } from "./relay-people.ts";

/** The task that an ask is about, and what of it; `wish` is what an agent at work on it wants to do or know. */
export interface TaskOfAsk {
  repo: string;
  id: string;
  attempt: number;
  about: TaskAskWire["about"] | "wish";
  /** Whose wish it is, and how they are kept apart from the machine; null where no agent wishes anything. */
  agent: string | null;
  sandbox: Sandbox | null;
}

/** Returns which task people are asked about; null where it is none. */
export async function readTaskOfAsk(ctx: Pick<Context, "db">, ask: AddressedAsk): Promise<TaskOfAsk | null> {
  const about = taskAskOf(ask);
  if (about) {
    const { repo, id, attempt } = about;
    return { repo, id, attempt, about: about.about, agent: null, sandbox: null };
  }
  const job = ask.door === RELAY_DOOR ? ask.wire["job_id"] : undefined;
  const attempt = typeof job === "string" ? await findAttemptOfJob(ctx.db, job) : undefined;
  if (!attempt) return null;
  const { repo, id, n, agent, sandbox } = attempt;
  return { repo, id, attempt: n, about: "wish", agent, sandbox };
}
