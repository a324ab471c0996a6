import { existsSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import type { Context } from "../../context.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { printable } from "../../lib/printable.ts";
import { openGroups } from "../../server/people.ts";
import type { Finding } from "../../doctor/store/checks.ts";
import {
  examineEngine,
  examineFiles,
  examinePages,
  type EngineReport,
  PAGES_SOUND,
} from "../../doctor/store/engine.ts";
import { DatabaseDamaged } from "../../core/store/damage.ts";
import type { Db, Queryable } from "../../core/store/db.ts";
import { openToExamine } from "../../core/store/open-store.ts";
import { asOf } from "../../core/store/clock/as-of.ts";
import { examineStore, MOST_OFFENDERS } from "../../doctor/examine.ts";
import { listServers } from "../../policy/store/servers.ts";
import { differingGroups } from "../../access/shared-groups.ts";
import { agentFacts } from "../tasks/agents.ts";
import { WrongUsage } from "../arguments.ts";
import { configOf } from "../command-config.ts";
import { CLIENT_FLAGS, command, EXIT, type Io, STORE_FLAGS } from "../command.ts";
import { print } from "../print.ts";
import { besideFacts } from "../connect/beside.ts";
import { examineClient } from "./client.ts";
import { readPolicy, UnreadableFile } from "../policy/input.ts";
import { agentKey, serverUrl } from "../server-client.ts";

export const doctor = command({
  takes: {
    "--quick": "only what is open and the newest 10,000 rows",
    "--client":
      "look from an agent's side instead: is the server reachable, is the key good, what is left, does a wait survive; asks one question and cancels it",
    ...CLIENT_FLAGS,
    ...STORE_FLAGS,
  },
  example: "parley doctor --quick",
  async run({ quick, client, url, json, ...place }, io) {
    if (client ? quick || place.dataDir !== undefined : url !== undefined) {
      throw new WrongUsage("--client and --url go together, without --quick and --data-dir");
    }
    let report: Report;
    try {
      report = client
        ? await lookAsAgent(url, io)
        : await lookInside(configOf(place, io), { quick, clock: systemClock }, io);
    } catch (error) {
      if (io.interrupted.aborted) throw error;
      io.tell(`parley doctor: could not look: ${error instanceof Error ? error.message : String(error)}`);
      return EXIT.usage;
    }
    const findings = report.findings;
    const facts = { ...report.facts, ...(await besideFacts(io.env)) };
    const holds = isSound(report);
    const broken = client ? "Something does not hold." : "Something is broken; nothing was changed.";
    if (json) print(json, { holds, ...(!client && { quick }), findings, facts }, [], io);
    else tellReport({ findings, facts }, broken, io);
    return holds ? EXIT.done : EXIT.refused;
  },
});

/** The findings of each check, and facts about the store. */
export interface Report {
  findings: Finding[];
  facts: EngineReport["facts"];
}

/** Returns whether nothing was found broken. */
export const isSound = ({ findings }: Report): boolean => findings.every(({ offenders }) => offenders.length === 0);

/** Prints a report for people, with its conclusion. */
export function tellReport(report: Report, broken: string, io: Io): void {
  write(report, io);
  io.out(isSound(report) ? "Everything holds." : broken);
}

/** Examines a store as it is by this clock: one that was off until now has deadlines that have passed. */
export async function lookInside(
  config: Config,
  { quick, clock }: { quick: boolean; clock: Clock },
  io: Io,
): Promise<Report> {
  const db = await openToExamine(config, clock);
  try {
    const engine = await examineEngine(db, config, clock.now(), quick);
    const isThen = clock !== systemClock && db.dialect === "postgres";
    const stored = await examineStore({ db: isThen ? asOf(db, clock.now()) : db }, { quick });
    const settings = [
      examineFiles(config),
      await examinePolicy(config),
      await examineGroups({ db }, config),
      await differingPolicies(db),
    ];
    const findings = [...stored, ...engine.findings, ...settings];
    return { findings, facts: { ...engine.facts, ...(await agentFacts(config.assignment, io)) } };
  } catch (error) {
    if (error instanceof DatabaseDamaged) return await lookAtPages(db, error);
    throw error;
  } finally {
    await db.close();
  }
}

/** Where the rows cannot all be read, the pages say what is left; the engine gives up on some of them, too. */
async function lookAtPages(db: Db, damaged: DatabaseDamaged): Promise<Report> {
  const pages = await examinePages(db).catch((error: unknown) => {
    if (error instanceof DatabaseDamaged) return { ...PAGES_SOUND, offenders: [] };
    throw error;
  });
  const findings = [{ ...pages, offenders: [damaged.message, ...pages.offenders] }];
  return { findings, facts: { engine: db.describes } };
}

/** Servers that share a store must have the same groups; which ones run is nowhere written, so the last start counts. */
async function examineGroups(ctx: Pick<Context, "db">, config: Config): Promise<Finding> {
  const finding = { check: "groups", promise: "the server that was started last has the groups of these settings" };
  try {
    const { groups } = await openGroups(ctx, config);
    const differing = (await differingGroups(ctx.db, groups)) ?? [];
    const says = (name: string) => `${name} has other people there: start each server with the same people.groups`;
    return { ...finding, offenders: differing.map(says) };
  } catch (error) {
    return { ...finding, offenders: (error as Error).message.split("\n") };
  }
}

/** People are asked about a call that one server allows and another does not. */
export async function differingPolicies(db: Queryable): Promise<Finding> {
  const servers = await listServers(db);
  const isOne = new Set(servers.map(({ policyVersion }) => policyVersion)).size <= 1;
  const says = servers.map(
    ({ name, policyVersion }) => `${name} goes by ${policyVersion}: give each server the same file`,
  );
  return { check: "policies", promise: "every running server goes by the same policy", offenders: isOne ? [] : says };
}

/** Before the first start there is no policy file: the server writes one. */
async function examinePolicy({ relay: { policyFile } }: Config): Promise<Finding> {
  const finding = { check: "policy", promise: "the policy file can be in force" };
  if (!existsSync(policyFile)) return { ...finding, offenders: [] };
  try {
    await readPolicy(policyFile);
    return { ...finding, offenders: [] };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return { ...finding, offenders: error.message.split("\n") };
  }
}

function lookAsAgent(url: string | undefined, io: Io): Promise<Report> {
  const server = serverUrl(url, io.env);
  return examineClient({
    url: server,
    key: agentKey(server, io.env),
    keyVariable: io.env["PARLEY_KEY"] ? "PARLEY_KEY" : "A2H_API_KEY",
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
    if (offenders.length >= MOST_OFFENDERS)
      io.out(`                (at most ${MOST_OFFENDERS} are named; there may be more)`);
  }
}
