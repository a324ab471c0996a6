import type { Audience } from "./model/request.ts";
import type { Human } from "../access/store/humans.ts";
import type { Called } from "../access/find-called.ts";

/** Returns an audience of this person, or of whoever of this group is first. */
export function audienceOfCalled(called: Extract<Called, { is: "human" | "group" }>): Audience {
  if (called.is === "human") return personLeaf(called.human);
  const [first, ...more] = called.humans.map((human) => personLeaf(human, called.group));
  if (!first) throw new Error("a group of nobody was found");
  if (more.length === 0) return first;
  return { is: "any", of: [first, ...more].map((node) => ({ afterMs: 0, node })) };
}

/** Returns an audience of one person, as one of a group where there is one. */
export function personLeaf({ person }: Pick<Human, "person">, group?: string): Audience {
  return { is: "leaf", target: { via: "person", person, ...(group !== undefined && { group }) } };
}
