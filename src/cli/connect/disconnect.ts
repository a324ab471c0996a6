import { parseArgs } from "node:util";
import { AGENTS } from "../../connect/registry.ts";
import { type Command, EXIT } from "../command.ts";
import { CHANGE_FLAGS, isAgreed, showChange, writeChange } from "../config-file.ts";
import { disconnecting } from "./file-changes.ts";
import { agentsNamed } from "./found.ts";
import { readRecord, removeFolders, writeRecord } from "./undo-record.ts";

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
    const files = (await agentsNamed(positionals, io.env)).flatMap((one) => disconnecting(one, record));
    const changes = files.filter(({ before, after, isEmpty }) => before !== after || isEmpty);
    for (const change of changes) showChange(change, io);
    if (changes.length === 0) {
      io.tell("There is no Parley in their files.");
      return EXIT.done;
    }
    if (values["dry-run"] || !(await isAgreed(values, io))) {
      io.tell("Nothing was written.");
      return values["dry-run"] ? EXIT.done : EXIT.refused;
    }
    for (const change of changes) {
      await writeChange(change);
      if (change.isEmpty) removeFolders(change.file, record[change.file]?.madeFolder);
    }
    const gone = new Set(changes.map(({ file }) => file));
    await writeRecord(Object.fromEntries(Object.entries(record).filter(([file]) => !gone.has(file))), io.env);
    io.tell(`Parley is out of ${[...gone].join(", ")}.`);
    return EXIT.done;
  },
};
