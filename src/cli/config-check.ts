import { parseArgs } from "node:util";
import { findFile, listSettings, readConfig } from "../config/config.ts";
import type { SourcedValue, Setting } from "../config/setting.ts";
import { printable } from "../lib/printable.ts";
import { STORE_OPTIONS } from "./command-store.ts";
import { type Command, EXIT, STORE_FLAGS, WrongUsage } from "./command.ts";
import { table } from "./table.ts";

export const configCheck: Command = {
  usage: "[FILE] [--data-dir DIR] [--config FILE]",
  flags: { FILE: "the settings file, as with --config", ...STORE_FLAGS },
  example: "parley config check parley.yaml",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const [named, ...more] = positionals;
    if (more.length > 0 || (named !== undefined && values.config !== undefined))
      throw new WrongUsage("one settings file is checked");
    const sources = { flags: { "data-dir": values["data-dir"] }, env: io.env, file: named ?? values.config };
    const { given } = readConfig({ ...sources, refuseIdle: true });
    const set = listSettings().flatMap((setting) => {
      const found = given.get(setting.name);
      return found ? [[setting.name, valueText(setting, found), found.where]] : [];
    });
    for (const line of table(["SETTING", "VALUE", "FROM"], set)) io.out(line);
    io.tell(
      `A server would start on these settings; every other has its default. File: ${findFile(sources) ?? "none"}`,
    );
    return EXIT.done;
  },
};

function valueText({ secret }: Setting, { value }: SourcedValue): string {
  if (secret) return "[secret]";
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}
