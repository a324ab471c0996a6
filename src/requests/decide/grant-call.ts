import type { Context } from "../../context.ts";
import { findPerson } from "../../access/store/people.ts";
import type { Tx } from "../../core/store/db.ts";
import { storeGrant } from "../../policy/grants.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import type { Request } from "../model/request.ts";

const DAY_MS = 86_400_000;

/**
 * Stores a permission if the person who approved asked for it: the same function with exactly the same arguments, for the
 * same agent, for as many days as the settings allow; or what the chosen pattern covers, for the chosen time. It is part
 * of the transaction that approves the request. For every other outcome it does nothing.
 *
 * @throws {Refusal} `scope_missing` for a person who is no admin
 */
export async function grantCall(
  ctx: Pick<Context, "newId" | "addressed">,
  tx: Tx,
  { id: approvalId, asker, digest, form, wire, outcome }: Request,
): Promise<void> {
  const { standing, by } = outcome ?? {};
  if (!standing || form.kind !== "approval" || by?.kind !== "person" || wire["standing"] !== true) return;
  const input = policyInputOfCall({ asker, digest, form, wire });
  const chosen = standing === true ? { forMs: ctx.addressed.grantDays * DAY_MS } : standing;
  await storeGrant(ctx, tx, { input, approvalId, person: by.id, ...chosen });
}

/**
 * Returns whether a person may tick "always allow this" at a request: an approval that policy put to people and says may be
 * allowed for good, and a person who administers the server.
 */
export async function mayGrantCall(
  { db }: Pick<Context, "db">,
  { form, wire }: Pick<Request, "form" | "wire">,
  person: string,
): Promise<boolean> {
  if (form.kind !== "approval" || wire["standing"] !== true) return false;
  return (await findPerson(db, person))?.role === "admin";
}
