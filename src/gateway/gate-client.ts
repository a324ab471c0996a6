import type { z } from "zod";
import type { ListedTool } from "../gate/model/tool.ts";
import type { GateCallBody, GateCallEndBody, GatePlanBody, WireGateAnswer } from "../wire/gate.ts";

/** How a run ended, as a gate says it. */
export type CallEnd = Omit<z.input<typeof GateCallEndBody>, "run">;

/** A call as a gate asks for it. */
export type CallRequest = Omit<z.input<typeof GateCallBody>, "gate" | "timeout_seconds">;

/** Calls that a client has sent together. */
export type PlanRequest = Omit<z.input<typeof GatePlanBody>, "gate" | "timeout_seconds">;
export type GatheredCall = PlanRequest["calls"][number];

/** The server's word on tools, by name. */
export interface GateTools {
  /** They are not what was accepted, or no body can hold them. */
  heldBack: ReadonlySet<string>;
  /** Their calls are planned. */
  planned: ReadonlySet<string>;
}

/** The server could not be reached for longer than the gate waits. */
export class ServerUnreachable extends Error {}

/** The server refuses the gate's request, with a sentence for people. */
export class RequestRefused extends Error {}

/** Where a gate asks whether calls may run: the server, by whichever way. */
export interface GateClient {
  /** Asks, waits so long, and starts the call where it may run. @throws {ServerUnreachable} @throws {RequestRefused} */
  ask(call: CallRequest, signal: AbortSignal): Promise<WireGateAnswer>;
  /** Shows that a call still runs; a sign that is lost is made up for by the next. */
  hold(id: string, run: string): Promise<void>;
  /** Reports how a call ended. Resolves once that is stored, or the server was away for long. */
  end(id: string, run: string, end: CallEnd): Promise<void>;
  /** Puts calls to people as one plan, where the server finds that they are one. @throws {ServerUnreachable} @throws {RequestRefused} */
  plan(plan: PlanRequest, signal: AbortSignal): Promise<void>;
  /** Tells the server of tools. @throws {ServerUnreachable} @throws {RequestRefused} */
  judge(tools: readonly ListedTool[], signal: AbortSignal): Promise<GateTools>;
}
