import { printableJson } from "../../lib/printable.ts";
import { parseArgs } from "node:util";
import { forgetCached } from "../../asks/forget-decisions.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, STORE_FLAGS } from "../command.ts";

export const cacheClear: Command = {
  usage: "[--role R] [--json]",
  flags: { "--role R": "a role's id: those of every version of it", "--json": "print JSON", ...STORE_FLAGS },
  example: "parley cache clear --role role.clarifier",
  async run(argv, io) {
    const options = { ...STORE_OPTIONS, role: { type: "string" }, json: { type: "boolean" } } as const;
    const { values } = parseArgs({ args: [...argv], options });
    const { role } = values;
    const forgotten = await withStore(values, io, (ctx) =>
      forgetCached(ctx, role === undefined ? "all" : { role }, COMMAND_LINE),
    );
    if (values.json) io.out(printableJson(JSON.stringify({ forgotten })));
    else io.tell(forgotten === 1 ? "1 decision is forgotten." : `${forgotten} decisions are forgotten.`);
    return EXIT.done;
  },
};
