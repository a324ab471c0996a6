import { parseArgs } from "node:util";
import { printable, printableJson } from "../lib/printable.ts";
import { addressMac } from "../requests/pressed-by.ts";
import { readAudit } from "../core/read-audit.ts";
import { STORE_OPTIONS, withStore } from "./command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS } from "./command.ts";
import { addressFrom, deciderLine } from "./pressed.ts";
import { table } from "./table.ts";

const PAGE = 1000;

/** What the record says in every entry, and what it says of decisions. */
interface Entry {
  seq: number;
  at: string;
  action: string;
  actor: { kind: string; id: string };
  via?: string;
  delivery?: string;
  address_mac?: string;
}

export const record: Command = {
  usage: "ASK [--address ADDRESS] [--json]",
  flags: {
    "--address ADDRESS":
      "only what was decided from this mail address, phone number or Slack user; exit 1 if nothing was",
    "--json": "print the entries as JSON, one on each line",
    ...STORE_FLAGS,
  },
  example: "parley record ask_5b0e --address ana@example.com",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...STORE_OPTIONS, address: { type: "string" }, json: { type: "boolean" } },
    });
    const askId = onlyArgument(positionals, "ASK");
    const address = values.address === undefined ? null : addressFrom(values.address);
    const { found, wanted } = await withStore(values, io, async (ctx) => {
      const all = await entriesOf(ctx, askId);
      const mac = address && addressMac(ctx, askId, address);
      return { found: all.length, wanted: mac === null ? all : all.filter(({ address_mac }) => address_mac === mac) };
    });
    if (wanted.length === 0) {
      io.tell(found === 0 ? "The record says nothing of it." : "Nothing about it was decided from that address.");
      return EXIT.refused;
    }
    if (values.json) for (const entry of wanted) io.out(printableJson(JSON.stringify(entry)));
    else {
      const rows = wanted.map((entry) => [
        entry.at,
        entry.action,
        printable(deciderLine({ ...entry.actor, via: entry.via, delivery: entry.delivery })),
      ]);
      for (const line of table(["AT", "ACTION", "BY"], rows)) io.out(line);
    }
    return EXIT.done;
  },
};

async function entriesOf(ctx: Parameters<typeof readAudit>[0], askId: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for (;;) {
    const { items } = await readAudit(ctx, { askId, afterSeq: all.at(-1)?.seq ?? 0, limit: PAGE });
    all.push(...(items as unknown as Entry[]));
    if (items.length < PAGE) return all;
  }
}
