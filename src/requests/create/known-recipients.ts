import type { Context } from "../../context.ts";
import type { Identity } from "../../access/model/identity.ts";
import { isAnybodyElseEnrolled, isEnrolled } from "../../access/enroll-human.ts";
import { identitiesOf, isJoint, isPlace, leavesOf } from "../model/audience.ts";
import { isListed } from "../model/recipients.ts";
import type { Audience, Target } from "../model/request.ts";

type Knowing = Pick<Context, "db" | "addressed">;

/**
 * Returns whether an agent may ask somebody under an address that it names itself. A channel on Slack is nobody's address:
 * who decides there is what `slack.channel_approvers` says.
 */
export async function mayBeAsked(ctx: Knowing, target: Target): Promise<boolean> {
  const { whom } = ctx.addressed.recipients;
  if (whom === "any" || (whom === null && !(await isAnybodyElseEnrolled(ctx)))) return true;
  if (isPlace(target)) return true;
  return whom === "listed" ? true : isKnown(ctx, target);
}

/** The parts of an escalation: the people asked from then on, and the people only informed. */
interface EscalationParts {
  added: Audience | null;
  informed: Audience | null;
}

/**
 * Returns the people whom an escalation adds to a request: enrolled people, and those whom the operator's patterns
 * name. Everybody else is only informed. If the request is `fixed`, or several have to agree, everybody is only
 * informed (spec/a2h 11).
 */
export async function escalationOf(
  ctx: Knowing,
  { asked, more, fixed }: { asked: Audience; more: Audience; fixed: boolean },
): Promise<EscalationParts> {
  if (fixed || isJoint(asked)) return { added: null, informed: more };
  const leaves = leavesOf(more);
  const known = await Promise.all(leaves.map(({ target }) => isKnown(ctx, target)));
  if (known.every(Boolean)) return { added: more, informed: null };
  if (isJoint(more)) return { added: null, informed: more };
  const part = (isAdded: boolean): Audience | null => {
    const of = leaves.flatMap(({ target, afterMs }, i) =>
      known[i] === isAdded ? [{ afterMs, node: { kind: "leaf", target } as const }] : [],
    );
    return of.length > 0 ? { kind: "any", of } : null;
  };
  return { added: part(true), informed: part(false) };
}

/** True for people of this server, and for addresses that the operator wrote down. */
async function isKnown(ctx: Knowing, target: Target): Promise<boolean> {
  const { patterns } = ctx.addressed.recipients;
  const isOneKnown = async (identity: Identity) =>
    isListed(patterns, identity.value) || (await isEnrolled(ctx, identity));
  if (!("settings" in target)) return true;
  const known = await Promise.all(identitiesOf(target).map(isOneKnown));
  return known.length > 0 ? known.every(Boolean) : isListed(patterns, target.to);
}
