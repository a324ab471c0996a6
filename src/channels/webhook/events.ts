import type { ResponseOption } from "../../requests/model/request.ts";
import type { Closing, Notice } from "../channel.ts";

/**
 * Returns the event that asks, as JSON. The function and its arguments are the very bytes whose digest is approved: a
 * number keeps every digit, so they are written into the text and not through a value (spec/channels 5.6).
 */
export function deliveredEvent(notice: Notice, link: string, replyTo: string): string {
  const { view, delivery, reminder, opening } = notice;
  const { exact } = view;
  const request = members({
    agent: text(view.agent),
    run: text(view.run),
    kind: text(view.kind),
    title: text(view.title),
    ...(exact && { fn: text(exact.fn), kwargs: exact.kwargs, consent_digest: text(view.digest) }),
    msg: text(view.words),
    options: text(view.options.map(optionOf)),
    schema: text(view.schema),
    expires_at: text(view.expiresAt === null ? null : new Date(view.expiresAt).toISOString()),
  });
  return members({
    type: text("ask.delivered"),
    delivery: text(delivery),
    request,
    link: text(link),
    reply_to: text(replyTo),
    reminder: reminder ? "true" : undefined,
    opening: text(opening),
  });
}

/** Returns the event that says a request is over. */
export function closedEvent(delivery: string, { says, at, view }: Closing): string {
  const ended = { type: "ask.closed", delivery, ask_id: view.requestId, outcome: says, at: new Date(at).toISOString() };
  return JSON.stringify(ended);
}

function optionOf(option: ResponseOption): object {
  const { name, title, description, promptFill, interactive } = option;
  return { name, title, description, prompt_fill: promptFill, interactive };
}

/** Writes an object of members that are JSON already; what is null or missing is left out. */
function members(of: Readonly<Record<string, string | undefined>>): string {
  const written = Object.entries(of).flatMap(([name, json]) =>
    json === undefined ? [] : [`${JSON.stringify(name)}:${json}`],
  );
  return `{${written.join(",")}}`;
}

function text(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : JSON.stringify(value);
}
