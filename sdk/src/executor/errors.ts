import type { Answer } from "./wire.ts";

/** An ask that ended without the answer that was asked for. Branch on the class or on `code`. */
export class AskError extends Error {
  override readonly name: string = "AskError";
  /** Such as `E_POLICY_DENY`. */
  readonly code: string;
  readonly answer: Answer;

  constructor(answer: Answer, code?: string, message?: string) {
    super(message ?? answer.error ?? answer.answer_text ?? `The ask ended with ${answer.status}.`);
    this.code = code ?? answer.error_code ?? answer.status;
    this.answer = answer;
  }
}

/** Policy or a person rejected the ask. */
export class AskRejected extends AskError {
  override readonly name = "AskRejected";
}

/** Nobody answered in time; silence is never consent. */
export class AskTimedOut extends AskError {
  override readonly name = "AskTimedOut";
}

/** It could not be answered, or the answer is not to be used. */
export class AskFailed extends AskError {
  override readonly name = "AskFailed";
}

/**
 * The job is not held any more: `FENCED` when the server gave it to somebody else, `JOB_CLOSED` when it was ended,
 * `LEASE_EXPIRED` when the server could not be reached in time, `RELEASED` when it was given back from here.
 *
 * An ask made in the job's name stays open: the next holder of the job joins it.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
