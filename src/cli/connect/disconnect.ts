import { command, EXIT } from "../command.ts";
import { CHANGE_FLAGS, isAgreed, showChange, writeChange } from "../config-file.ts";
import { disconnecting, recordWith } from "./file-changes.ts";
import { agentsNamed, agentWords, eachReadable } from "./found.ts";
import { readRecord, removeFolders, writeRecord } from "../../config/undo-record.ts";

export const disconnect = command({
  takes: { ...agentWords("all"), ...CHANGE_FLAGS },
  example: "parley disconnect gemini",
  async run({ agent: names, dryRun, yes }, io) {
    const record = readRecord(io.env);
    const agents = await agentsNamed(names, io.env);
    const readable = eachReadable(agents, (one) => disconnecting(one, record), io);
    const changes = readable.flat().filter(({ before, after, isEmpty }) => before !== after || isEmpty);
    for (const change of changes) showChange(change, io);
    const done = readable.length < agents.length ? EXIT.refused : EXIT.done;
    if (changes.length === 0) {
      io.tell("There is no Parley in their files.");
      return done;
    }
    if (dryRun || !(await isAgreed({ yes }, io))) {
      io.tell("Nothing was written.");
      return dryRun ? EXIT.done : EXIT.refused;
    }
    for (const change of changes) {
      await writeChange(change);
      if (change.isEmpty) removeFolders(change.file, record[change.file]?.madeFolder);
    }
    await writeRecord(recordWith(changes, record), io.env);
    io.tell(`Parley is out of ${changes.map(({ file }) => file).join(", ")}.`);
    return done;
  },
});
