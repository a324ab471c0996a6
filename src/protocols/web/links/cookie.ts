import { createHash } from "node:crypto";
import { sameText } from "../../../lib/secrets/keyring.ts";
import type { DoorContext, FastifyRequest } from "../../http/door.ts";
import { cookieOf } from "../../http/principals.ts";
import { MOST_WHOLE, wholeNumber } from "../../http/query.ts";

/*
 * That the page of a link was opened, and when, is proved by a cookie alone, so that nothing is stored by whoever only
 * looks.
 */

/** Nobody reads and decides faster than this; what follows every link and presses every button does. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

const TOO_FAST = "That was faster than anybody reads. Press Continue, and decide again.";
const OPEN_AGAIN = "This page was open for too long, or its cookie is missing. Press Continue, and decide again.";

/** Returns the `set-cookie` header that proves, together with the nonce, that the page of a link was opened now. */
export function openedCookie(door: DoorContext, token: string, nonce: string): string {
  const at = String(door.ctx.clock.now());
  const secure = door.config.publicUrl.startsWith("https:") ? "; Secure" : "";
  const value = `${at}.${nonce}.${macOf(door, token, at, nonce)}`;
  return `${nameOf(token)}=${value}; Path=/r/; Max-Age=${LONGEST_MS / 1000}; HttpOnly; SameSite=Strict${secure}`;
}

/** Returns why a page that was sent with a nonce is not taken, in a sentence for the person; null where it is. */
export function openedProblem(door: DoorContext, http: FastifyRequest, token: string, given: string): string | null {
  const [at = "", nonce = "", mac = ""] = (cookieOf(http, nameOf(token)) ?? "").split(".");
  if (!sameText(mac, macOf(door, token, at, nonce)) || !sameText(given, nonce)) return OPEN_AGAIN;
  const since = door.ctx.clock.now() - (wholeNumber(at, { min: 0, max: MOST_WHOLE }) ?? 0);
  if (since < SHORTEST_MS) return TOO_FAST;
  return since > LONGEST_MS ? OPEN_AGAIN : null;
}

function macOf({ ctx }: DoorContext, token: string, at: string, nonce: string): string {
  return ctx.keyring.mac("delivery", `opened ${token} ${at} ${nonce}`);
}

/** Several links may be open at once, each with a cookie of its own; its name says nothing of the link. */
function nameOf(token: string): string {
  return `parley_r_${createHash("sha256").update(`cookie ${token}`).digest("hex").slice(0, 12)}`;
}
