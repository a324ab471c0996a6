/**
 * For addresses of a server that this package has no client for: one request, a stream that is followed, or a request to
 * people that is waited for.
 */
export type { Clock } from "./clock.ts";
export { type Call, type CallOptions, Connection, type ConnectionOptions } from "./http.ts";
export { A2H, outcomeOf } from "./outcome.ts";
export { AWAY_MS, isPassingStatus, mayPass, type Patience, persist } from "./persist.ts";
export { follow, type StreamEvent } from "./sse.ts";
export { humansLike } from "./whom.ts";
