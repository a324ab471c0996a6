import { Refusal } from "../../refusals.ts";

/** The form of an id. A text of another form is unknown: the store, which cannot hold every text, is not asked. */
const ID = /^\w{1,64}$/;

/** True for a text that could be an id. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Returns the id of a question as it was given. @throws {Refusal} `question_not_found` for a malformed one */
export function questionIdOf(text: string): string {
  if (!isId(text)) throw new Refusal("question_not_found", { question_id: text });
  return text;
}

/** Returns the id of a subscription as it was given. @throws {Refusal} `subscription_not_found` for a malformed one */
export function subscriptionIdOf(text: string): string {
  if (!isId(text)) throw new Refusal("subscription_not_found");
  return text;
}
