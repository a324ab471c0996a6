import { resolve } from "node:path";
import { makeNewFile } from "../../backup/make-new-file.ts";
import { writeAll } from "../../lib/files/durable-files.ts";
import type { Config } from "../../config/config.ts";
import { printable } from "../../lib/printable.ts";
import { erasePerson, type Erasure } from "../../personal-data/erase-person.ts";
import { exportPerson } from "../../personal-data/export-person.ts";
import { COMMAND_LINE, withStore } from "../command-store.ts";
import { command, EXIT, type Io, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print } from "../print.ts";
import { namedInSettings } from "./named-in-settings.ts";

export const peopleExport = command({
  takes: { NAME: { help: "", wire: ["person"] }, FILE: "", ...STORE_FLAGS },
  example: 'parley people export "Ana Ruiz" ana.json',
  async run({ name, file: path, ...place }, io) {
    const file = resolve(path);
    const found = await withStore(place, io, (ctx) => exportPerson(ctx, name));
    const text = Buffer.from(`${JSON.stringify(found, null, 2)}\n`);
    await makeNewFile(file, io.interrupted, (draft) => writeAll(draft, text));
    const rows = Object.values(found.tables).reduce((sum, those) => sum + those.length, found.record.length);
    io.out(`${file}  ${rows} rows about ${printable(found.name)} (${found.person})`);
    io.tell("Other people may be named in it, in what they or agents wrote: read it before you hand it on.");
    return EXIT.done;
  },
});

export const peopleErase = command({
  takes: {
    NAME: { help: "", wire: ["person"] },
    "--dry-run": "say what would be erased, and erase nothing",
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: 'parley people erase "Ana Ruiz" --dry-run',
  async run({ name, dryRun, json, ...place }, io) {
    const { erasure, places } = await withStore(place, io, async (ctx, config) => {
      const done = await erasePerson(ctx, name, { by: COMMAND_LINE, dryRun });
      return { erasure: done, places: await placesNaming(config, done) };
    });
    if (json) return print(json, wireOf(erasure, { places, dryRun }), [], io);
    printErasure(erasure, { places, dryRun, io });
    return EXIT.done;
  },
});

async function placesNaming(config: Config, erasure: Erasure): Promise<string[]> {
  const { refused, passedOver } = await namedInSettings(config, erasure);
  return [...refused, ...passedOver];
}

const wireOf = (erasure: Erasure, { places, dryRun }: { places: readonly string[]; dryRun: boolean }) => ({
  id: erasure.id,
  erased: !dryRun,
  pseudonym: erasure.pseudonym,
  addresses: erasure.addresses,
  rows: erasure.rows,
  arguments_kept: erasure.argumentsKept,
  name_shared: erasure.isNameShared,
  named_in: places,
});

function printErasure(
  { name, id, pseudonym, addresses, rows, argumentsKept, isNameShared }: Erasure,
  { places, dryRun, io }: { places: readonly string[]; dryRun: boolean; io: Pick<Io, "out" | "tell"> },
): void {
  const each = Object.entries(rows).map(([table, count]) => `${table} ${count}`);
  const where = each.length === 0 ? "in no other rows" : `and in these rows: ${each.join(", ")}`;
  const what = addresses === 1 ? "1 address" : `${addresses} addresses`;
  if (dryRun) {
    const who = `${printable(name)} (${id})`;
    io.out(`Nothing is erased yet. ${who} would become "${pseudonym}", without ${what}, ${where}.`);
  } else io.out(`Person ${id} is now called "${pseudonym}"; the name is gone and so are ${what}, ${where}.`);
  if (argumentsKept.length > 0) {
    const ids = argumentsKept.join(", ");
    io.tell(`Arguments of calls name the person still, because a digest covers what was approved: ${ids}.`);
  }
  if (isNameShared) io.tell("Somebody else has the same name: it was left where it may mean them.");
  if (places.length > 0) io.tell(`The settings still name the person: ${printable(places.join(", "))}.`);
  io.tell("Backups, exports and logs from before hold the name still.");
}
