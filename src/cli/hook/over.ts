import { systemClock } from "../../lib/clock.ts";
import { systemExchange } from "../../lib/network/exchange.ts";
import { OVER_S } from "../../connect/agent.ts";
import { tellNotesGiven, tellUseOver } from "../../connect/people-requests.ts";
import type { AgentRow } from "../../connect/registry.ts";
import { printedNotes, reportOf, runOfSession } from "../../connect/use-over.ts";
import { readArguments, type Takes } from "../arguments.ts";
import { EXIT, type Io } from "../command.ts";
import { agentKey, serverUrl } from "../server-client.ts";
import { sentEvent } from "./sent-event.ts";

/** The hook ends before its agent ends it, and shows an error of it. */
const WITHIN_MS = OVER_S * 1000 - 1000;
const OVER_FLAGS = { "--url URL": "the server", "--over": "a use of a tool is over" } as const satisfies Takes;

/** Returns whether a hook's command line is that of a hook after a tool, which decides nothing. */
export const isOver = (argv: readonly string[]): boolean => argv.includes("--over");

/**
 * Reports how the use of a tool ended that stands on standard input. It prints notes of people to the agent, and nothing
 * that the agent could take for a decision, and ends with 0, whatever happens: the tool has run, and a server that is away
 * changes nothing of that. A note that the agent has got, and that the server did not learn of, comes once more.
 */
export async function reportOver(row: AgentRow, argv: readonly string[], io: Io): Promise<number> {
  const late = new AbortController();
  void systemClock.sleep(WITHIN_MS, io.interrupted).then(() => late.abort());
  const { signal } = late;
  try {
    const { bytes, isCut } = await sentEvent(signal);
    const { name, agentId, after } = await row.load();
    const over = isCut || signal.aborted ? null : (after?.read(bytes) ?? null);
    const report = over && reportOf({ name }, over);
    if (!report) return EXIT.done;
    const url = serverUrl(readArguments(OVER_FLAGS, argv).url, io.env);
    const server = { url, key: agentKey(url, io.env), agentId, clock: systemClock, exchange: systemExchange };
    const place = { ...server, signal, leaseSeconds: 0 };
    const notes = await tellUseOver(place, report);
    if (notes.length === 0 || over.takesNotesAt === undefined) return EXIT.done;
    const texts = notes.map(({ text }) => text);
    io.out(printedNotes(over.takesNotesAt, texts));
    const ids = notes.map(({ id }) => id);
    await tellNotesGiven(place, { run_id: runOfSession(over.session), notes: ids });
  } catch {
    // The end of the call stays unknown to people, which is what they are shown then.
  }
  return EXIT.done;
}
