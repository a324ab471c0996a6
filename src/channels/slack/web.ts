import type { Logger as SlackLogger, LogLevel } from "@slack/web-api";
import { DeliveryError } from "../channel.ts";
import type { SlackOutside, SlackSettings } from "./settings.ts";

/** The Slack errors that no retry can fix: the address, the credential or the message itself is wrong. */
const PERMANENT: ReadonlySet<string> = new Set([
  "channel_not_found",
  "not_in_channel",
  "is_archived",
  "user_not_found",
  "users_not_found",
  "user_disabled",
  "account_inactive",
  "invalid_auth",
  "not_authed",
  "token_revoked",
  "token_expired",
  "missing_scope",
  "cannot_dm_bot",
  "user_not_visible",
  "messages_tab_disabled",
  "no_permission",
  "thread_not_found",
  "message_not_found",
  "cant_update_message",
  "edit_window_closed",
  "invalid_blocks",
  "msg_blocks_too_long",
]);
const NAME = /^[a-z][a-z0-9_]{0,63}$/;
/** Calls that nobody is waiting for with a signal of their own. */
const CALL_WITHIN_MS = 30_000;

/** Slack's libraries print requests and replies; what matters of them is in the errors. */
export const SILENT: SlackLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => "error" as LogLevel,
  setName: () => undefined,
};

/** Calls one method of Slack's Web API, once. @throws {DeliveryError} */
export type SlackCall = (
  token: string,
  method: string,
  args: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<unknown>;

/** Returns the options of every Slack client. A client tries once, because its caller retries. */
export function clientOptions({ apiUrl }: SlackSettings, { fetch }: SlackOutside, signal?: AbortSignal) {
  return {
    ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: CALL_WITHIN_MS,
    fetch: (url: string | URL, init?: object & { signal?: AbortSignal | null }) => {
      const signals = [init?.signal, signal].filter((one) => one instanceof AbortSignal);
      return fetch(url, { ...init, signal: AbortSignal.any(signals) });
    },
  };
}

/** Returns a way to call Slack through its own client, which is loaded with the first call. */
export function openCalls(settings: SlackSettings, outside: SlackOutside): SlackCall {
  return async (token, method, args, signal) => {
    const { WebClient } = await import("@slack/web-api");
    const client = new WebClient(token, { ...clientOptions(settings, outside, signal), logger: SILENT });
    try {
      return await client.apiCall(method, { ...args });
    } catch (error) {
      throw deliveryError(error);
    }
  };
}

/** Returns a failed call as the core knows it: a code and no word of what was sent or to whom. */
export function deliveryError(error: unknown): DeliveryError {
  const code = at(error, "code");
  const seconds = Number(at(error, "retryAfter") ?? at(error, "data", "response_metadata", "retryAfter"));
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  if (code === "slack_webapi_platform_error") {
    const value = at(error, "data", "error");
    const providerCode = typeof value === "string" && NAME.test(value) ? value : "unreadable_reply";
    const retry = !PERMANENT.has(providerCode) && !providerCode.startsWith("restricted_action");
    return new DeliveryError("Slack refused the call", { retry, providerCode, ...(retry && { retryAfterMs }) });
  }
  if (code === "slack_webapi_rate_limited_error") {
    return new DeliveryError("Slack asks to wait", { retry: true, providerCode: "ratelimited", retryAfterMs });
  }
  const status = at(error, "statusCode");
  const providerCode = typeof status === "number" ? `http_${status}` : "unreachable";
  return new DeliveryError("Slack could not be reached", { retry: true, providerCode });
}

/** Returns what may be logged of a failure: of Slack's refusals the code, because their words could hold an address. */
export function loggable(error: unknown): { code: string | undefined } | { err: unknown } {
  return error instanceof DeliveryError ? { code: error.providerCode } : { err: error };
}

/** Returns what stands at a place in somebody else's value, own properties only, or nothing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}

/** Returns the text at a path in a foreign value; empty where the path leads to no text. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}
