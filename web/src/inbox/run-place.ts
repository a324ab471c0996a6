const PLACE = "run-";

/** Returns the place of the timeline of the run that an ask is part of. */
export const runPath = (ask: string): string => `/inbox/${PLACE}${ask}`;

/** Returns the ask by which a place in the room names a run, if it is that of a run. */
export function runIn(place: string): string | null {
  return place.startsWith(PLACE) ? place.slice(PLACE.length) : null;
}
