import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { homeOf } from "../../connect/agent.ts";
import { writeNewFile } from "../../lib/files/durable-files.ts";
import { NotJson } from "../../lib/json/json-edit.ts";
import { printable } from "../../lib/printable.ts";
import { NotToml } from "../../lib/toml.ts";
import { type AgentLists, type ListEntry, type ListFile, UnreadList } from "../../policy/imports/agent-list.ts";
import { LISTED_AGENTS } from "../../policy/imports/agents.ts";
import { policyText } from "../../policy/imports/policy-text.ts";
import { loadPolicy } from "../../policy/model/text.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { readText, UnreadableFile } from "./input.ts";
import { lookAt } from "./policy.ts";

const WORDS = Object.keys(LISTED_AGENTS);

export const policyImport = command({
  takes: {
    AGENT: { help: `whose lists: ${WORDS.join(", ")}`, choices: WORDS },
    "--file PATH...": "a file of its lists; left out, those that it reads in this folder",
    "--as NAME...": "the names that it has at the server; left out, the one that its hook shows without a key",
    "--out FILE": "a new file for the policy; left out, it is printed",
  },
  example: "parley policy import claude --out imported.yaml",
  async run({ agent: word, file: named, as: askers, out }, io) {
    const row = LISTED_AGENTS[word];
    if (!row) throw new WrongUsage(`AGENT must be one of ${WORDS.join(", ")}`);
    const lists = await row.load();
    const home = homeOf(io.env);
    const places = lists.places({ home, project: process.cwd(), env: io.env });
    const wanted = new Set(named?.map((path) => resolve(path)) ?? places.flatMap(filesAt));
    const paths = [...wanted].filter((path) => existsSync(path));
    const missing = named?.filter((path) => !existsSync(path)) ?? [];
    if (missing.length > 0 || paths.length === 0) {
      const looked = missing.length > 0 ? missing : places;
      io.tell(`parley: ${row.title} has no lists at ${printable(looked.join(", "))}.`);
      return EXIT.refused;
    }
    if (out !== undefined && existsSync(out)) {
      io.tell(`parley: ${printable(out)} exists already.`);
      return EXIT.refused;
    }
    return lookAt(io, async () => {
      const entries = entriesIn(lists, paths, home);
      const agent = { word, title: row.title };
      const text = policyText(entries, { agent, askers: askers ?? [row.agentId, `open:${row.agentId}`], files: paths });
      await checkPrinted(text);
      if (out === undefined) io.out(text.trimEnd());
      else await writeNewFile(out, text, 0o644);
      tellCounts(entries, io);
      return EXIT.done;
    });
  },
});

/** A place may name all files of a folder with one ending; an agent reads them by their names. */
function filesAt(place: string): string[] {
  const [, ending] = /^\*(\.\w+)$/.exec(basename(place)) ?? [];
  if (ending === undefined) return [place];
  const folder = dirname(place);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name));
}

function entriesIn(lists: AgentLists, paths: readonly string[], home: string): ListEntry[] {
  const files = paths.map((path): ListFile => ({ path, text: readText(path), project: lists.projectOf(path, home) }));
  // Each is read alone first, so that a mistake has the name of its file.
  for (const file of files) {
    try {
      lists.read([file], home);
    } catch (error) {
      if (error instanceof UnreadList) throw new UnreadableFile(error.message);
      if (!(error instanceof NotJson || error instanceof NotToml || error instanceof SyntaxError)) throw error;
      throw new UnreadableFile(`${file.path} cannot be read: ${error.message}.`);
    }
  }
  return lists.read(files, home);
}

/** A policy has fewer rules and bytes than lists may have. */
async function checkPrinted(text: string): Promise<void> {
  try {
    await loadPolicy(text);
  } catch (error) {
    throw new UnreadableFile(
      `The lists do not fit into a policy: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function tellCounts(entries: readonly ListEntry[], io: Io): void {
  const left = entries.filter(({ parts }) => parts.length === 0).length;
  const words = (count: number) => (count === 1 ? "1 entry" : `${count} entries`);
  io.tell(`${words(entries.length - left)} carried over, ${left} not; the comments name each`);
}
