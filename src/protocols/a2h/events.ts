import type { Context } from "../../context.ts";
import type { WebhookFormat } from "../../model/webhook-events.ts";
import { Refusal } from "../../refusals.ts";
import { readAddressed, readDetails } from "../../verbs/read-addressed.ts";
import type { WebhookEndpoint, WebhookEvent } from "../../verbs/webhook-endpoints.ts";
import { printMessage, printRequest, wireTime } from "./print.ts";
import { API_VERSION } from "./specs.ts";

/** Existing consumers know test mails by their sender. */
const TEST_SENDER = "overworked-admin@coolcompany.com";

/**
 * Returns what an endpoint is told of a request that is over, or of a test; nothing where the request is kept no longer.
 */
export async function printEvent(
  ctx: Context,
  { format }: WebhookEndpoint,
  { event, askId, createdAt }: WebhookEvent,
): Promise<string | null> {
  if (askId === null) return testEvent(format, event, wireTime(createdAt));
  try {
    const ask = await readAddressed(ctx, askId);
    const details = await readDetails(ctx, ask);
    if (ask.form.kind === "value") return printMessage(ask, details);
    return wrapped(format, event, printRequest(ask, details), false);
  } catch (error) {
    if (error instanceof Refusal && error.code === "request_not_found") return null;
    throw error;
  }
}

/** Puts a call or a contact, as JSON text, into the shape of a format (contract-a2h.md, section 17). */
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
      const said = { from_user_id: "U0TEST", channel_id: "C0TEST", content: "Hello" };
      const events = [{ ...said, message_id: "1795219200.000100", message_ts: "1795219200.000100" }];
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
