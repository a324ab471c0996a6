import { findFile, listSettings, readConfig } from "../config/config.ts";
import type { SourcedValue, Setting } from "../config/setting.ts";
import { printable } from "../lib/printable.ts";
import { WrongUsage } from "./arguments.ts";
import { sourcesOf } from "./command-config.ts";
import { command, EXIT, STORE_FLAGS } from "./command.ts";
import { table } from "./print.ts";

export const configCheck = command({
  takes: { "[FILE]": "the settings file, as with --config", ...STORE_FLAGS },
  example: "parley config check parley.yaml",
  async run({ file, config, dataDir }, io) {
    if (file !== undefined && config !== undefined) throw new WrongUsage("one settings file is checked");
    const sources = sourcesOf({ dataDir, config: file ?? config }, io);
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
});

function valueText({ secret }: Setting, { value }: SourcedValue): string {
  if (secret) return "[secret]";
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}
