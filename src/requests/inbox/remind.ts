import { findHuman } from "../../access/store/humans.ts";
import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { type Actor, appendAudit } from "../../core/store/audit.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { Refusal } from "../../refusals.ts";
import { aboutRequest } from "../create/create-request.ts";
import { endHeldIfDue } from "../end/end.ts";
import { settledRefusal } from "../end/finish.ts";
import { leavesOf } from "../model/audience.ts";
import { remindWords } from "../model/hand-on.ts";
import { lockRequest } from "../store/requests.ts";
import { tellAgain } from "./tell-again.ts";

/** A second reminder within so long tells nobody: two admins may press at once. */
const APART_MS = 60_000;

/**
 * Tells everybody who is asked of a request once more, on their channels and devices, for an admin. It changes neither
 * who may decide nor the deadline. Returns how many people are told: nobody within a minute of the last time.
 *
 * @throws {Refusal} `request_not_found`; `already_decided`, `request_expired` or `request_cancelled` once it is over
 */
export async function remind(ctx: Context, requestId: RequestId, by: Actor): Promise<{ told: number }> {
  const result = await transact(ctx, async (tx) => {
    const locked = await lockRequest(tx, requestId);
    if (!locked || locked.request.plan !== undefined) return new Refusal("request_not_found");
    const request = await endHeldIfDue(ctx, tx, locked);
    if (request.state !== "open") return settledRefusal(request);
    const { remindedAt = 0 } = request.wire as { remindedAt?: number };
    if (locked.now - remindedAt < APART_MS) return { told: 0 };
    const people = [
      ...new Set(leavesOf(request.audience).flatMap(({ target }) => (target.via === "person" ? [target.person] : []))),
    ];
    const name = by.kind === "human" ? ((await findHuman(tx, by.id))?.name ?? null) : null;
    const marked = { ...request, wire: { ...request.wire, remindedAt: locked.now } };
    await tellAgain(ctx, tx, marked, { people, words: remindWords(name) });
    await appendAudit(tx, { actor: by, ...aboutRequest(request, "reminded"), data: { people } });
    tx.wake(INBOX_TOPIC);
    return { told: people.length };
  });
  if (result instanceof Refusal) throw result;
  return result;
}
