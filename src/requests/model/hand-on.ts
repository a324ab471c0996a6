import type { Request } from "./request.ts";

/** A person who may decide a request has handed it on: to one person, or to those of a group who may decide it too. */
export interface HandOn {
  /** The person who handed it on. */
  person: string;
  receivers: readonly string[];
  /** The group to which it was handed; null where it was a person. */
  group: string | null;
  note: string | null;
  at: number;
}

export const LONGEST_NOTE = 1000;

/** So often people are told of one request again: by a hand-on, or by an answer of its agent. */
export const MOST_TOLD = 50;

/** The first place of these messages, behind those of every leaf and of every escalation. */
const FIRST_PLACE = 20_000;
const PLACES_EACH = 1000;

/** Returns how often people were told of the request again. */
export function countOfTold({ wire }: Pick<Request, "wire">): number {
  const { handOns = 0 } = wire as { handOns?: number };
  return handOns;
}

/** Returns the first place of the messages that tell people of a request again, by how often they were told before. */
export function firstPlaceOfTold(before: number): number {
  return FIRST_PLACE + before * PLACES_EACH;
}

/** True for the place of a message by which somebody is told of a request again, or stands in. */
export function isPlaceOfTold(place: number): boolean {
  return place >= FIRST_PLACE;
}

/** Returns the place of a stand-in's message, behind those of everybody who is told again, from the place of the message to the absent. */
export function placeOfStandIn(place: number): number {
  return FIRST_PLACE + MOST_TOLD * PLACES_EACH + place;
}

/** Returns the words with which a stand-in is told who is away. */
export function standInWords(absent: string): string {
  return `${absent} is away, and you stand in.`;
}

/** Returns the words with which somebody is told that they are handed a request. */
export function handOnWords(giver: string, note: string | null): string {
  return note === null ? `${giver} hands you this.` : `${giver} hands you this: ${note}`;
}

/** Returns the words with which people are reminded of a request; null where a program reminds them. */
export function remindWords(by: string | null): string {
  return by === null ? "This still waits for you." : `${by} reminds you: this still waits for you.`;
}
