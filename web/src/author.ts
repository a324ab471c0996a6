import { recall } from "./device.ts";

/** Whether this browser has ever found out who is signed in. */
export const isAuthorKnown = (): boolean => recall("person") !== null;

/**
 * The author of what is written here: the number of the person who is signed in, or null for somebody without a name.
 */
export function author(): string | null {
  const kept = recall("person");
  return kept === "none" ? null : kept;
}

/** How the names of everything begin that this person has begun to write here. */
export function draftsOfAuthor(): string {
  const person = author();
  return person === null ? "draft." : `draft-${person}.`;
}
