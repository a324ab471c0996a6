import { parseArgs } from "node:util";
import { printable } from "../../lib/printable.ts";
import { type Command, EXIT } from "../command.ts";
import { table } from "../table.ts";
import { agentsNamed, eachReadable, rowOf, stateOf } from "./found.ts";

export const connectStatus: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON" },
  example: "parley connect status",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: { json: { type: "boolean" } } });
    const agents = (await agentsNamed([], io.env)).filter((one) => one.isHere);
    const through = eachReadable(agents, (one) => stateOf(one, "hook"), io).filter((isIn) => isIn === true);
    if (values.json) {
      const rows = agents.map((one) => ({
        agent: one.agent.name,
        version: one.version,
        hook: rowOf(one, io.env)[2],
        mcp: rowOf(one, io.env)[3],
        files: [...new Set(one.parts.map(({ file }) => file))],
      }));
      io.out(JSON.stringify(rows));
      return EXIT.done;
    }
    io.out(`${through.length} of ${agents.length} agents of this computer go through Parley`);
    const rows = agents.map((one) => rowOf(one, io.env));
    if (agents.length > 0)
      for (const line of table(["AGENT", "VERSION", "HOOK", "MCP", "FILES"], rows)) io.out(printable(line));
    return EXIT.done;
  },
};
