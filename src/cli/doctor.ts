import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Config, loadConfig } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { systemFetch } from "../lib/fetch.ts";
import { printable } from "../lib/printable.ts";
import type { Finding } from "../store/doctor.ts";
import { examineEngine, examineFiles, type EngineReport } from "../store/doctor-engine.ts";
import { openToExamine } from "../store/open-store.ts";
import { examineStore } from "../verbs/examine-store.ts";
import { agentFacts } from "./agents.ts";
import { STORE_OPTIONS } from "./command-store.ts";
import { CLIENT_FLAGS, type Command, EXIT, type Io, STORE_FLAGS, WrongUsage } from "./command.ts";
import { examineClient } from "./doctor-client.ts";
import { readPolicy, UnreadableFile } from "./policy-input.ts";
import { CLIENT_OPTIONS, serverUrl } from "./questions.ts";

export const doctor: Command = {
  usage: "[--quick] [--json] | --client [--url URL] [--json]",
  does: "check that the store keeps its promises, or with --client that agents can ask and wait; repairs nothing",
  flags: {
    "--quick": "only what is open and the newest 10,000 rows",
    "--client":
      "look from an agent's side instead: is the server reachable, is the key good, what is left, does a wait survive; asks one question and cancels it",
    ...CLIENT_FLAGS,
    ...STORE_FLAGS,
  },
  example: "parley doctor --quick",
  async run(argv, io) {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        ...STORE_OPTIONS,
        ...CLIENT_OPTIONS,
        quick: { type: "boolean" },
        client: { type: "boolean" },
      },
    });
    const { client = false, quick = false } = values;
    if (client ? quick || values["data-dir"] !== undefined : values.url !== undefined) {
      throw new WrongUsage("--client and --url go together, without --quick and --data-dir");
    }
    let report: Report;
    try {
      report = client ? await lookAsAgent(values.url, io) : await lookInside(values, quick, io);
    } catch (error) {
      if (io.interrupted.aborted) throw error;
      io.tell(`parley doctor: could not look: ${error instanceof Error ? error.message : String(error)}`);
      return EXIT.usage;
    }
    const { findings, facts } = report;
    const holds = findings.every(({ offenders }) => offenders.length === 0);
    if (values.json) io.out(JSON.stringify({ holds, ...(!client && { quick }), findings, facts }));
    else {
      write(report, io);
      const broken = client ? "Something does not hold." : "Something is broken; nothing was changed.";
      io.out(holds ? "Everything holds." : broken);
    }
    return holds ? EXIT.done : EXIT.refused;
  },
};

interface Report {
  findings: Finding[];
  facts: EngineReport["facts"];
}

async function lookInside(
  flags: { "data-dir"?: string | undefined; config?: string | undefined },
  quick: boolean,
  io: Io,
): Promise<Report> {
  const config = loadConfig({ flags: { "data-dir": flags["data-dir"] }, env: io.env, file: flags.config });
  const db = await openToExamine(config, systemClock);
  try {
    const engine = await examineEngine(db, config, systemClock.now(), quick);
    const stored = await examineStore({ db }, { quick });
    const findings = [...stored, ...engine.findings, examineFiles(config), examinePolicy(config)];
    return { findings, facts: { ...engine.facts, ...(await agentFacts(config.assignment, io)) } };
  } finally {
    await db.close();
  }
}

/** Before the first start there is no policy file: the server writes one. */
function examinePolicy({ relay: { policyFile } }: Config): Finding {
  const finding = { check: "policy", promise: "the policy file can be in force" };
  if (!existsSync(policyFile)) return { ...finding, offenders: [] };
  try {
    readPolicy(policyFile);
    return { ...finding, offenders: [] };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return { ...finding, offenders: error.message.split("\n") };
  }
}

function lookAsAgent(url: string | undefined, io: Io): Promise<Report> {
  return examineClient({
    url: serverUrl(url, io.env),
    key: io.env["PARLEY_KEY"] || undefined,
    fetch: systemFetch,
    clock: systemClock,
    signal: io.interrupted,
  });
}

function write({ findings, facts }: Report, io: Io) {
  for (const [name, value] of Object.entries(facts)) io.out(`${name.replaceAll("_", " ").padEnd(16)}${value}`);
  for (const { check, promise, offenders } of findings) {
    io.out(`${(offenders.length === 0 ? "holds" : "BROKEN").padEnd(8)}${check.padEnd(8)}${promise}`);
    for (const offender of offenders) io.out(`                ${printable(offender)}`);
  }
}
