import type { By, Door } from "./race-door.ts";
import type { AskFacts, Log } from "./race-log.ts";
import type { Nodes } from "./race-nodes.ts";

/** The means of a directed race. */
export interface Directed {
  nodes: Nodes;
  door: Door;
  log: Log;
}

/** A deadline that only those races meet that are about it. */
export const LONG_S = 3600;
/** One that is met at once. */
export const SHORT_S = 60;

/** Spreads what is done at once over the nodes. */
export const at = (i: number): By => ({ client: i, node: i % 3 });

/** Asks for some texts, and returns the question; it must be accepted. */
export async function ask(
  { door, log }: Directed,
  agent: string,
  need: number,
  timeoutSeconds = LONG_S,
): Promise<AskFacts> {
  const made = await door.create(at(0), agent, { need, options: 0, timeoutSeconds });
  const facts = log.asks.get(made.ask ?? "");
  if (!facts) throw new Error(`a question was refused: ${made.status} ${made.code ?? ""}`);
  return facts;
}
