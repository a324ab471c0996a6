import { extensionsOf, type McpRequest } from "./message.ts";
import { TASKS_EXTENSION } from "./opening.ts";

/** The time within which a request may end without becoming a task. */
export const TASK_HOLD_SECONDS = 2;

const OFTEN_MS = 5000;
const SELDOM_MS = 15_000;
const OFTEN_FOR_MS = 300_000;

/** True when the client says with this request that it understands tasks. */
export function declaresTasks(call: McpRequest): boolean {
  return Object.hasOwn(extensionsOf(call), TASKS_EXTENSION);
}

/** Returns how often a task of this age is worth a look. */
export function pollIntervalMs(ageMs: number): number {
  return ageMs < OFTEN_FOR_MS ? OFTEN_MS : SELDOM_MS;
}
