import { findHumanByIdentity } from "../access/store/humans.ts";
import { hadKey } from "../access/store/keys.ts";
import { findPerson } from "../access/store/people.ts";
import type { Context } from "../context.ts";
import type { Queryable } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { freezeIn, type FreezeActor, type FreezeScope } from "../policy/freezes.ts";
import { findPrincipal } from "../policy/store/freezes.ts";
import { Refusal } from "../refusals.ts";
import { REPEATED } from "../requests/inbound/answer-message.ts";
import type { Found } from "../requests/inbound/match-message.ts";
import { identityOf } from "../requests/inbound/sender.ts";
import { tellSender } from "../requests/inbound/tell-sender.ts";
import { freezeWord } from "../requests/model/freeze-word.ts";
import type { InboundMessage, InboundResult } from "../requests/model/inbound-message.ts";
import { insertInboundIfNew } from "../requests/store/deliveries.ts";

/** The name in full of a principal that has a key. */
const KEYED = /^(?:agent|executor|assign):/;

/**
 * Freezes, where the whole message says so and an enrolled person is proved to have sent it: everything for an admin, else
 * that person's own agents, or the one that it names. It decides nothing. Returns nothing for any other message, which
 * then means what it says (spec/channels 3.2).
 */
export async function freezeByWord(
  ctx: Context,
  publicUrl: string,
  message: InboundMessage,
): Promise<InboundResult | undefined> {
  const word = "text" in message.content ? freezeWord(message.content.text) : undefined;
  const by = word && (await proved(ctx.db, message));
  if (!word || !by) return undefined;
  const says = await transact(ctx, async (tx) => {
    if (!(await insertInboundIfNew(tx, message.provider, message.id))) return null;
    const scope = await scopeOf(tx, word.name, by);
    if (!scope) return `No agent here is called ${word.name}, so nothing is frozen.`;
    const { scope: kind } = scope;
    try {
      await freezeIn(ctx, tx, scope, by);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "scope_missing") throw error;
      return "Only an admin freezes the agents of others, so nothing is frozen.";
    }
    const whom = kind === "all" ? "everything" : kind === "person" ? "your agents" : `the agent ${word.name}`;
    return `Frozen: ${whom}. Nothing is allowed from now on, and deadlines stand still. It is thawed at ${publicUrl}, not by a message.`;
  });
  return says === null ? REPEATED : { kind: "frozen", says };
}

/** Tells whoever answered a message that what they wrote froze something, where the channel has no place for it in its reply. */
export async function tellFrozen(ctx: Context, found: Found, result: InboundResult): Promise<void> {
  const [first] = found.kind === "one" ? [found.matched] : found.kind === "several" ? found.all : [];
  if (first && result.kind === "frozen") await tellSender(ctx, first.delivery, result, { says: result.says });
}

/** Returns the enrolled person who is proved to have sent a message; nothing where a program may speak for them. */
async function proved(on: Queryable, message: InboundMessage): Promise<FreezeActor | undefined> {
  const { sender, trust, talk } = message;
  if (sender.kind === "slack" && (!sender.member || sender.app !== undefined)) return undefined;
  if (trust !== "signed" && trust !== "verified" && !talk?.proved) return undefined;
  const identity = identityOf(message);
  const human = identity && (await findHumanByIdentity(on, identity));
  const person = human && (await findPerson(on, human.person));
  if (!person) return undefined;
  const via = sender.kind === "phone" ? (talk?.target.via ?? "sms") : sender.kind;
  return { actor: { kind: "human", id: person.id }, via, isAdmin: person.role === "admin" };
}

async function scopeOf(
  on: Queryable,
  name: string | null,
  { actor, isAdmin }: FreezeActor,
): Promise<FreezeScope | undefined> {
  if (name === null) return isAdmin ? { scope: "all", subject: "" } : { scope: "person", subject: actor.id };
  const subject = await findPrincipal(on, name);
  // A name in full is nobody's where it is mistyped, and a freeze of nobody would look like one that holds.
  const isMistyped = subject === name && KEYED.test(name) && !(await hadKey(on, name));
  return subject === undefined || isMistyped ? undefined : { scope: "agent", subject };
}
