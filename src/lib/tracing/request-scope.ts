import { AsyncLocalStorage } from "node:async_hooks";

/** The id of the request that caused what runs now; nothing where none did, as in a loop. For the log alone. */
export const requestScope = new AsyncLocalStorage<string>();
