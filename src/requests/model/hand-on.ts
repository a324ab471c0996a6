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

/** Messages go out about so many hand-ons of one request; further ones move it in the lists alone. */
export const MOST_TOLD_HAND_ONS = 50;

/** The first place of a hand-on's messages, behind those of every leaf and of every escalation. */
const FIRST_PLACE = 20_000;
const PLACES_OF_A_HAND_ON = 1000;

/** Returns how often the request was handed on. */
export function countOfHandOns({ wire }: Pick<Request, "wire">): number {
  const { handOns = 0 } = wire as { handOns?: number };
  return handOns;
}

/** Returns the first place of the messages of a request's hand-on, which the number of those before it gives. */
export function firstPlaceOfHandOn(before: number): number {
  return FIRST_PLACE + before * PLACES_OF_A_HAND_ON;
}

/** True for the place of a message by which somebody is handed a request, or stands in. */
export function isPlaceOfHandOn(place: number): boolean {
  return place >= FIRST_PLACE;
}

/** Returns the place of a stand-in's message, behind those of every hand-on, from the place of the message to the absent. */
export function placeOfStandIn(place: number): number {
  return FIRST_PLACE + MOST_TOLD_HAND_ONS * PLACES_OF_A_HAND_ON + place;
}

/** Returns the words with which a stand-in is told who is away. */
export function standInWords(absent: string): string {
  return `${absent} is away, and you stand in.`;
}

/** Returns the words with which somebody is told that they are handed a request. */
export function handOnWords(giver: string, note: string | null): string {
  return note === null ? `${giver} hands you this.` : `${giver} hands you this: ${note}`;
}
