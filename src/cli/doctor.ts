import { parseArgs } from "node:util";
import { loadConfig } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { printable } from "../lib/printable.ts";
import type { Finding } from "../store/doctor.ts";
import { examineEngine, examineFiles, type EngineReport } from "../store/doctor-engine.ts";
import { openToExamine } from "../store/open-store.ts";
import { examineStore } from "../verbs/examine-store.ts";
import { STORE_OPTIONS } from "./command-store.ts";
import { type Command, EXIT, type Io, STORE_FLAGS } from "./command.ts";

export const doctor: Command = {
  usage: "[--quick] [--json]",
  does: "check that the store keeps its promises, beside a running server too; repairs nothing",
  flags: {
    "--quick": "only what is open and the newest 10,000 rows",
    "--json": "print JSON",
    ...STORE_FLAGS,
  },
  example: "parley doctor --quick",
  async run(argv, io) {
    const { values } = parseArgs({
      args: [...argv],
      options: { ...STORE_OPTIONS, quick: { type: "boolean" }, json: { type: "boolean" } },
    });
    const quick = values.quick ?? false;
    let findings: Finding[];
    let engine: EngineReport;
    try {
      const config = loadConfig({ flags: { "data-dir": values["data-dir"] }, env: io.env, file: values.config });
      const db = await openToExamine(config, systemClock);
      try {
        engine = await examineEngine(db, config, systemClock.now(), quick);
        findings = [...(await examineStore({ db }, { quick })), ...engine.findings, examineFiles(config)];
      } finally {
        await db.close();
      }
    } catch (error) {
      io.tell(`parley doctor: could not look: ${error instanceof Error ? error.message : String(error)}`);
      return EXIT.usage;
    }
    const holds = findings.every(({ offenders }) => offenders.length === 0);
    if (values.json) io.out(JSON.stringify({ holds, quick, findings, facts: engine.facts }));
    else write({ findings, facts: engine.facts, holds }, io);
    return holds ? EXIT.done : EXIT.refused;
  },
};

function write(
  { findings, facts, holds }: { findings: Finding[]; facts: EngineReport["facts"]; holds: boolean },
  io: Io,
) {
  for (const [name, value] of Object.entries(facts)) io.out(`${name.replaceAll("_", " ").padEnd(16)}${value}`);
  for (const { check, promise, offenders } of findings) {
    io.out(`${(offenders.length === 0 ? "holds" : "BROKEN").padEnd(8)}${check.padEnd(8)}${promise}`);
    for (const offender of offenders) io.out(`                ${printable(offender)}`);
  }
  io.out(holds ? "Everything holds." : "Something is broken; nothing was changed.");
}
