import { printable, printableJson } from "../../lib/printable.ts";
import { addressMac } from "../../requests/decide/decision-origin.ts";
import { readAudit } from "../../core/read-audit.ts";
import { WrongUsage } from "../arguments.ts";
import { withStore } from "../command-store.ts";
import { command, EXIT, type Io, STORE_FLAGS } from "../command.ts";
import { addressFrom, deciderLine } from "../ask/decision-origin.ts";
import { CSV_COLUMNS, csvCells, csvLine } from "./record-csv.ts";
import { table } from "../print.ts";

const PAGE = 1000;

/** The members of every entry of the record, and those of a decision. */
interface Entry {
  seq: number;
  at: string;
  action: string;
  actor: { kind: string; id: string };
  via?: string;
  delivery?: string;
  address_mac?: string;
}

export const record = command({
  takes: {
    "[ASK]": "",
    "--address ADDRESS": {
      help: "only what was decided from this mail address, phone number or Slack user; exit 1 if nothing was",
      read: addressFrom,
    },
    "--since DAY": {
      help: "only what happened on this day or later, or from this time on, such as 2026-11-01",
      read: timeFrom,
    },
    "--until DAY": { help: "only what happened before this day or time", read: timeFrom },
    "--csv": "print a table for spreadsheets; without ASK the whole record",
    "--json": { help: "print the entries as JSON, one on each line; without ASK the whole record", or: true },
    ...STORE_FLAGS,
  },
  example: "parley record ask_5b0e --address ana@example.com",
  async run({ ask: subjectId, address, since: sinceMs, until: untilMs, csv, json, ...place }, io) {
    if (csv && json) throw new WrongUsage("--csv and --json are two ways to print it; give one");
    if (subjectId === undefined && !csv && !json) throw new WrongUsage("ASK is missing");
    if (address !== undefined && subjectId === undefined) throw new WrongUsage("--address needs an ASK");
    const printed = printer({ csv, json }, io);
    const { found, wanted } = await withStore(place, io, async (ctx) => {
      const mac = address && subjectId !== undefined ? addressMac(ctx, subjectId, address) : null;
      const count = { found: 0, wanted: 0 };
      for await (const entry of entries(ctx, { subjectId, sinceMs, untilMs })) {
        count.found += 1;
        if (mac !== null && entry.address_mac !== mac) continue;
        count.wanted += 1;
        printed.add(entry);
      }
      return count;
    });
    if (wanted === 0) {
      io.tell(found === 0 ? "The record says nothing of it." : "Nothing about it was decided from that address.");
      return EXIT.refused;
    }
    printed.end();
    return EXIT.done;
  },
});

/** Prints entries one by one, so that a long record is never held whole; a table needs all of them for its widths. */
function printer({ csv, json }: { csv: boolean; json: boolean }, io: Pick<Io, "out">) {
  const rows: string[][] = [];
  let isFirst = true;
  return {
    add(entry: Entry): void {
      if (json) io.out(printableJson(JSON.stringify(entry)));
      else if (csv) {
        if (isFirst) io.out(csvLine(CSV_COLUMNS));
        io.out(csvLine(csvCells({ ...entry })));
      } else {
        const { at, action, actor, via, delivery } = entry;
        rows.push([at, action, printable(deciderLine({ ...actor, via, delivery }))]);
      }
      isFirst = false;
    },
    end(): void {
      if (!json && !csv) for (const line of table(["AT", "ACTION", "BY"], rows)) io.out(line);
    },
  };
}

/** Returns the time that a day begins with, by UTC as the record's times are, or the very time that was named. */
function timeFrom(text: string, name: string): number {
  const ms = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms))
    throw new WrongUsage(`${name} must be a day or a time, such as 2026-11-01 or 2026-11-01T09:30:00Z`);
  return ms;
}

async function* entries(
  ctx: Parameters<typeof readAudit>[0],
  span: { subjectId: string | undefined; sinceMs: number | undefined; untilMs: number | undefined },
): AsyncGenerator<Entry> {
  for (let afterSeq = 0; ;) {
    const { items } = await readAudit(ctx, { ...span, afterSeq, limit: PAGE });
    yield* items as unknown as Entry[];
    afterSeq = items.at(-1)?.seq ?? afterSeq;
    if (items.length < PAGE) return;
  }
}
