import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { homeOf } from "../../connect/agent.ts";
import { writeNewFile } from "../../lib/files/durable-files.ts";
import { printable } from "../../lib/printable.ts";
import type { ListEntry } from "../../policy/imports/agent-list.ts";
import { LISTED_AGENTS } from "../../policy/imports/agents.ts";
import { policyText } from "../../policy/imports/policy-text.ts";
import { loadPolicy } from "../../policy/model/text.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { UnreadableFile } from "./input.ts";
import { entriesIn, filesAt } from "./own-lists.ts";
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
    const missing = named?.filter((path) => !existsSync(path)) ?? (paths.length === 0 ? places : []);
    if (missing.length > 0) {
      io.tell(`parley: ${row.title} has no lists at ${printable(missing.join(", "))}.`);
      return EXIT.refused;
    }
    if (out !== undefined && existsSync(out)) {
      io.tell(`parley: ${printable(out)} exists already.`);
      return EXIT.refused;
    }
    return lookAt(io, async () => {
      const entries = entriesIn(lists, paths, home);
      const known = askers ?? [row.agentId, `open:${row.agentId}`];
      const text = policyText(entries, { agent: { word, title: row.title }, askers: known, files: paths });
      await checkPrinted(text);
      if (out === undefined) io.out(text.trimEnd());
      else await writeNewFile(out, text, 0o644);
      tellCounts(entries, io);
      return EXIT.done;
    });
  },
});

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
  const carried = entries.length - left;
  io.tell(`${carried === 1 ? "1 entry" : `${carried} entries`} carried over, ${left} not; the comments name each`);
}
