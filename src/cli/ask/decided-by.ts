import { WrongUsage } from "../command.ts";

/** The decider, as a server states it for a request to people. */
export interface DeciderInReply {
  id?: string;
  name?: string;
  /** False of somebody whom the operator has not enrolled. */
  enrolled?: boolean;
}

/** Returns how whoever decided is called; of somebody who is not enrolled it says so. */
export function deciderName(by: DeciderInReply | undefined): string {
  const name = by?.name ?? "somebody";
  return by?.enrolled === false ? `${name} (not enrolled)` : name;
}

export const BY_FLAG = {
  "--by ID": "the people of whom one must have approved, by number: 3, or 3,7; enrolled for anybody who is enrolled",
} as const;

/** The people of whom one must have approved. */
export type Approvers = "enrolled" | readonly string[];

/** Returns what `--by` says. @throws {WrongUsage} */
export function readBy(text: string | undefined): Approvers | undefined {
  if (text === undefined || text === "enrolled") return text;
  if (!/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/.test(text))
    throw new WrongUsage("--by takes numbers of people such as 3,7, or enrolled; parley people list shows them");
  return text.split(",");
}

/** True where one of these people approved; each is known by the person's id. A rule and an address have no such id. */
export function isBy(by: Approvers, people: readonly string[]): boolean {
  return by === "enrolled" ? people.length > 0 : people.some((person) => by.includes(person));
}
