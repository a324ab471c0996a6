import { parseArgs } from "node:util";
import { localTime } from "../../lib/local-time.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { acceptTool, listToolPins, type ToolPin } from "../../asks/pin-tool.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, type Io, onlyArgument, STORE_FLAGS } from "../command.ts";
import { table } from "../table.ts";

export const toolsList: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley tools list",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: { ...STORE_OPTIONS, json: { type: "boolean" } } });
    const pins = await withStore(values, io, (ctx) => listToolPins(ctx));
    if (values.json) {
      io.out(printableJson(JSON.stringify(pins.map(toWire))));
      return EXIT.done;
    }
    const rows = pins.map(({ name, pinnedAt, changed }) => [
      printable(name),
      localTime(pinnedAt),
      changed ? `changed ${localTime(changed.at)}, not offered` : "as accepted",
    ]);
    for (const line of table(["TOOL", "ACCEPTED", "STATE"], rows)) io.out(line);
    for (const pin of pins) showChange(pin, io);
    return EXIT.done;
  },
};

export const toolsAccept: Command = {
  usage: "NAME [--digest DIGEST]",
  flags: {
    "--digest DIGEST": "accept this form, as parley tools list shows it; left out, show it and ask at the terminal",
    ...STORE_FLAGS,
  },
  example: "parley tools accept db.schema.reader",
  async run(argv, io) {
    const options = { ...STORE_OPTIONS, digest: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options });
    const name = onlyArgument(positionals, "NAME");
    const pins = await withStore(values, io, (ctx) => listToolPins(ctx));
    const pin = pins.find((one) => one.name === name);
    if (!pin?.changed) {
      io.tell(`parley: ${printable(name)} has not changed since it was accepted, or was never offered.`);
      return EXIT.refused;
    }
    showChange(pin, io);
    const hash = values.digest ?? (await seenHash(pin.changed.hash, io));
    if (hash === null) return EXIT.refused;
    const before = await withStore(values, io, (ctx) => acceptTool(ctx, COMMAND_LINE, { tool: name, hash }));
    if (!before) {
      io.tell(`parley: the present form of ${printable(name)} is another one. Look at it with parley tools list.`);
      return EXIT.refused;
    }
    io.tell(`${printable(name)} is accepted in the form ${hash}.`);
    return EXIT.done;
  },
};

/** Returns the hash of the form that was just shown, once somebody at the terminal accepts it. */
async function seenHash(hash: string, io: Io): Promise<string | null> {
  if (io.prompt) return /^y(es)?$/i.test((await io.prompt("Accept this form? [y/N] "))?.trim() ?? "") ? hash : null;
  io.tell("parley: nobody sits at a terminal: say with --digest which form was looked at.");
  return null;
}

/** Prints a tool's changed definition. It is foreign text, so control characters are made visible. */
function showChange({ name, definition, changed }: ToolPin, io: Io): void {
  if (!changed) return;
  io.tell(`${printable(name)}, now ${changed.hash}:`);
  for (const line of lineDiff(readable(definition), readable(changed.definition))) io.tell(`  ${printable(line)}`);
}

function readable(definition: string): string {
  return `${JSON.stringify(JSON.parse(definition), null, 2)}\n`;
}

function toWire({ name, hash, definition, pinnedAt, changed }: ToolPin) {
  return {
    name,
    hash,
    definition: JSON.parse(definition) as unknown,
    accepted_at: timeText(pinnedAt),
    changed: changed && {
      hash: changed.hash,
      definition: JSON.parse(changed.definition) as unknown,
      changed_at: timeText(changed.at),
    },
  };
}

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
