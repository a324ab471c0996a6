import type { ListedTool } from "../gate/model/tool.ts";

/** What a gate is told of a call that wants to run (spec/gate 4). */
export type CallTold =
  | ({ state: "started"; id: string; arguments: unknown; edited: boolean; digest: string } & ToldOfRequest)
  | ({ state: "waiting"; id: string; expires_at: string } & ToldOfRequest)
  | ({ state: "denied"; status: string } & ToldOfRequest)
  | { state: "changed"; tool: string };

interface ToldOfRequest {
  call_id: string;
  comment?: string;
  decided_by?: { kind: string; name: string };
}

/** How a run ended, as a gate says it. */
export type SaidEnd = { outcome: "result" | "error"; result_digest: string } | { outcome: "lost" };

/** A call as a gate asks for it. */
export interface AskedCall {
  tool: ListedTool;
  args: unknown;
  /** Names this attempt, and no other. */
  run: string;
  waitSeconds: number;
}

/** Nobody is there to be asked, for longer than is waited for. */
export class DeskAway extends Error {}

/** What a gate asks is refused, in a sentence for people. */
export class DeskRefused extends Error {}

/** Where a gate asks whether calls may run: the server, by whichever way. */
export interface GateDesk {
  /** Asks, waits so long, and starts the call where it may run. @throws {DeskAway} @throws {DeskRefused} */
  ask(call: AskedCall, signal: AbortSignal): Promise<CallTold>;
  /** Shows that a call still runs; a sign that is lost is made up for by the next. */
  hold(id: string, run: string): Promise<void>;
  /** Says how a call ended; resolves once that is stored, or nobody could be told for long. */
  end(id: string, run: string, end: SaidEnd): Promise<void>;
  /** Returns the names of the tools that are not what was accepted. @throws {DeskAway} @throws {DeskRefused} */
  heldBack(tools: readonly ListedTool[], signal: AbortSignal): Promise<ReadonlySet<string>>;
}
