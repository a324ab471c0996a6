import type { Context } from "../../context.ts";
import type { WebhookFormat } from "../../notices/model/webhook-events.ts";
import { Refusal } from "../../refusals.ts";
import { readRequest, readDetails } from "../../requests/read/read-request.ts";
import type { WebhookEndpoint, WebhookEvent } from "../../notices/webhook-endpoints.ts";
import { findAgentEvent, keyOf } from "../../conversations/read.ts";
import { conversationCreated, newConversation, rawOf } from "./print-conversation.ts";
import { printMessage, printRequest, wireTime } from "./print.ts";
import { API_VERSION } from "../../wire/message.ts";

/** Existing consumers know test mails by their sender. */
const TEST_SENDER = "overworked-admin@coolcompany.com";

/** The body that an endpoint receives; a secret body is stored encrypted. */
export interface PrintedEvent {
  body: string;
  secret: boolean;
}

/**
 * Returns the event of a request that is over, of a message, or of a test; nothing where the
 * request or the words are kept no longer.
 */
export async function printEvent(
  ctx: Context,
  { format }: WebhookEndpoint,
  { event, requestId, message, createdAt }: WebhookEvent,
): Promise<PrintedEvent | null> {
  if (message !== null) return messageJson(ctx, format, event, message);
  if (requestId === null) return open(testEvent(format, event, wireTime(createdAt)));
  try {
    const request = await readRequest(ctx, requestId);
    const details = await readDetails(ctx, request);
    if (request.form.kind === "value") return open(printMessage(request, details));
    const printed = printRequest(request, details);
    if (format !== "v1beta3" || request.conversation === undefined) return open(wrapped(format, event, printed, false));
    const placed = `${printed.slice(0, -1)},"contact_channel_id":${request.conversation}}`;
    return open(wrapped(format, event, placed, false));
  } catch (error) {
    if (error instanceof Refusal && error.code === "request_not_found") return null;
    throw error;
  }
}

const open = (body: string): PrintedEvent => ({ body, secret: false });

async function messageJson(
  ctx: Context,
  format: WebhookFormat,
  event: string,
  uid: string,
): Promise<PrintedEvent | null> {
  const entry = await findAgentEvent(ctx, uid);
  if (!entry) return null;
  if (event !== "conversation.created") {
    const raw = rawOf(entry.message);
    const body = format === "v1beta1" ? raw : { is_test: false, type: event, event: raw };
    return open(JSON.stringify(body));
  }
  if (format === "a2h") return open(JSON.stringify(newConversation(entry)));
  const key = keyOf(ctx, entry.conversation);
  return { body: JSON.stringify(conversationCreated(entry, key)), secret: key !== null };
}

/** Puts a call or a contact, as JSON text, into the shape of a format (spec/a2h 17). */
function wrapped(format: WebhookFormat, event: string, request: string, isTest: boolean): string {
  switch (format) {
    case "v1beta1":
      return request;
    case "v1beta2":
    case "v1beta3":
      return `{"is_test":${String(isTest)},"type":${JSON.stringify(event)},"event":${request}}`;
    case "a2h": {
      const { call_id: uid } = JSON.parse(request) as { call_id: string };
      const kind = event === "function_call.completed" ? "FunctionCall" : "HumanContact";
      const head = JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { uid } });
      return `${head.slice(0, -1)},${request.slice(1)}`;
    }
  }
}

/** Returns something that did not happen, in the shape of a format. */
function testEvent(format: WebhookFormat, event: string, at: string): string {
  const status = { requested_at: at, responded_at: at, resolved_at: at, user_info: { name: "Ana Ruiz", via: "web" } };
  const head = { run_id: "run_test", call_id: "call_test" };
  switch (event) {
    case "function_call.completed": {
      const spec = { fn: "send_greeting", kwargs: { to: "Bo" } };
      return wrapped(format, event, JSON.stringify({ ...head, spec, status: { ...status, approved: true } }), true);
    }
    case "human_contact.completed": {
      const spec = { msg: "Does this arrive?" };
      return wrapped(
        format,
        event,
        JSON.stringify({ ...head, spec, status: { ...status, response: "It does." } }),
        true,
      );
    }
    case "message.completed": {
      const message = { apiVersion: API_VERSION, kind: "Message", metadata: { uid: "m_test" } };
      return JSON.stringify({
        ...message,
        spec: { message: "Does this arrive?" },
        status: { humanMessage: "It does." },
      });
    }
    case "agent_email.received": {
      const mail = { from_address: TEST_SENDER, to_address: "agent@example.com", subject: "A test", body: "Hello" };
      const email = { ...mail, message_id: "<test@coolcompany.com>", raw_email: "", is_test: true };
      return format === "v1beta1"
        ? JSON.stringify(email)
        : JSON.stringify({ is_test: true, type: event, event: email });
    }
    case "agent_slack.received": {
      const fields = { from_user_id: "U0TEST", channel_id: "C0TEST", content: "Hello" };
      const events = [{ ...fields, message_id: "1795219200.000100", message_ts: "1795219200.000100" }];
      const thread = { thread_ts: "1795219200.000100", channel_id: "C0TEST", events };
      return JSON.stringify({ is_test: true, type: event, event: thread });
    }
    default: {
      const spec = { message: "Hello", user_message: "Hello", channel_id: "0", agent_name: "test" };
      if (format === "a2h") {
        const head = { apiVersion: API_VERSION, kind: "NewConversation", metadata: { uid: "nc_test" } };
        return JSON.stringify({ ...head, spec });
      }
      const begun = { user_message: "Hello", contact_channel_id: 0, agent_name: "test", thread_id: "0" };
      return JSON.stringify({ is_test: true, type: event, event: begun });
    }
  }
}
