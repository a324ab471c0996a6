import type { Context } from "../context.ts";
import type { Identity } from "./model/identity.ts";
import { identityAt } from "./model/identity.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import {
  findHuman,
  findHumanByIdentity,
  findHumanByNumber,
  listHumans,
  lockHumans,
  updateHuman,
  type Human,
  type HumanChannel,
} from "./store/humans.ts";
import { insertPerson } from "./store/people.ts";
import { transact } from "../core/store/transact.ts";
import { INBOX_TOPIC } from "../core/store/wake.ts";

export type { Human, HumanChannel } from "./store/humans.ts";

/** The details that an admin enters about a person who can be asked. */
export interface HumanInput {
  name: string;
  description: string | null;
  title: string | null;
  seesAll: boolean;
  channels: readonly HumanChannel[];
}

/** The person is enrolled and can be asked. @throws {Refusal} `invalid_input` for an address that is somebody else's */
export async function enrollHuman(ctx: Context, input: HumanInput, by: Actor): Promise<Human> {
  return transact(ctx, async (tx) => {
    await lockHumans(tx);
    const { id } = await insertPerson(tx, { name: input.name, role: "member" });
    return saveHuman(tx, id, input, { by, action: "created" });
  });
}

/**
 * The human is as `change` makes it of what was there; changes of several admins come one after another.
 *
 * @throws {Refusal} `human_not_found`, `invalid_input` for an address that is somebody else's
 */
export async function changeHuman(
  ctx: Context,
  number: number,
  change: (human: Human) => HumanInput,
  by: Actor,
): Promise<Human> {
  return transact(ctx, async (tx) => {
    await lockHumans(tx);
    const human = await findHumanByNumber(tx, number);
    if (!human) throw new Refusal("human_not_found", { id: String(number) });
    return saveHuman(tx, human.person, change(human), { by, action: "updated" });
  });
}

/** The person, whom this transaction has added, is written to at this address, which is in its normal form. */
export async function reachByMail(tx: Tx, person: string, address: string, by?: Actor): Promise<void> {
  const human = await findHuman(tx, person);
  if (!human) throw new Error("a human is missing who was just added");
  const target = { to: address, informed: false, settings: { to: [address], cc: [] } };
  const channels: HumanChannel[] = [{ channel: "email", target, given: { address } }];
  await saveHuman(
    tx,
    person,
    { ...human, channels },
    { by: by ?? { kind: "server", id: "server" }, action: "updated" },
  );
}

async function saveHuman(
  tx: Tx,
  person: string,
  input: HumanInput,
  { by, action }: { by: Actor; action: "created" | "updated" },
): Promise<Human> {
  const existing = await findHuman(tx, person);
  if (!existing) throw new Error("a human is missing who was just there");
  const identities = input.channels.map(({ channel, target }) => identityAt({ via: channel, to: target["to"] }));
  for (const [i, identity] of identities.entries()) {
    const owner = identity && (await findHumanByIdentity(tx, identity));
    if (owner && owner.person !== person) {
      const says = "This address belongs to another human.";
      throw new Refusal("invalid_input", { loc: ["body", "prioritizedContactChannels", i] }, says);
    }
  }
  const channels = input.channels.map((one) => withOwner(one, person));
  const different = new Map(identities.flatMap((one) => (one ? [[`${one.kind}:${one.value}`, one] as const] : [])));
  await updateHuman(tx, { ...input, channels, person }, [...different.values()]);
  await appendAudit(tx, { actor: by, action: `human.${action}`, data: { person } });
  tx.wake(INBOX_TOPIC);
  const saved = await findHuman(tx, person);
  if (!saved) throw new Error("a human is missing who was just written down");
  return saved;
}

/** A webhook speaks for the very human whose channel it is. */
function withOwner(one: HumanChannel, person: string): HumanChannel {
  return one.channel === "webhook" ? { ...one, target: { ...one.target, people: [person] } } : one;
}

/** Returns a human. @throws {Refusal} `human_not_found` */
export async function readHuman(ctx: Pick<Context, "db">, number: number): Promise<Human> {
  const human = await findHumanByNumber(ctx.db, number);
  if (!human) throw new Refusal("human_not_found", { id: String(number) });
  return human;
}

/** Returns one page of humans in the order of their numbers, and the number that the next page follows. */
export async function readHumans(
  ctx: Pick<Context, "db">,
  { after, limit }: { after: number; limit: number },
): Promise<{ humans: Human[]; next: number | null }> {
  const found = await listHumans(ctx.db, after, limit + 1);
  const humans = found.slice(0, limit);
  return { humans, next: found.length > limit ? (humans.at(-1)?.number ?? null) : null };
}

const SEARCHED_AT_ONCE = 500;

/**
 * Returns one page of the humans in whose name or description every word stands, whatever its case and accents, in the
 * order of their numbers, and the number that the next page follows.
 */
export async function searchHumans(
  ctx: { db: Queryable },
  query: string,
  { after, limit }: { after: number; limit: number },
): Promise<{ humans: Human[]; next: number | null }> {
  const words = wordsOf(query);
  const humans: Human[] = [];
  for await (const human of everyHuman(ctx.db, after)) {
    const text = `${folded(human.name)} ${folded(human.description ?? "")}`;
    if (!words.every((word) => text.includes(word))) continue;
    if (humans.length === limit) return { humans, next: humans.at(-1)?.number ?? null };
    humans.push(human);
  }
  return { humans, next: null };
}

async function* everyHuman(on: Queryable, from: number): AsyncGenerator<Human> {
  for (let after = from; ;) {
    const humans = await listHumans(on, after, SEARCHED_AT_ONCE);
    yield* humans;
    const last = humans.at(-1);
    if (!last || humans.length < SEARCHED_AT_ONCE) return;
    after = last.number;
  }
}

function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function wordsOf(query: string): string[] {
  return folded(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** True when an address, number or Slack user belongs to an enrolled human. */
export async function isEnrolled(ctx: Pick<Context, "db">, identity: Identity): Promise<boolean> {
  return (await findHumanByIdentity(ctx.db, identity)) !== undefined;
}

/** True where somebody is enrolled beside the person who runs this server. */
export async function isAnybodyElseEnrolled({ db }: Pick<Context, "db">): Promise<boolean> {
  return (await listHumans(db, 0, 2)).some(({ isOperator }) => !isOperator);
}
