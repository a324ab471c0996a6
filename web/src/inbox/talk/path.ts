/** Where one conversation stands in the room. */
export const talkPath = (id: number): string => `/inbox/talk-${id}`;

/** The number of the conversation that a place in the room is about, if it is about one. */
export function talkIn(place: string): number | null {
  const found = /^talk-(\d{1,15})$/.exec(place);
  return found ? Number(found[1]) : null;
}
