import type { z } from "zod";
import type { ListedTool } from "../gate/model/tool.ts";
import type { GateCallBody, GateCallEndBody, WireGateAnswer } from "../wire/gate.ts";

/** How a run ended, as a gate says it. */
export type SaidEnd = Omit<z.input<typeof GateCallEndBody>, "run">;

/** A call as a gate asks for it. */
export type AskedCall = Omit<z.input<typeof GateCallBody>, "gate" | "timeout_seconds">;

/** Nobody is there to be asked, for longer than is waited for. */
export class DeskAway extends Error {}

/** What a gate asks is refused, in a sentence for people. */
export class DeskRefused extends Error {}

/** Where a gate asks whether calls may run: the server, by whichever way. */
export interface GateDesk {
  /** Asks, waits so long, and starts the call where it may run. @throws {DeskAway} @throws {DeskRefused} */
  ask(call: AskedCall, signal: AbortSignal): Promise<WireGateAnswer>;
  /** Shows that a call still runs; a sign that is lost is made up for by the next. */
  hold(id: string, run: string): Promise<void>;
  /** Says how a call ended; resolves once that is stored, or nobody could be told for long. */
  end(id: string, run: string, end: SaidEnd): Promise<void>;
  /** Returns the names of the tools that are not what was accepted. @throws {DeskAway} @throws {DeskRefused} */
  heldBack(tools: readonly ListedTool[], signal: AbortSignal): Promise<ReadonlySet<string>>;
}
