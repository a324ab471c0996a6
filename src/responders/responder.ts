import type { AnswerStatus, Attestation, ChoiceOption, ErrorCode, Job, RelayAsk } from "../asks/model/ask.ts";
import type { PolicyTrace } from "../policy/model/trace.ts";

/** What a responder is given: the ask, its job, and what was settled before it was offered. */
export interface AskOffer {
  ask: RelayAsk;
  job: Job;
  /** Of a CHOICE with listed options; else empty. */
  options: readonly ChoiceOption[];
  /** What policy said of this ask. */
  trace: PolicyTrace;
  /** Milliseconds left until the ask's own deadline. */
  leftMs: number;
  /** What was asked and answered before, in a chain of follow-ups; oldest first. */
  rounds: readonly { prompt: string; askBack?: string; text?: string; json?: unknown }[];
}

/** A final answer. Ids, status of anything but the words, trace and time come from the server. */
export interface ResponderAnswer {
  is: "answer";
  status: AnswerStatus;
  text?: string;
  json?: unknown;
  artifacts?: readonly string[];
  cacheable: boolean;
  askBack?: string;
  error?: { code: ErrorCode; text: string };
  attestation?: Attestation;
  truncated?: boolean;
  /** What the record of the stage says. */
  because: string;
}

/** No answer from this one: the next stage is offered the ask. */
export interface ResponderPass {
  is: "pass";
  because: string;
  /** A question to the executor, shown to people beside the ask. */
  askBack?: string;
  /** Of a decision that people make: what a machine thinks of it. It decides nothing. */
  opinion?: string;
  /** A failure that people should know of, and that ends the ask where there are none. */
  error?: { code: ErrorCode; text: string };
}

/**
 * Something that may answer before people are asked. It writes nothing and never throws to say "I don't know":
 * whatever it returns says why.
 */
export interface Responder {
  name: "policy" | "cache" | "runner";
  respond(offer: AskOffer, signal: AbortSignal): Promise<ResponderAnswer | ResponderPass>;
}
