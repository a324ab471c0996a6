import type { Context } from "../context.ts";
import { printable } from "../lib/printable.ts";
import type { Queryable } from "../core/store/db.ts";
import { findHuman, findHumanByNumber, findTwoNamed, isRetired, type Human } from "./store/humans.ts";

/** The person or group that a name stands for. A group has at least one person who can be asked. */
export type Recipient =
  | { kind: "human"; human: Human }
  | { kind: "group"; group: string; humans: readonly Human[] }
  | { kind: "nobody" }
  | { kind: "several" };

/** The context of a lookup: the store, in or outside of a transaction, and the groups. */
export interface Looking {
  db: Queryable;
  /** The people of each group, by its name. */
  addressed: { readonly groups: ReadonlyMap<string, readonly string[]> };
}

/**
 * Returns the person or group that a number, the name of a group or an exact name stands for. The operator wrote groups
 * down, so their names come before those of people. A group without any remaining person counts as nobody.
 */
export async function resolveRecipient(ctx: Looking, name: string): Promise<Recipient> {
  const group = await findGroup(ctx, name);
  if (group) return group.length > 0 ? { kind: "group", group: name, humans: group } : { kind: "nobody" };
  if (/^[1-9]\d{0,14}$/.test(name)) {
    const human = await findHumanByNumber(ctx.db, Number(name));
    if (human) return { kind: "human", human };
  }
  const [human, ...others] = await findTwoNamed(ctx.db, name);
  if (!human) return { kind: "nobody" };
  return others.length > 0 ? { kind: "several" } : { kind: "human", human };
}

/** Returns the people of a group who can still be asked, in its order; nothing where there is no such group. */
export async function findGroup(ctx: Looking, name: string): Promise<Human[] | undefined> {
  const members = ctx.addressed.groups.get(name);
  if (!members) return undefined;
  const found = await Promise.all(members.map((person) => findHuman(ctx.db, person)));
  return found.filter((human) => human !== undefined);
}

/** Returns every group with the people of it who can be asked, by name. */
export async function listGroups(ctx: Looking): Promise<{ name: string; humans: Human[] }[]> {
  const names = [...ctx.addressed.groups.keys()].sort();
  return Promise.all(names.map(async (name) => ({ name, humans: (await findGroup(ctx, name)) ?? [] })));
}

/** The groups that the operator wrote down, once they are read. */
export interface ReadGroups {
  /** The ids of the people of each group. */
  groups: ReadonlyMap<string, readonly string[]>;
  /** Sentences for the operator about named people who have left. */
  notes: readonly string[];
}

/**
 * Returns the people of the groups, and checks the default addressee. A person who has left is in no group any more,
 * which harms nobody; a name that nobody ever had is a mistake.
 *
 * @throws {Error} one sentence for each name that stands for nobody, or for several
 */
export async function readGroups(
  { db }: Pick<Context, "db">,
  written: Readonly<Record<string, readonly (string | number)[]>>,
  usual: { where: string; name: string } | null,
): Promise<ReadGroups> {
  const mistakes: string[] = [];
  const notes: string[] = [];
  const groups = new Map<string, readonly string[]>();
  const look = async (where: string, name: string): Promise<Human | undefined> => {
    const recipient = await resolveRecipient({ db, addressed: { groups } }, name);
    if (recipient.kind === "human") return recipient.human;
    if (recipient.kind === "group") return undefined;
    const hasLeft = recipient.kind === "nobody" && (groups.has(name) || (await isRetired(db, name)));
    if (hasLeft) notes.push(`${where} names ${printable(name)}, and nobody of that name is here any more.`);
    else mistakes.push(`${where} names ${printable(name)}, ${whyNot(recipient)}.`);
    return undefined;
  };
  const found = new Map<string, readonly string[]>();
  for (const [name, members] of Object.entries(written)) {
    const people: string[] = [];
    for (const member of members) {
      const human = await look(`people.groups.${name}`, String(member));
      if (human) people.push(human.person);
    }
    found.set(name, [...new Set(people)]);
  }
  // Groups hold people, and no groups.
  for (const [name, people] of found) groups.set(name, people);
  if (usual) await look(usual.where, usual.name);
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return { groups, notes };
}

/** Says why a name stands for nobody to ask, as the rest of a sentence. */
export function whyNot({ kind }: Recipient): string {
  if (kind === "several") return "as several people are called; write the number of the one who is meant";
  return "and nobody has that number or name; parley people list shows who is there";
}
