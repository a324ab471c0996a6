import type { FastifyReply, FastifyRequest } from "fastify";
import { refuseFields } from "../../core/model/field-problem.ts";
import { identifyForRead } from "../../questions/identify.ts";
import { chargeOnce, peekLimit } from "../../core/limits.ts";
import type { AnsweringIdentity } from "../../questions/model/participant.ts";
import { callerOf, type DoorContext } from "../http/door.ts";
import { addressMac, humanCaller, participantCookie, participantToken } from "../http/principals.ts";

/** Reads from one address, whoever they come from. */
const ADDRESS_READS_PER_HOUR = 3000;

/** Knows who is asking before the route runs. */
export async function knowHuman(door: DoorContext, http: FastifyRequest): Promise<void> {
  const { caller, credentialed } = await humanCaller(door, http);
  http.facts.caller = caller;
  if (http.method !== "GET" && http.method !== "HEAD") return;

  const address = addressMac(door, http);
  const { humanReadsPerHour } = door.ctx.crowd.limits;
  if (!credentialed) {
    http.facts.limit = await door.readLimits.charge("human reads", address, humanReadsPerHour);
    return;
  }
  await door.readLimits.charge("address reads", address, Math.max(ADDRESS_READS_PER_HOUR, humanReadsPerHour));
  const subject = caller.person ?? caller.participant ?? address;
  http.facts.limit = await door.readLimits.charge("human reads", subject, humanReadsPerHour);
}

/** Returns who reads, or nothing for somebody unknown. */
export function readerOf(door: DoorContext, http: FastifyRequest): Promise<AnsweringIdentity | null> {
  return identifyForRead(door.ctx, callerOf(http));
}

/** Returns a name under which equals are spread over people: the person's, else that of the address. */
export function viewerOf(door: DoorContext, http: FastifyRequest, identity: AnsweringIdentity | null): string {
  return identity?.person ?? addressMac(door, http);
}

/** Hands a caller without a credential the one of its participant, as cookie and as header. */
export function issueCredential(door: DoorContext, reply: FastifyReply, participant: string | null): void {
  if (participant === null) return;
  const token = participantToken(door, participant);
  reply.header("set-cookie", participantCookie(door, token)).header("x-participant-token", token);
}

/** A limit of the caller's address: sent with every reply of a route, and counted before it runs. */
export function addressLimit(
  door: DoorContext,
  bucket: string,
  limit: number,
): { onRequest: (http: FastifyRequest) => Promise<void>; preHandler: (http: FastifyRequest) => Promise<void> } {
  return {
    async onRequest(http) {
      http.facts.peekLimit = () => peekLimit(door.ctx, bucket, addressMac(door, http), limit);
    },
    // In a transaction of its own: whatever becomes of the request, its try stays counted.
    async preHandler(http) {
      http.facts.limit = await chargeOnce(door.ctx, bucket, addressMac(door, http), limit);
    },
  };
}

/** Refuses a query field with a plain sentence. */
export function refuseQuery(field: string, message: string, constraint: string, more: object = {}): Error {
  return refuseFields([{ message, field, constraint, ...more }]);
}
