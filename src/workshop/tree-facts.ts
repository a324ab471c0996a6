import { readFile } from "node:fs/promises";
import { writeWhole } from "../lib/files/durable-files.ts";
import type { LeftOut } from "./git/listing.ts";
import type { Repository } from "./git/repository.ts";
import { lackWarnings, leftOutOf } from "./git/staging.ts";

/** Facts about a tree as the agent found it, for the reviewer of its work. */
export interface TreeFacts {
  /** Sentences about what the tree has not as the person's own folder has it. */
  warnings: readonly string[];
  leftOut: LeftOut;
}

interface TreePlaces {
  tree: string;
  index: string;
  factsFile: string;
}

/** Stores the facts of a tree that is made and set up, with those known from its making. */
export async function keepTreeFacts(
  repo: Repository,
  { tree, index, factsFile }: TreePlaces,
  { start, warnings }: { start: string; warnings: readonly string[] },
): Promise<void> {
  const left = { dir: tree, indexFile: index, start };
  const facts: TreeFacts = {
    warnings: [...warnings, ...(await lackWarnings(repo, left))],
    leftOut: await leftOutOf(repo, left),
  };
  await writeWhole(factsFile, JSON.stringify(facts));
}

/** Returns the facts that were written down; none where the tree was made by an earlier version of the server. */
export async function readTreeFacts(file: string): Promise<TreeFacts> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? { warnings: [], leftOut: {} } : (JSON.parse(text) as TreeFacts);
}
