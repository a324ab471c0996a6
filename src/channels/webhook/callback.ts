import type { WebhookDestination } from "./destination.ts";
import { parseProviderJson } from "../../lib/json/json-body.ts";
import { verifiedWebhookId } from "../../lib/network/standard-webhooks.ts";
import type { Choice, InboundMessage, InboundResult } from "../../requests/model/inbound-message.ts";
import type { Hook, HookReply } from "../channel.ts";

const MAX_BYTES = 1_048_576;

/** Where the answers to what was sent to a target go. */
export function callbackPath(name: string): string {
  return `/hooks/webhook/${name}`;
}

/**
 * Returns the entry for answers from targets. They are signed by Standard Webhooks, each with the secret of its own
 * target. The reply states the result (spec/channels 4 and 5.6).
 */
export function callbackHook(known: ReadonlyMap<string, WebhookDestination>, now: () => number): Hook {
  return {
    path: callbackPath(":name"),
    maxBytes: MAX_BYTES,
    async handle(http, receive) {
      const name = http.params["name"] ?? "";
      const destination = known.get(name);
      if (!destination) return refusal(404, "not_found", "There is no such target.");
      const at = now();
      const id = verifiedWebhookId(http, [destination.secret], at);
      if (id === undefined) return refusal(401, "unauthorized", "The signature does not verify.");
      const given = readCallback(http.body);
      if (typeof given === "string") return refusal(422, "validation_failed", given);
      const { delivery, responder, content, digest } = given;
      const message: InboundMessage = {
        provider: `webhook:${name}`,
        id,
        at,
        match: { delivery },
        sender: { kind: "human", id: responder, webhook: name },
        trust: "signed",
        content,
        ...(digest !== undefined && { digest }),
      };
      return replyOf(await receive(message));
    },
  };
}

/** In the words of A2H's errors, which whoever builds on Parley knows already (spec/a2h 3.1). */
const REFUSALS = {
  not_understood: [422, "validation_failed"],
  needs_page: [422, "validation_failed"],
  not_allowed: [403, "responder_not_allowed"],
  already_decided: [409, "already_responded"],
  no_match: [404, "not_found"],
  locked: [403, "responder_not_allowed"],
  frozen: [404, "not_found"],
  passed_on: [404, "not_found"],
} as const satisfies Record<Exclude<InboundResult["kind"], "accepted" | "repeated">, readonly [number, string]>;

function replyOf({ kind, says, reason, options }: InboundResult): HookReply {
  if (kind === "accepted" || kind === "repeated") return json(200, { status: "accepted" });
  if (reason === "digest_mismatch") return refusal(409, reason, says);
  if (reason === "unknown_option") return refusal(422, reason, says, { options });
  const [status, code] = REFUSALS[kind];
  return refusal(status, code, says);
}

function refusal(status: number, code: string, message: string, facts: object = {}): HookReply {
  return json(status, { error: { code, message, ...facts }, detail: message });
}

function json(status: number, body: object): HookReply {
  return { status, type: "application/json; charset=utf-8", body: JSON.stringify(body) };
}

interface Callback {
  delivery: string;
  responder: string;
  content: InboundMessage["content"];
  digest?: string;
}

/** Returns what a callback says, or what is wrong with it in one sentence. */
function readCallback(bytes: Buffer): Callback | string {
  let body: unknown;
  try {
    body = parseProviderJson(bytes.toString("utf8"));
  } catch {
    return "the body is not JSON";
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return "the body must be an object";
  const { delivery, responder, consent_digest: digest } = body as Record<string, unknown>;
  if (typeof delivery !== "string") return "delivery must be a string";
  const { id } = (typeof responder === "object" && responder !== null ? responder : {}) as { id?: unknown };
  if (typeof id !== "string" && typeof id !== "number") return "responder.id must be the id of a human";
  if (digest !== undefined && typeof digest !== "string") return "consent_digest must be a string";
  const content = contentIn(body as Record<string, unknown>, digest);
  if (typeof content === "string") return content;
  return { delivery, responder: String(id), content, ...(digest !== undefined && { digest }) };
}

function contentIn(body: Record<string, unknown>, digest: string | undefined): InboundMessage["content"] | string {
  const { approved, comment, response } = body;
  const option = body["response_option_name"] ?? body["reject_option_name"];
  if (comment !== undefined && typeof comment !== "string") return "comment must be a string";
  if (option !== undefined && typeof option !== "string") return "an option is given by its name";

  if (approved === true) {
    if (digest === undefined) return "consent_digest is required to approve";
    return { choice: { kind: "approve", ...(option !== undefined && { name: option }) } };
  }
  const words = typeof response === "string" ? response : comment;
  if (option !== undefined) {
    const named: Choice = { kind: "option named", name: option, ...(words !== undefined && { text: words }) };
    return { choice: named };
  }
  if (approved === false) return { choice: { kind: "reject", ...(comment !== undefined && { comment }) } };
  if (approved !== undefined) return "approved must be true or false";
  if (response === undefined) return "approved, response or response_option_name is needed";
  return { text: typeof response === "string" ? response : JSON.stringify(response) };
}
