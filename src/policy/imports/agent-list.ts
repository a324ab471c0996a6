import type { PolicyEffect } from "../model/policy.ts";

/** A file of an agent that holds lists of what it may do. */
export interface ListFile {
  path: string;
  text: string;
  /** The folder of the project that the file belongs to; null for a file of the user. */
  project: string | null;
}

/** The part of a rule that says which calls it is about. A part with functions alone is about each of their calls. */
export interface RulePart {
  fn: readonly string[];
  command?: readonly string[];
  path?: readonly string[];
  /** Globs of the folder that the call names. */
  folder?: readonly string[];
  args?: Readonly<Record<string, unknown>>;
  expr?: string;
  unless?: { fn?: readonly string[]; command?: readonly string[]; path?: readonly string[]; expr?: string };
}

/** One entry of an agent's lists. */
export interface ListEntry {
  /** The entry, as the agent writes it. */
  text: string;
  file: string;
  decision: PolicyEffect;
  /** The parts of its rule; without one, nothing of it is carried over. */
  parts: readonly RulePart[];
  /** The difference between the rule and the entry, or the reason why there is no rule. */
  note?: string | undefined;
  /**
   * Where the order of the entries counts: the parts that are certainly within this entry. A weaker entry before it
   * makes an exception of them.
   */
  within?: readonly RulePart[];
}

/** An agent whose own lists can be read. */
export interface AgentLists {
  /** The files where the agent keeps them, some of them missing. A path that ends in `*.EXT` names all files of a folder. */
  places(where: {
    home: string;
    project: string;
    env: Readonly<Record<string, string | undefined>>;
  }): readonly string[];
  /** Returns the folder of the project that a file belongs to; null for a file of the user. */
  projectOf(path: string, home: string): string | null;
  /**
   * Returns each entry of the files.
   *
   * @throws {UnreadList} for a file that is not of the agent's form
   */
  read(files: readonly ListFile[], home: string): ListEntry[];
}

/** A file of lists is not of the agent's form: the message is a sentence that begins with the path. */
export class UnreadList extends Error {
  constructor(path: string, because: string) {
    super(`${path} cannot be read: ${because}.`);
  }
}

/** The part of an entry that its rule keeps. */
export type Carried = Pick<ListEntry, "parts" | "note" | "within">;

/** Nothing of an entry is carried over. */
export const left = (note?: string): Carried => ({ parts: [], note });

/** Members of a settings file. */
export type SettingsBlock = Readonly<Record<string, unknown>>;

/** Returns a value as a block, empty for a missing one. @throws {UnreadList} */
export function blockOf(value: unknown, { path }: ListFile, name: string): SettingsBlock {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UnreadList(path, `${name} is no block`);
  return value as SettingsBlock;
}

/** Returns a value as a list of texts, empty for a missing one. @throws {UnreadList} */
export function textsOf(value: unknown, { path }: ListFile, name: string): string[] {
  const list: unknown = value ?? [];
  if (!Array.isArray(list) || !list.every((one) => typeof one === "string"))
    throw new UnreadList(path, `${name} is no list of texts`);
  return list as string[];
}

/** Returns what a table has under a name of a file; undefined for names such as `constructor`, that every object has. */
export const rowOf = <T>(table: Readonly<Record<string, T>>, name: unknown): T | undefined =>
  typeof name === "string" && Object.hasOwn(table, name) ? table[name] : undefined;

/** Returns the entries of `permissions`, a block of one list for each decision, and its other members as left out. */
export function permissionsIn(
  permissions: SettingsBlock,
  { file, lists, note }: { file: ListFile; lists: Readonly<Record<string, PolicyEffect>>; note?: string },
  carry: (text: string, decision: PolicyEffect) => Carried,
): ListEntry[] {
  const listed = Object.entries(lists).flatMap(([name, decision]) =>
    textsOf(permissions[name], file, `permissions.${name}`).map((text) => ({
      text,
      file: file.path,
      decision,
      ...carry(text, decision),
    })),
  );
  const others = Object.keys(permissions).filter((name) => !Object.hasOwn(lists, name));
  return [
    ...listed,
    ...others.map((name): ListEntry => ({
      text: `permissions.${name}`,
      file: file.path,
      decision: "ALLOW",
      ...left(note),
    })),
  ];
}
