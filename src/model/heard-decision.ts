import type { AddressedAsk, Decision } from "./addressed-ask.ts";
import { optionsOf } from "./ask-view.ts";
import type { Choice, Heard } from "./heard.ts";
import { readReply, takeCode } from "./reply-grammar.ts";

/** Returns what somebody said as a decision, or nothing where it is none; never guesses (channels.md, section 3.2). */
export function heardDecision(ask: AddressedAsk, { said }: Pick<Heard, "said">, code: string): Decision | null {
  return "choice" in said ? decisionOf(ask, said.choice) : decisionInWords(ask, said.text, code);
}

/** Returns what a press means, or nothing where it was not offered. */
function decisionOf(ask: AddressedAsk, choice: Choice): Decision | null {
  if (choice.is === "approve") {
    if (ask.form.kind !== "approval") return null;
    return { kind: "approve", ...(choice.name !== undefined && { option: choice.name }) };
  }
  if (choice.is === "reject") {
    if (ask.form.kind !== "approval") return null;
    return { kind: "reject", ...(choice.comment !== undefined && { comment: choice.comment }) };
  }
  const options = optionsOf(ask);
  const option = choice.is === "option" ? options[choice.index] : options.find(({ name }) => name === choice.name);
  // A name that was not offered is refused by the rule for every answer, which says what was.
  const name = option?.name ?? (choice.is === "option named" ? choice.name : undefined);
  if (name === undefined || ask.form.kind === "value") return null;
  const words = choice.text ?? option?.promptFill;
  if (ask.form.kind === "approval") {
    return { kind: "reject", option: name, ...(words !== undefined && { comment: words }) };
  }
  return { kind: "reply", option: name, ...(words !== undefined && { text: words }) };
}

/** Returns what words mean, or nothing where they are not understood. `code` is the message's own. */
function decisionInWords(ask: AddressedAsk, said: string, code: string): Decision | null {
  const read = (text: string) => readReply(text, { kind: ask.form.kind, options: optionsOf(ask) });
  const taken = takeCode(said);
  // Four letters at an end are a code where they are this message's, or leave nothing but a yes; else they are words.
  const isOwn = taken.code?.toUpperCase() === code && taken.rest !== "";
  const isYes = ask.form.kind === "approval" && taken.code !== undefined && read(taken.rest).is === "approve";
  const meant = read(isOwn || isYes ? taken.rest : said);
  switch (meant.is) {
    case "approve":
      return { kind: "approve" };
    case "reject":
      return {
        kind: "reject",
        ...(meant.comment !== undefined && { comment: meant.comment }),
        ...(meant.option !== undefined && { option: meant.option }),
      };
    case "option":
      return decisionOf(ask, {
        is: "option",
        index: optionsOf(ask).findIndex(({ name }) => name === meant.name),
        ...(meant.comment !== undefined && { text: meant.comment }),
      });
    case "text":
      return ask.form.kind === "value" ? valueOf(ask, meant.text) : { kind: "reply", text: meant.text };
    case "not_understood":
      return null;
  }
}

/** Words for a schema: JSON if they are, else a scalar, else a label as it stands (contract-a2h.md, section 14). */
export function valueOf({ form }: Pick<AddressedAsk, "form">, text: string): Decision {
  if (form.kind !== "value" || form.schema === null) return { kind: "value", text };
  const trimmed = text.trim();
  try {
    return { kind: "value", text, value: JSON.parse(trimmed) as unknown };
  } catch {
    return { kind: "value", text, value: trimmed };
  }
}
