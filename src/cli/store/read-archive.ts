import { resolve } from "node:path";
import { judgeFolder } from "../../backup/fill-folder.ts";
import { type ArchiveWords, BACKUP_WORDS, EXPORT_WORDS } from "../../backup/model/archive-words.ts";
import { restoreStore } from "../../backup/restore-store.ts";
import { loadConfig } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";
import { sourcesOf } from "../command-config.ts";
import { command, STORE_FLAGS } from "../command.ts";
import { tellOfArrived } from "./arrived.ts";
import { keptKinds, tellOfEpoch } from "./restored.ts";
import { rowsLine } from "./rows-line.ts";

const reading = (words: ArchiveWords) =>
  command({
    takes: {
      FILE: "",
      "--keep-access": "leave keys, permanent permissions, learned rules and webhook endpoints in force, all of them",
      "--send": "send the messages that waited then, although the former server may have sent them since",
      ...STORE_FLAGS,
      "--data-dir DIR": "the new data directory, empty or not there yet (PARLEY_DATA_DIR)",
    },
    example: `parley ${words.read} parley-monday.jsonl --data-dir ~/parley-${words.done}`,
    async run({ file, keepAccess, send, ...place }, io) {
      const path = resolve(file);
      const sources = sourcesOf(place, io);
      const config = loadConfig(sources);
      judgeFolder(config.dataDir);
      const epoch = { clock: systemClock, keeps: keptKinds({ keepAccess, send }) };
      const report = await restoreStore(path, config, {
        words,
        epoch,
        onProgress: io.progress,
        signal: io.interrupted,
      });
      io.progress("");
      const isFormer = "madeAt" in report;
      const where = config.databaseUrl === undefined ? config.dataDir : `${config.dataDir} and PostgreSQL`;
      const madeAt = isFormer ? report.madeAt : new Date(report.madeAtMs).toISOString();
      io.out(`${where}  ${words.done} as it was at ${printable(madeAt)}`);
      if (!isFormer) io.out(rowsLine(report));
      if (report.settingsLeftOut.length > 0) {
        io.tell(`Not in the ${words.noun}, so to be set again: ${printable(report.settingsLeftOut.join(", "))}.`);
      }
      await tellOfEpoch(place, loadConfig(sources), io);
      const broken = `Something is broken in what was ${words.made}; it is ${words.done} as it was.`;
      return tellOfArrived(loadConfig(sources), { broken, atMs: report.lastMs }, io);
    },
  });

export const restore = reading(BACKUP_WORDS);
const importing = reading(EXPORT_WORDS);
export { importing as import };
