import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { homeOf } from "../../connect/agent.ts";
import { NotJson } from "../../lib/json/json-edit.ts";
import { type AgentLists, type ListEntry, type ListFile, UnreadList } from "../../policy/imports/agent-list.ts";
import { LISTED_AGENTS } from "../../policy/imports/agents.ts";
import type { Io } from "../command.ts";
import { readText, UnreadableFile } from "./input.ts";

/** Returns how many entries an agent's lists have, of the files that it reads in this folder; 0 where one cannot be read. */
export async function countEntries(word: string, env: Io["env"]): Promise<number> {
  const lists = await LISTED_AGENTS[word]?.load();
  if (!lists) return 0;
  const home = homeOf(env);
  const paths = lists.places({ home, project: process.cwd(), env }).flatMap(filesAt);
  try {
    return entriesIn(lists, [...new Set(paths)].filter(existsSync), home).length;
  } catch (error) {
    if (error instanceof UnreadableFile) return 0;
    throw error;
  }
}

/** A place may name all files of a folder with one ending; an agent reads them by their names. */
export function filesAt(place: string): string[] {
  const [, ending] = /^\*(\.\w+)$/.exec(basename(place)) ?? [];
  if (ending === undefined) return [place];
  const folder = dirname(place);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name));
}

/** Returns each entry of an agent's files. @throws {UnreadableFile} */
export function entriesIn(lists: AgentLists, paths: readonly string[], home: string): ListEntry[] {
  const files = paths.map((path): ListFile => ({ path, text: readText(path), project: lists.projectOf(path, home) }));
  // Each is read alone first, so that a mistake has the name of its file.
  for (const file of files) {
    try {
      lists.read([file], home);
    } catch (error) {
      if (error instanceof UnreadList) throw new UnreadableFile(error.message);
      if (![NotJson, SyntaxError, RangeError].some((kind) => error instanceof kind)) throw error;
      const because = error instanceof RangeError ? "its values are nested too deep" : (error as Error).message;
      throw new UnreadableFile(`${file.path} cannot be read: ${because}.`);
    }
  }
  return lists.read(files, home);
}
