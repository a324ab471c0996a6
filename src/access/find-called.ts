import type { Context } from "../context.ts";
import { printable } from "../lib/printable.ts";
import type { Queryable } from "../core/store/db.ts";
import { findHuman, findHumanByNumber, findTwoNamed, isRetired, type Human } from "./store/humans.ts";

/** Whom a name stands for. A group has at least one person who can be asked. */
export type Called =
  | { is: "human"; human: Human }
  | { is: "group"; group: string; humans: readonly Human[] }
  | { is: "nobody" }
  | { is: "several" };

/** What looking for people takes: the store, in or outside of a transaction, and the groups. */
export interface Looking {
  db: Queryable;
  /** The people of each group, by its name. */
  addressed: { readonly groups: ReadonlyMap<string, readonly string[]> };
}

/**
 * Returns whom a number, the name of a group or an exact name stands for. The operator wrote groups down, so their names
 * come before those of people. A group nobody is left of is nobody.
 */
export async function findCalled(ctx: Looking, name: string): Promise<Called> {
  const group = await findGroup(ctx, name);
  if (group) return group.length > 0 ? { is: "group", group: name, humans: group } : { is: "nobody" };
  if (/^[1-9]\d{0,14}$/.test(name)) {
    const human = await findHumanByNumber(ctx.db, Number(name));
    if (human) return { is: "human", human };
  }
  const [human, ...others] = await findTwoNamed(ctx.db, name);
  if (!human) return { is: "nobody" };
  return others.length > 0 ? { is: "several" } : { is: "human", human };
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

/** What was written down of people, as it is understood. */
export interface ReadGroups {
  /** The ids of the people of each group. */
  groups: ReadonlyMap<string, readonly string[]>;
  /** Who was named and has left, in sentences for the operator. */
  notes: readonly string[];
}

/**
 * Returns whom the groups hold and checks who is usually asked. Whoever has left is in no group any more, which harms
 * nobody; a name that nobody ever had is a mistake.
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
    const called = await findCalled({ db, addressed: { groups } }, name);
    if (called.is === "human") return called.human;
    if (called.is === "group") return undefined;
    const hasLeft = called.is === "nobody" && (groups.has(name) || (await isRetired(db, name)));
    if (hasLeft) notes.push(`${where} names ${printable(name)}, and nobody of that name is here any more.`);
    else mistakes.push(`${where} names ${printable(name)}, ${whyNot(called)}.`);
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
export function whyNot({ is }: Called): string {
  if (is === "several") return "as several people are called; write the number of the one who is meant";
  return "and nobody has that number or name; parley people list shows who is there";
}
