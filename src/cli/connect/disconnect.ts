import { parseArgs } from "node:util";
import { AGENTS } from "../../connect/registry.ts";
import { type Command, EXIT } from "../command.ts";
import { CHANGE_FLAGS, isAgreed, showChange, writeChange } from "../config-file.ts";
import { disconnecting, recordWith } from "./file-changes.ts";
import { agentsNamed, eachReadable } from "./found.ts";
import { readRecord, removeFolders, writeRecord } from "../../config/undo-record.ts";

const NAMES = Object.keys(AGENTS);

export const disconnect: Command = {
  usage: "[AGENT...] [--dry-run] [--yes]",
  flags: { AGENT: `${NAMES.join(", ")}; left out, all`, ...CHANGE_FLAGS },
  choices: { AGENT: NAMES },
  example: "parley disconnect gemini",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { "dry-run": { type: "boolean" }, yes: { type: "boolean" } },
    });
    const record = readRecord(io.env);
    const agents = await agentsNamed(positionals, io.env);
    const readable = eachReadable(agents, (one) => disconnecting(one, record), io);
    const changes = readable.flat().filter(({ before, after, isEmpty }) => before !== after || isEmpty);
    for (const change of changes) showChange(change, io);
    const done = readable.length < agents.length ? EXIT.refused : EXIT.done;
    if (changes.length === 0) {
      io.tell("There is no Parley in their files.");
      return done;
    }
    if (values["dry-run"] || !(await isAgreed(values, io))) {
      io.tell("Nothing was written.");
      return values["dry-run"] ? EXIT.done : EXIT.refused;
    }
    for (const change of changes) {
      await writeChange(change);
      if (change.isEmpty) removeFolders(change.file, record[change.file]?.madeFolder);
    }
    await writeRecord(recordWith(changes, record), io.env);
    io.tell(`Parley is out of ${changes.map(({ file }) => file).join(", ")}.`);
    return done;
  },
};
