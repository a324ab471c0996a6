/** The bounds of the time for which a key may be made good, in milliseconds (spec/security 3): a minute and ten years. */
export const SHORTEST_KEY_LIFE_MS = 60_000;
export const LONGEST_KEY_LIFE_MS = 3660 * 86_400_000;
