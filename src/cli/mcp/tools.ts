import { localTime } from "../../lib/local-time.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { printable } from "../../lib/printable.ts";
import { acceptTool, listToolPins, type ToolPin } from "../../asks/tools/pin-tool.ts";
import { COMMAND_LINE, withStore } from "../command-store.ts";
import { command, EXIT, type Io, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print, table, utcText } from "../print.ts";

export const toolsList = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley tools list",
  async run({ json, ...place }, io) {
    const pins = await withStore(place, io, (ctx) => listToolPins(ctx));
    const rows = pins.map(({ name, pinnedAt, changed }) => [
      printable(name),
      localTime(pinnedAt),
      changed ? `changed ${localTime(changed.at)}, not offered` : "as accepted",
    ]);
    print(json, pins.map(toWire), table(["TOOL", "ACCEPTED", "STATE"], rows), io);
    if (!json) for (const pin of pins) showChange(pin, io);
    return EXIT.done;
  },
});

export const toolsAccept = command({
  takes: {
    NAME: "",
    "--digest DIGEST": "accept this form, as parley tools list shows it; left out, show it and ask at the terminal",
    ...STORE_FLAGS,
  },
  example: "parley tools accept db.schema.reader",
  async run({ name, digest, ...place }, io) {
    const pins = await withStore(place, io, (ctx) => listToolPins(ctx));
    const pin = pins.find((one) => one.name === name);
    if (!pin?.changed) {
      io.tell(`parley: ${printable(name)} has not changed since it was accepted, or was never offered.`);
      return EXIT.refused;
    }
    showChange(pin, io);
    const hash = digest ?? (await seenHash(pin.changed.hash, io));
    if (hash === null) return EXIT.refused;
    const before = await withStore(place, io, (ctx) => acceptTool(ctx, COMMAND_LINE, { tool: name, hash }));
    if (!before) {
      io.tell(`parley: the present form of ${printable(name)} is another one. Look at it with parley tools list.`);
      return EXIT.refused;
    }
    io.tell(`${printable(name)} is accepted in the form ${hash}.`);
    return EXIT.done;
  },
});

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
    accepted_at: utcText(pinnedAt),
    changed: changed && {
      hash: changed.hash,
      definition: JSON.parse(changed.definition) as unknown,
      changed_at: utcText(changed.at),
    },
  };
}
