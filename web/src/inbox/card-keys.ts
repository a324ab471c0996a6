import { useKeys } from "../keys.ts";
import { useDeliberate } from "../parts/deliberate.ts";

/**
 * While the card of an ask is on screen, each key does what stands under it (`useKeys`). A key that comes within half a
 * second of the card's appearance was for what was there before, and does nothing. Returns whether the keys act.
 */
export function useCardKeys(id: string, ...[actions, words]: Parameters<typeof useKeys>): boolean {
  const { settled } = useDeliberate(id);
  useKeys(settled ? actions : {}, words);
  return settled;
}

/** Whether a press was on the half of the screen at which a line ends: the right one, and in Arabic the left one. */
export const isAtLineEnd = (event: MouseEvent): boolean =>
  event.clientX > innerWidth / 2 === (document.documentElement.dir !== "rtl");
