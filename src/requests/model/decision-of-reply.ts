import type { Request, Decision } from "./request.ts";
import { offeredBy, optionsOf } from "./view.ts";
import type { Choice, InboundMessage } from "./inbound-message.ts";
import { filledValue } from "./read-value.ts";
import { readReply, takeCode } from "./reply-grammar.ts";
import { shapeOf } from "./schema-shape.ts";

/** Returns an incoming message as a decision; undefined if it is not clearly one. Never guesses (spec/channels 3.2). */
export function decisionOfReply(
  request: Request,
  { content }: Pick<InboundMessage, "content">,
  code: string,
): Decision | null {
  if ("choice" in content)
    return request.form.kind === "value" ? valueOfChoice(request, content.choice) : decisionOf(request, content.choice);
  return "fields" in content ? filledIn(request, content.fields) : decisionInWords(request, content.text, code);
}

/** Returns the value that a button gives, with the comment that came with it if the schema has one. */
function valueOfChoice(request: Request, choice: Choice): Decision | null {
  const { form } = request;
  if (form.kind !== "value" || form.schema === null) return null;
  const offered = offeredBy(request);
  const name = "name" in choice ? choice.name : choice.kind === "option" ? offered[choice.index]?.name : choice.kind;
  const at = offered.findIndex((one) => one.name === name);
  if (at < 0) return null;
  const shape = shapeOf(form.schema);
  if (shape.kind === "choice") return { kind: "value", text: offered[at]?.name ?? "", value: shape.offers[at]?.value };
  const words = "text" in choice ? choice.text : "comment" in choice ? choice.comment : undefined;
  const comment = shape.kind === "decision" && shape.comment !== "none" && words?.trim() ? words.trim() : undefined;
  const value = { approved: at === 0, ...(comment !== undefined && { comment }) };
  return { kind: "value", text: [at === 0 ? "Approve" : "Reject", ...(comment ? [comment] : [])].join(", "), value };
}

function filledIn({ form }: Request, fields: readonly (string | null)[]): Decision | null {
  const value = form.kind === "value" && form.schema ? filledValue(form.schema, fields) : null;
  return value && { kind: "value", text: JSON.stringify(value), value };
}

/** Returns what a press means, or nothing where it was not offered. */
function decisionOf(request: Request, choice: Choice): Decision | null {
  if (choice.kind === "approve") {
    if (request.form.kind !== "approval") return null;
    return { kind: "approve", ...(choice.name !== undefined && { option: choice.name }) };
  }
  if (choice.kind === "reject") {
    if (request.form.kind !== "approval") return null;
    return { kind: "reject", ...(choice.comment !== undefined && { comment: choice.comment }) };
  }
  const options = optionsOf(request);
  const option = choice.kind === "option" ? options[choice.index] : options.find(({ name }) => name === choice.name);
  // A name that was not offered is refused by the rule for every answer, which says what was.
  const name = option?.name ?? (choice.kind === "option named" ? choice.name : undefined);
  if (name === undefined || request.form.kind === "value") return null;
  const words = choice.text ?? option?.promptFill;
  if (request.form.kind === "approval") {
    return { kind: "reject", option: name, ...(words !== undefined && { comment: words }) };
  }
  return { kind: "reply", option: name, ...(words !== undefined && { text: words }) };
}

/** Returns what words mean, or nothing where they are not understood. `code` is the message's own. */
function decisionInWords(request: Request, words: string, code: string): Decision | null {
  const read = (text: string) => readReply(text, { kind: request.form.kind, options: optionsOf(request) });
  const taken = takeCode(words);
  // Four letters at an end are a code where they are this message's, or leave nothing but a yes; else they are words.
  const isOwn = taken.code?.toUpperCase() === code && taken.rest !== "";
  const isYes = request.form.kind === "approval" && taken.code !== undefined && read(taken.rest).kind === "approve";
  const reading = read(isOwn || isYes ? taken.rest : words);
  switch (reading.kind) {
    case "approve":
      return { kind: "approve" };
    case "reject":
      return {
        kind: "reject",
        ...(reading.comment !== undefined && { comment: reading.comment }),
        ...(reading.option !== undefined && { option: reading.option }),
      };
    case "option":
      return decisionOf(request, {
        kind: "option",
        index: optionsOf(request).findIndex(({ name }) => name === reading.name),
        ...(reading.comment !== undefined && { text: reading.comment }),
      });
    case "text":
      return request.form.kind === "value"
        ? { kind: "value", text: reading.text }
        : { kind: "reply", text: reading.text };
    case "not_understood":
      return null;
  }
}
