import { Connection, type ConnectionOptions } from "./http.ts";

/** Where a server is, and by which key a client speaks to it. */
export interface KeyedOptions extends ConnectionOptions {
  /** Left out, a browser's session says who asks. */
  key?: string | undefined;
}

/** Returns the connection of a client with a key. */
export function keyedConnection(options: KeyedOptions): Connection {
  const { key } = options;
  return new Connection(options, () => ({ authorization: key === undefined ? undefined : `Bearer ${key}` }));
}
