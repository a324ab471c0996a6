/** For addresses of a server that this package has no client for: one request, or a stream that is followed. */
export type { Clock } from "./clock.ts";
export { type Call, type CallOptions, Connection, type ConnectionOptions } from "./http.ts";
export { AWAY_MS, isPassingStatus, mayPass, type Patience, persist } from "./persist.ts";
export { follow, type StreamEvent } from "./sse.ts";
