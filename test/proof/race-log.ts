/** The record of one operation of a race. Every promise is checked by these records alone. */
export interface Base {
  client: number;
  node: number;
  /** On one monotonic clock of the harness: before the first byte went out, after the last came in. */
  start: number;
  end: number;
  /** The same moments on the machine's clock, from which the store's follows. */
  wallStart: number;
  wallEnd: number;
  /** 0 when no reply came. */
  status: number;
  /** The error's code, and what else a refusal says. */
  code?: string;
  details?: Record<string, unknown>;
  replayed: boolean;
  remaining: number;
  /** Names the window that `remaining` belongs to. */
  reset: number;
}

/** An ask as some reply showed it. */
export interface Reading {
  ask: string;
  status: "OPEN" | "PARTIAL" | "CLOSED" | "EXPIRED";
  n: number;
  need: number;
  /** How many responses it lists. */
  shown: number;
  settledAt?: string;
  cancelled: boolean;
  /** Ids of its responses in order, where the reply names them, and when each was given (epoch ms, cut to seconds). */
  responses?: readonly { id: string; at: number }[];
  /** The sum of its tally, where it has one. */
  votes?: number;
}

export interface Create extends Base {
  kind: "create";
  agent: string;
  key?: string;
  /** The number of the body that was sent. */
  variant: number;
  ask?: string;
}

export interface Answer extends Base {
  kind: "answer";
  ask: string;
  person: string;
  key?: string;
  response?: string;
  points: number;
  total: number;
  badges: readonly string[];
  /** The credential that was issued, the same for one fingerprint for ever. */
  token: string;
}

export interface Read extends Base {
  kind: "read";
  agent: string;
  readings: readonly Reading[];
  /** A long-poll: how long it was to wait, and for more than how many answers. */
  wait?: { ms: number; after: number };
}

export interface Cancel extends Base {
  kind: "cancel";
  agent: string;
  ask: string;
  readings: readonly Reading[];
}

/** Somebody's feed. */
export interface Feed extends Base {
  kind: "feed";
  person: string;
  asks: readonly string[];
}

/** Somebody's own figures. */
export interface Stats extends Base {
  kind: "stats";
  person: string;
  answers: number;
  points: number;
}

export type Operation = Create | Answer | Read | Cancel | Feed | Stats;

/** An ask that some creation was acknowledged for. */
export interface AskFacts {
  id: string;
  agent: string;
  need: number;
  options: number;
  /** The deadline, on the store's clock. */
  expiresAt: number;
  createdBy: Create;
}

/** One event that a follower of an agent's stream got. */
export interface StreamEvent {
  seq: number;
  reading: Reading | null;
  /** The node that sent it, and the time when it came. */
  node: number;
  at: number;
}

/** The events that one follower of an agent's stream received, in their order. */
export interface Stream {
  agent: string;
  events: StreamEvent[];
  /** How often the connection was cut and the stream resumed. */
  cuts: number;
  /** The errors that a cut by the harness did not cause. */
  problems: string[];
}

/** Everything that was seen in one race. */
export interface Log {
  operations: Operation[];
  asks: Map<string, AskFacts>;
  streams: Stream[];
}

export function openLog(): Log {
  return { operations: [], asks: new Map(), streams: [] };
}

/** Returns the operations of one kind. */
export function ofKind<Kind extends Operation["kind"]>(log: Log, kind: Kind): Extract<Operation, { kind: Kind }>[] {
  return log.operations.filter((one): one is Extract<Operation, { kind: Kind }> => one.kind === kind);
}

/** Returns the items by name, in their order. */
export function groupBy<Item>(items: Iterable<Item>, nameOf: (item: Item) => string): Map<string, Item[]> {
  return Map.groupBy(items, nameOf);
}
