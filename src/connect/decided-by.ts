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

/** The people of whom one must have approved. */
export type Approvers = "enrolled" | readonly string[];

/** True where one of these people approved; each is known by the person's id. A rule and an address have no such id. */
export function isBy(by: Approvers, people: readonly string[]): boolean {
  return by === "enrolled" ? people.length > 0 : people.some((person) => by.includes(person));
}
