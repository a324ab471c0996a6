import type { Audience } from "../model/request.ts";
import type { Human } from "../../access/store/humans.ts";
import type { Recipient } from "../../access/resolve-recipient.ts";

/** Returns an audience of this person, or of the first member of this group who answers. */
export function audienceOfRecipient(recipient: Extract<Recipient, { kind: "human" | "group" }>): Audience {
  if (recipient.kind === "human") return personLeaf(recipient.human);
  const [first, ...more] = recipient.humans.map((human) => personLeaf(human, recipient.group));
  if (!first) throw new Error("a group of nobody was found");
  if (more.length === 0) return first;
  return { kind: "any", of: [first, ...more].map((node) => ({ afterMs: 0, node })) };
}

/** Returns an audience of one person, as a member of `group` if it is given. */
export function personLeaf({ person }: Pick<Human, "person">, group?: string): Audience {
  return { kind: "leaf", target: { via: "person", person, ...(group !== undefined && { group }) } };
}
