import type { AnswerStatus, Attestation, ChoiceOption, ErrorCode, Job, Ask } from "../asks/model/ask.ts";
import type { PolicyTrace } from "../policy/model/trace.ts";

/** The offer to a responder: an ask, its job, and the facts settled before. */
export interface AskOffer {
  ask: Ask;
  job: Job;
  /** The options of a CHOICE that lists them; else empty. */
  options: readonly ChoiceOption[];
  /** The decision of policy on this ask. */
  trace: PolicyTrace;
  /** Milliseconds left until the ask's own deadline. */
  leftMs: number;
  /** Earlier questions and answers in a chain of follow-ups; oldest first. */
  rounds: readonly { prompt: string; askBack?: string; text?: string; json?: unknown }[];
}

/** A final answer. Ids, status of anything but the words, trace and time come from the server. */
export interface ResponderAnswer {
  kind: "answer";
  status: AnswerStatus;
  text?: string;
  json?: unknown;
  artifacts?: readonly string[];
  cacheable: boolean;
  askBack?: string;
  error?: { code: ErrorCode; text: string };
  attestation?: Attestation;
  truncated?: boolean;
  /** The reason in the record of the stage. */
  because: string;
}

/** No answer from this one: the next stage is offered the ask. */
export interface ResponderPass {
  kind: "pass";
  because: string;
  /** A question to the executor, shown to people beside the ask. */
  askBack?: string;
  /** A machine's opinion on a decision that people make. It decides nothing. */
  opinion?: string;
  /** A failure that people should know of, and that ends the ask if it has no people to ask. */
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
