import { JSON_SHAPES, jsonOf } from "./door-bodies.ts";
import type { Sent } from "./door-scene.ts";

export const KIB = 1024;

export interface Door {
  /** The route as the server's table has it, and what else tells it from others. */
  route: string;
  variant?: string;
  /** How large its costly part is. */
  bytes: number;
  /** The shapes that the costly part may have, by name. */
  shapes: Readonly<Record<string, (bytes: number) => unknown>>;
  /** Returns the request whose costly part is this; no two have the same `i`. */
  request(part: unknown, i: number): Sent | Promise<Sent>;
}

/** The shapes of a costly part at most endpoints. */
export const shapes = JSON_SHAPES;
/** The largest body that most doors read, without what stands around its costly part. */
export const MOST = 1000 * KIB;
export const textOf = (part: unknown): string => (typeof part === "string" ? part : jsonOf(part));
