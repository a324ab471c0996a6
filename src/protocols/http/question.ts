import type { Ask, Response } from "../../questions/model/question.ts";
import type { AskReading } from "../../questions/read.ts";

/** The four statuses of the wire. */
export type WireStatus = "OPEN" | "PARTIAL" | "CLOSED" | "EXPIRED";

/** Returns a moment as RFC 3339 in UTC, cut to the second. */
export function wireTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Returns the status a question shows; a cancelled one shows as expired. */
export function wireStatus(ask: Ask): WireStatus {
  if (ask.state === "open") return ask.n === 0 ? "OPEN" : "PARTIAL";
  return ask.state === "answered" ? "CLOSED" : "EXPIRED";
}

/** Returns the address at which the asker finds the question, without any key. */
export function pollUrl(askId: string): string {
  return `/agent/questions/${askId}`;
}

export function wireType(ask: Ask): "text" | "multiple_choice" {
  return ask.form.kind === "choice" ? "multiple_choice" : "text";
}

/** `null` and absent are different on the wire; this leaves absent members out. */
type Member = [name: string, json: string];
const member = (name: string, value: unknown): Member[] => (value === undefined ? [] : [[name, JSON.stringify(value)]]);

function toJson(members: readonly Member[]): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

/**
 * Returns the tally as JSON text, in the order of the options. It is written as text because an object would reorder
 * options such as `10` and `9`, and lose one called `__proto__`.
 */
function summaryJson(options: readonly string[], responses: readonly Response[]): string {
  const votes = options.map(() => 0);
  for (const { answer } of responses) {
    const option = answer.selectedOption ?? -1;
    if (votes[option] !== undefined) votes[option] += 1;
  }
  return toJson(options.map((option, i) => [option, String(votes[i])]));
}

/** Returns the poll body as JSON text (spec/ask-a-human 3.2). */
export function pollBody({ ask, responses }: AskReading, expand: { meta: boolean } = { meta: false }): string {
  const status = wireStatus(ask);
  const settledAt = ask.settledAt ?? ask.expiresAt;
  return toJson([
    ...member("question_id", ask.id),
    ...member("status", status),
    ...member("prompt", ask.prompt),
    ...member("type", wireType(ask)),
    ...(ask.form.kind === "choice" ? member("options", ask.form.options) : []),
    ...member("audience", ask.audience),
    ...member("required_responses", ask.need),
    ...member("current_responses", ask.n),
    ...member("created_at", wireTime(ask.createdAt)),
    ...member("expires_at", wireTime(ask.expiresAt)),
    ...(status === "CLOSED" ? member("closed_at", wireTime(settledAt)) : []),
    ...(status === "EXPIRED" ? member("expired_at", wireTime(settledAt)) : []),
    ...(ask.state === "cancelled" ? member("cancelled", true) : []),
    ["responses", `[${responses.map((response) => responseJson(response, expand.meta)).join(",")}]`],
    ...(ask.form.kind === "choice" ? [["summary", summaryJson(ask.form.options, responses)] satisfies Member] : []),
    ...member("integrity", integrityOf(responses)),
  ]);
}

function responseJson({ id, answer, at, tier }: Response, meta: boolean): string {
  return JSON.stringify({
    ...(answer.text !== undefined && { answer: answer.text }),
    ...(answer.selectedOption !== undefined && { selected_option: answer.selectedOption }),
    ...(answer.confidence !== undefined && { confidence: answer.confidence }),
    ...(meta && { response_id: id, created_at: wireTime(at), tier }),
  });
}

function integrityOf(responses: readonly Response[]): { networks: number; participants: number } {
  return { networks: new Set(responses.map(({ network }) => network)).size, participants: responses.length };
}

/** Returns what somebody who has answered may see of the others (spec/ask-a-human 4.8). */
export function resultsBody({ ask, responses }: AskReading): string {
  const shared = ask.wire["share_results"] !== false;
  return toJson([
    ...member("question_id", ask.id),
    ...member("status", wireStatus(ask)),
    ...member("required_responses", ask.need),
    ...member("current_responses", ask.n),
    ...(shared && ask.form.kind === "choice"
      ? [["summary", summaryJson(ask.form.options, responses)] satisfies Member]
      : []),
    ...(shared
      ? [["responses", `[${responses.map((one) => responseJson(one, false)).join(",")}]`] satisfies Member]
      : []),
  ]);
}
