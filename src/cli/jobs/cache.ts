import { forgetCached } from "../../asks/respond/forget-decisions.ts";
import { COMMAND_LINE, withStore } from "../command-store.ts";
import { command, EXIT, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print } from "../print.ts";

export const cacheClear = command({
  takes: { "--role R": "a role's id: those of every version of it", ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley cache clear --role role.clarifier",
  async run({ role, json, ...place }, io) {
    const which = role === undefined ? "all" : { role };
    const forgotten = await withStore(place, io, (ctx) => forgetCached(ctx, which, COMMAND_LINE));
    if (json) return print(json, { forgotten }, [], io);
    io.tell(forgotten === 1 ? "1 decision is forgotten." : `${forgotten} decisions are forgotten.`);
    return EXIT.done;
  },
});
