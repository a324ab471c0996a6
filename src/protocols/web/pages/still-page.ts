import type { DoorContext, FastifyReply } from "../../http/door.ts";
import type { Markup } from "./html.ts";
import { documentOf } from "../links/view.ts";

/** A page that runs no script and loads nothing. */
export interface StillPage {
  title: string;
  body: Markup;
}

/** Sends such a page, which nobody keeps, frames or finds by a search. */
export function sendStillPage(
  door: DoorContext,
  reply: FastifyReply,
  status: number,
  { title, body }: StillPage,
): FastifyReply {
  const styleNonce = Buffer.from(door.ctx.random(16)).toString("base64url");
  return reply
    .code(status)
    .headers(headersWith(door, styleNonce))
    .type("text/html; charset=utf-8")
    .send(documentOf({ styleNonce, title, body }));
}

function headersWith(door: DoorContext, styleNonce: string): Record<string, string> {
  return {
    "content-security-policy": `default-src 'none'; style-src 'nonce-${styleNonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    "cross-origin-opener-policy": "same-origin",
    ...(door.config.publicUrl.startsWith("https:") && { "strict-transport-security": "max-age=31536000" }),
  };
}
