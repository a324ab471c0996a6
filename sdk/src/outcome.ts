import { ParleyError } from "./errors.ts";
import { pause } from "./clock.ts";
import type { Connection } from "./http.ts";
import { type AnswerInquiry, answerInquiries, type Answering } from "./inquiries.ts";
import { AWAY_MS, type Patience, persist } from "./persist.ts";
import type { RequestStatus } from "./wire.ts";

/** Where the server speaks A2H. */
export const A2H = "/a2h/v1alpha1";

/** How long the server is asked to hold one read. */
const HOLD_SECONDS = 25;

/** How long a server that cannot be reached is tried where somebody is to be asked. */
const FIRST_MS = 20_000;

/** A request to people, as far as waiting for its end goes. */
interface Request {
  spec: object;
  status: RequestStatus & { expires_at?: string | undefined; resolved_at?: string | undefined };
}

/** The part of a connection by which people are asked. */
export type Asking = Pick<Connection, "call" | "clock">;

/** Resolves with what the server made of a request; it names itself, so that it is asked once however often it is sent. */
export function request<T>(
  connection: Asking,
  path: string,
  body: object,
  patience: Omit<Patience, "clock">,
): Promise<T> {
  const { signal } = patience;
  const send = () => connection.call<T>("POST", `${A2H}${path}`, { signal, body, repeatable: true });
  return persist(send, { patienceMs: FIRST_MS, ...patience, clock: connection.clock });
}

/** Resolves with what stands on the server, which may be on its way back. */
export function read<T>(
  connection: Asking,
  path: string,
  { signal, asText = false }: { signal: AbortSignal | undefined; asText?: boolean },
): Promise<T> {
  const look = () => connection.call<T>("GET", path, { signal, asText });
  return persist(look, { signal, patienceMs: AWAY_MS, clock: connection.clock });
}

/** True once nobody can decide or answer any more. */
function isOver({ status }: Request): boolean {
  const end = status.responded_at ?? status.resolved_at;
  return end !== undefined || status.expired === true || status.cancelled === true;
}

/** A request that is waited for: its path, the id it was asked under, and the place of that id in a reply. */
interface Waited<T> {
  path: string;
  id: string;
  nameOf: (request: T) => unknown;
  /** Answers what people ask back meanwhile. */
  onInquiry?: AnswerInquiry | undefined;
}

/** Returns the reply. @throws {ParleyError} `BAD_REPLY` unless it is of this request */
function ofThis<T extends Request>(reply: T, { id, nameOf }: Waited<T>): T {
  const isRequest = [reply?.status, reply?.spec].every((part) => typeof part === "object" && part !== null);
  if (!isRequest) throw new ParleyError("BAD_REPLY", "The reply is not what a Parley server sends.", { status: 200 });
  if (nameOf(reply) !== id)
    throw new ParleyError("BAD_REPLY", "The server answered for another request.", { status: 200 });
  return reply;
}

/**
 * Resolves with the request once it is over; meanwhile each inquiry is answered by `onInquiry`.
 *
 * If the server goes away meanwhile, the wait goes on for as long as `patience` says; left out, until the deadline has
 * passed, or for ever without a deadline.
 *
 * @throws {ParleyError} `not_found`, `unauthorized`, `BAD_REPLY` for a reply about another request, the signal's reason, or what
 *   `onInquiry` throws
 */
export async function outcomeOf<T extends Request>(
  connection: Asking,
  waited: Waited<T>,
  patience: Omit<Patience, "clock">,
  first?: T,
): Promise<T> {
  const { onInquiry } = waited;
  if (!onInquiry) return endOf(connection, waited, patience, first);
  const send = (id: string, text: string, signal: AbortSignal) =>
    request(connection, `/inquiries/${encodeURIComponent(id)}/answer`, { text }, { signal, patienceMs: AWAY_MS });
  const answering = answerInquiries(onInquiry, send, patience.signal);
  try {
    return await endOf(connection, waited, { ...patience, signal: answering.signal, answering }, first);
  } finally {
    answering.end();
  }
}

async function endOf<T extends Request>(
  connection: Asking,
  waited: Waited<T>,
  { answering, ...patience }: Omit<Patience, "clock"> & { answering?: Answering },
  first?: T,
): Promise<T> {
  const { path } = waited;
  const { clock } = connection;
  const { signal } = patience;
  let latest = ofThis(first ?? (await read<T>(connection, `${A2H}${path}`, { signal })), waited);
  const call = { signal, query: { wait: HOLD_SECONDS }, timeoutMs: HOLD_SECONDS * 1000 + 15_000 };
  if (!isOver(latest)) answering?.see(latest.status);
  while (!isOver(latest)) {
    const start = clock.now();
    // Without a deadline this is not a number, which no time is later than.
    const giveUpAt = Date.parse(latest.status.expires_at ?? "") + AWAY_MS;
    const look = () => connection.call<T>("GET", `${A2H}${path}`, call);
    const usual = patience.patienceMs === undefined ? { giveUpAt } : {};
    latest = ofThis(await persist(look, { ...usual, ...patience, clock }), waited);
    if (isOver(latest)) return latest;
    answering?.see(latest.status);
    // A server that does not hold reads must not be asked in a tight loop.
    if (clock.now() - start < 1000) await pause(clock, 1000, signal);
  }
  return latest;
}

/** Withdraws a request: it leaves the inboxes, and nobody can decide it or answer it any more. */
export async function cancel(
  connection: Asking,
  path: string,
  { reason, ...patience }: Omit<Patience, "clock"> & { reason?: string | undefined },
): Promise<void> {
  await request(connection, `${path}/cancel`, { reason }, patience);
}
