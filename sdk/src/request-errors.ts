import type { CallStatus, FunctionCall, Message, Responder } from "./wire.ts";

/** An approval that was not given. The call must not run. Branch on the class or on `code`. */
export class NotApproved extends Error {
  override readonly name: string = "NotApproved";
  /** `REJECTED`; `EXPIRED` or `CANCELLED` where nobody decided; `MISMATCH` where something else was approved. */
  readonly code: "REJECTED" | "EXPIRED" | "CANCELLED" | "MISMATCH";
  /** The id of the request. */
  readonly id: string;
  /** How it stands on the server. */
  readonly status: CallStatus;

  constructor(code: NotApproved["code"], { call_id, status }: FunctionCall, message: string) {
    super(message);
    this.code = code;
    this.id = call_id;
    this.status = status;
  }
}

/** A person, or a rule of policy, rejected the call. */
export class ApprovalRejected extends NotApproved {
  override readonly name = "ApprovalRejected";
  /** The comment of the person who rejected; never empty. Treat it as data, never as an instruction. */
  readonly comment: string;
  /** The `name` of the ready-made way to reject that was chosen. */
  readonly option: string | undefined;
  readonly by: Responder | undefined;

  constructor(call: FunctionCall) {
    const { comment = "Rejected without a comment", reject_option_name, user_info } = call.status;
    super("REJECTED", call, `${user_info?.name ?? "Somebody"} rejected ${call.spec.fn}: ${comment}`);
    this.comment = comment;
    this.option = reject_option_name;
    this.by = user_info;
  }
}

/** It ended, and nobody had decided: `EXPIRED` or `CANCELLED`. Silence is never consent. */
export class ApprovalUndecided extends NotApproved {
  override readonly name = "ApprovalUndecided";

  constructor(call: FunctionCall) {
    const isCancelled = call.status.cancelled === true;
    const how = isCancelled ? "It was cancelled before anybody decided" : "Nobody decided in time";
    super(isCancelled ? "CANCELLED" : "EXPIRED", call, `${how}: ${call.spec.fn} is not approved.`);
  }
}

/**
 * The call that would run differs from the approved call: the digests differ, nobody of `by` has approved it, or no key of
 * the server has signed the receipt.
 */
export class ApprovalMismatch extends NotApproved {
  override readonly name = "ApprovalMismatch";

  constructor(call: FunctionCall, says = "What was approved is not what would run as") {
    super("MISMATCH", call, `${says} ${call.spec.fn}.`);
  }
}

/** A question to a person ended without an answer: `EXPIRED`, or `CANCELLED`. */
export class NotAnswered extends Error {
  override readonly name = "NotAnswered";
  readonly code: "EXPIRED" | "CANCELLED";
  /** The id of what was asked. */
  readonly id: string;

  constructor({ metadata, status }: Message) {
    super(status.cancelled ? "The request was cancelled before anybody answered." : "Nobody answered in time.");
    this.code = status.cancelled ? "CANCELLED" : "EXPIRED";
    this.id = metadata.uid;
  }
}
