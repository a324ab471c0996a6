import { sha256Digest } from "../../lib/json/exact-json.ts";
import type { Request, RequestForm } from "./request.ts";

/** When something in an inbox is due: within an hour, within a day, after that, or never. */
export const INBOX_DUE = ["soon", "today", "later", "none"] as const;
export type InboxDue = (typeof INBOX_DUE)[number];

export type InboxKind = RequestForm["kind"];

/** The orders in which what waits is listed: the first to be due, the one that has waited longest, or the riskiest first. */
export const INBOX_ORDERS = ["deadline", "asked", "risk"] as const;
export type InboxOrder = (typeof INBOX_ORDERS)[number];

/** Where a page of an inbox ended: the deadline and the time of asking of what waits, or when what is over ended. */
export interface InboxPosition {
  at: number;
  createdAt: number;
  id: string;
  /** How many risks were gone through before, in the order of risk. */
  rank?: number;
  /** It is among those that somebody handed to the person, which come first. */
  isHanded?: boolean;
}

/** Returns the place behind which a list goes on after this request. */
export function placeInInbox(
  { state, expiresAt, settledAt, createdAt, id }: Request,
  order: InboxOrder,
): InboxPosition {
  return { at: state !== "open" ? (settledAt ?? 0) : order === "asked" ? createdAt : expiresAt, createdAt, id };
}

/** Which requests of an inbox: those that wait or those that are over, and of them what is wanted. */
export interface InboxFilter {
  state: "open" | "over";
  kind?: InboxKind;
  /** Only of an inbox that waits. */
  due?: InboxDue;
  /** Only for waiting requests: the requester's name as people see it. */
  agent?: string;
  /** Of what waits, what the person has put aside or handed on, in place of all else. */
  snoozed?: boolean;
}

/** The longest time for which somebody puts a request aside. */
export const LONGEST_SNOOZE_MS = 30 * 86_400_000;

/** The longest time for which somebody is away. */
export const LONGEST_ABSENCE_MS = 366 * 86_400_000;

/**
 * Returns when a request that somebody puts aside until then comes back: no later than when half of the time to its
 * deadline has passed, so that nothing runs out unseen.
 */
export function snoozeEnd(until: number, { now, expiresAt }: { now: number; expiresAt: number }): number {
  return Math.min(until, now + Math.floor((expiresAt - now) / 2));
}

/** Returns the name of the waiting calls of one agent and function: the same for each of them, and for no other call. */
export function batchId(asker: string, fn: string): string {
  return sha256Digest(JSON.stringify([asker, fn])).slice("sha256:".length, "sha256:".length + 32);
}

/** How many open requests of an inbox are alike. */
export interface InboxGroup {
  kind: InboxKind;
  asker: string;
  /** The requester's name as people see it. */
  agent: string;
  due: InboxDue;
  /** The person has put them aside or handed them on. */
  isSnoozed: boolean;
  count: number;
  /** When the newest of them was asked. */
  newestAt: number;
}

/** The counts of waiting requests in an inbox; `at` is when they were counted, by the store's clock. */
export interface InboxCounts {
  at: number;
  all: number;
  kinds: Readonly<Record<InboxKind, number>>;
  due: Readonly<Record<InboxDue, number>>;
  agents: ReadonlyMap<string, number>;
  newestAt: number | null;
  /** How many of what is wanted are put aside or handed on. */
  snoozed: number;
}

/** Adds up the groups of an inbox that a filter lets through. */
export function inboxCounts(
  { groups, at }: { groups: readonly InboxGroup[]; at: number },
  filter: Omit<InboxFilter, "state">,
): InboxCounts {
  const kinds = { approval: 0, reply: 0, value: 0 };
  const due = { soon: 0, today: 0, later: 0, none: 0 };
  const agents = new Map<string, number>();
  let all = 0;
  let newestAt: number | null = null;
  let snoozed = 0;
  for (const group of groups) {
    if (filter.kind !== undefined && group.kind !== filter.kind) continue;
    if (filter.due !== undefined && group.due !== filter.due) continue;
    if (filter.agent !== undefined && group.agent !== filter.agent) continue;
    if (group.isSnoozed) snoozed += group.count;
    if (group.isSnoozed !== (filter.snoozed ?? false)) continue;
    all += group.count;
    kinds[group.kind] += group.count;
    due[group.due] += group.count;
    agents.set(group.agent, (agents.get(group.agent) ?? 0) + group.count);
    newestAt = Math.max(newestAt ?? 0, group.newestAt);
  }
  return { at, all, kinds, due, agents, newestAt, snoozed };
}
