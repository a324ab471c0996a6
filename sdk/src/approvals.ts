import { type CallReports, reportsOn, withReports } from "./call-report.ts";
import { checkTexts, consentDigest, copyOf } from "./consent.ts";
import type { CallOptions, Connection } from "./http.ts";
import type { AnswerInquiry, AnsweringOptions } from "./inquiries.ts";
import { newKey } from "./idempotency-key.ts";
import { cancel, outcomeOf, read, request } from "./outcome.ts";
import { AWAY_MS } from "./persist.ts";
import {
  canVerify,
  isReceiptOf,
  isSigned,
  payloadOf,
  presentKeys,
  type ReceiptKeys,
  type ReceiptWanted,
} from "./receipts.ts";
import { ApprovalMismatch, ApprovalRejected, ApprovalUndecided } from "./request-errors.ts";
import { channelIdOf } from "./whom.ts";
import type { ContactChannel, FunctionCall, Responder, ResponseOption } from "./wire.ts";

/** The people whose approval counts: one of these, by id, or anybody who is enrolled. A rule of policy is not a person. */
export type ApprovedBy = "enrolled" | readonly string[];

/** The people to ask, and how. Without `to` and `channel`, the key or the server decides. */
export interface ApprovalOptions extends CallOptions {
  /** A person's exact name or id, a group, or a channel that the operator has named. */
  to?: string;
  /**
   * The people to ask, in the protocol's own form and in the place of `to`: `{ all_of: [...] }`, `{ slack: {...} }`.
   */
  channel?: ContactChannel;
  /** The ids of people, one of whom must have approved; or `enrolled` for anybody whom the operator has enrolled. */
  by?: ApprovedBy;
  /** Why, in the agent's own words: shown below a line, and no part of what is approved. */
  reason?: string;
  /** Ready-made ways to reject. */
  rejectOptions?: readonly ResponseOption[];
  /** People may change the arguments before they approve them; what they approved runs then. */
  editable?: boolean;
  /** A JSON Schema that changed arguments must fit. */
  argsSchema?: object;
  /** How long people have, 10 s to 30 days; left out, what the server says: 72 hours. It counts from the first request. */
  timeoutSeconds?: number;
  /**
   * Answers questions that people ask back before they decide; the request stays open. Without it they are told that the
   * agent cannot be asked. A thrown error ends the wait, and not the request.
   */
  onInquiry?: AnswerInquiry;
  /**
   * Promises that `done`, `failed` or `withdrawn` of the decision is called. An approved call without that is shown as
   * unknown after an hour, and not as not reported.
   */
  reports?: boolean;
  /** Groups the requests of one run of an agent. */
  runId?: string;
  /**
   * The id of the request: asking the same under the same key joins what was asked before, also from another process.
   * Left out, a fresh one.
   */
  idempotencyKey?: string;
}

/** A function call to be approved: a function and exactly its arguments. */
export interface ApprovalRequest<Args extends object> extends ApprovalOptions {
  /** The function that is to run, as people read it. */
  fn: string;
  /** Its arguments, all of them: an object of what JSON can carry. */
  args: Args;
}

/** A call that was approved, and the reports about its end. They are no members of it where it is copied or stored. */
export interface Decision<Args extends object = Record<string, unknown>> extends CallReports {
  /** The id of the request: the idempotency key. */
  id: string;
  approved: true;
  fn: string;
  /** The arguments that were approved, and that are to run. Nobody else holds them. */
  args: Args;
  /** Whether the person who approved has changed the arguments. */
  edited: boolean;
  /** The person who approved; where several had to, the last of them. */
  by: Responder | undefined;
  comment: string | undefined;
  /** The digest of `fn` and `args` that was shown, approved, and compared with them here. */
  digest: string;
  /** Where the signed receipt stands as long as the server keeps the request, and the receipt: `parley verify` checks it. */
  receiptUrl: string;
  receipt: string;
  /** Whether the receipt's signature was verified here; false where the runtime knows no Ed25519. */
  verified: boolean;
}

/** The keys and names that receipts are checked against. */
export interface ReceiptRules extends Pick<ReceiptWanted, "agents"> {
  receiptKeys: ReceiptKeys | undefined;
}

/** Asks and waits, and promises these reports; what `Parley.approve` promises. */
export async function approve<Args extends object>(
  connection: Connection,
  { fn, args: given, ...options }: ApprovalRequest<Args>,
  rules: ReceiptRules,
  reports: "start" | "end" | undefined = options.reports === true ? "end" : undefined,
): Promise<Decision<Args>> {
  const { signal, idempotencyKey, by, onInquiry } = options;
  const id = idempotencyKey ?? newKey();
  const since = idempotencyKey === undefined ? connection.clock.now() : undefined;
  const args = copyOf(given);
  checkTexts({ fn, reason: options.reason, rejectOptions: options.rejectOptions });
  const body = {
    run_id: options.runId ?? "sdk",
    call_id: id,
    reports,
    spec: {
      fn,
      kwargs: args,
      msg: options.reason,
      channel: await channelOf(connection, options),
      reject_options: options.rejectOptions,
      timeout_seconds: options.timeoutSeconds,
      editable: options.editable,
      kwargs_schema: options.argsSchema,
      answers_inquiries: onInquiry && true,
    },
  };
  const asked = await request<FunctionCall>(connection, "/function_calls", body, { signal });
  const call = await outcomeOf(connection, { path: pathOf(id), nameOf, id, onInquiry }, { signal }, asked);
  const wanted = { id, since, fn, args, isEditable: options.editable === true, by };
  return decisionOf(connection, call, wanted, { ...rules, signal });
}

/** Waits for what was asked before; what `Parley.decision` promises. */
export async function decision(
  connection: Connection,
  id: string,
  { signal, by, onInquiry }: AnsweringOptions & Pick<ApprovalOptions, "by">,
  rules: ReceiptRules,
): Promise<Decision<Record<string, unknown>>> {
  const call = await outcomeOf<FunctionCall>(connection, { path: pathOf(id), nameOf, id, onInquiry }, { signal });
  const { fn, kwargs: args, editable } = call.spec;
  const wanted = { id, since: undefined, fn, args, isEditable: editable === true, by };
  return decisionOf(connection, call, wanted, { ...rules, signal });
}

/** Withdraws the request; what `Parley.withdraw` promises. */
export async function withdraw(
  connection: Connection,
  id: string,
  { reason, signal }: CallOptions & { reason?: string },
): Promise<void> {
  await cancel(connection, `/agent${pathOf(id)}`, { reason, signal });
}

/** Takes the decision for one run; what `Parley.claim` promises. */
export async function claim(
  connection: Connection,
  id: string,
  { run, signal }: CallOptions & { run: string },
): Promise<void> {
  await request(connection, `/agent${pathOf(id)}/claim`, { run }, { signal, patienceMs: AWAY_MS });
}

/** Returns the channel that asks whom the options name. */
export async function channelOf(
  connection: Connection,
  { to, channel, signal }: Pick<ApprovalOptions, "to" | "channel" | "signal">,
): Promise<ContactChannel | undefined> {
  if (to === undefined) return channel;
  if (channel !== undefined) throw new TypeError("Say whom to ask by `to` or by `channel`, and not by both.");
  return { channel_id: await channelIdOf(connection, to, signal) };
}

/** The call that is about to run, and the conditions for its approval. */
interface Wanted<Args> extends Pick<ReceiptWanted, "since"> {
  id: string;
  fn: string;
  args: Args;
  isEditable: boolean;
  by: ApprovedBy | undefined;
}

/** @throws {NotApproved} unless exactly this was approved, or what a person made of it who was allowed to */
async function decisionOf<Args extends object>(
  connection: Connection,
  call: FunctionCall,
  { id, since, fn, args: wanted, isEditable, by }: Wanted<Args>,
  { signal, receiptKeys, agents }: CallOptions & ReceiptRules,
): Promise<Decision<Args>> {
  const { status } = call;
  if (status.expired || status.cancelled) throw new ApprovalUndecided(call);
  if (status.approved !== true) throw new ApprovalRejected(call);
  const edited = isEditable && status.edited === true && status.kwargs !== undefined;
  const args = edited ? copyOf(status.kwargs as Args) : wanted;
  const digest = await consentDigest(fn, args);
  if (status.consent_digest !== digest) throw new ApprovalMismatch(call);
  const ofThis = { callId: id, requestId: status.ask_id, digest, agents, since };
  const mismatch = (says?: string) => new ApprovalMismatch(call, says);
  const { path, receipt, payload, verified } = await checkedReceipt(connection, ofThis, {
    signal,
    receiptKeys,
    mismatch,
  });
  const people = (Array.isArray(payload.decided) ? payload.decided : [])
    .filter(({ kind }) => kind === "person")
    .map((one) => one.id);
  if (by && !(by === "enrolled" ? people.length > 0 : people.some((one) => by.includes(one))))
    throw new ApprovalMismatch(call, "Nobody of those who must has approved");
  const decision = {
    id,
    approved: true,
    fn,
    args,
    edited,
    by: status.user_info,
    comment: status.comment,
    digest,
    receiptUrl: connection.addressOf(path),
    receipt,
    verified,
  } as const;
  return withReports(decision, reportsOn(connection, id));
}

/** How a receipt is checked, and the error for one that is not of this call. */
interface ReceiptCheck extends CallOptions {
  receiptKeys: ReceiptKeys | undefined;
  mismatch: (says?: string) => Error;
}

/**
 * Returns the receipt of exactly this approval, its signature verified where the runtime can.
 *
 * @throws `mismatch` for any other receipt; {TypeError} for `receiptKeys` where the runtime knows no Ed25519
 */
export async function checkedReceipt(
  connection: Connection,
  wanted: ReceiptWanted,
  { signal, receiptKeys, mismatch }: ReceiptCheck,
): Promise<{ path: string; receipt: string; payload: ReturnType<typeof payloadOf>; verified: boolean }> {
  const path = `/receipts/${encodeURIComponent(wanted.requestId)}`;
  const receipt = await read<string>(connection, path, { signal, asText: true });
  const payload = payloadOf(receipt);
  if (!isReceiptOf(payload, wanted)) throw mismatch();
  const verified = await canVerify();
  if (verified) {
    const keys = receiptKeys ?? (await read<ReceiptKeys>(connection, "/.well-known/jwks.json", { signal }));
    if (!(await isSigned(receipt, presentKeys(keys))))
      throw mismatch("No key of the server's has signed the receipt of");
  } else if (receiptKeys) {
    throw new TypeError("Signatures cannot be verified by `receiptKeys` here: this runtime knows no Ed25519.");
  }
  return { path, receipt, payload, verified };
}

const nameOf = ({ call_id: id }: FunctionCall) => id;

function pathOf(id: string): string {
  return `/function_calls/${encodeURIComponent(id)}`;
}
