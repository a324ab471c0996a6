/** The words of earlier decisions on a function, loaded with them. */
import { number } from "../format.ts";
import type { Precedent } from "./wire.ts";

export const text = {
  title: "Before",
  said: ({ approved, edited }: Pick<Precedent, "approved" | "edited">, who: string) =>
    approved ? `${edited ? "Approved with changes" : "Approved"} by ${who}` : `Rejected by ${who}`,
  same: "With the same arguments",
  changes: "What differs now",
  kinds: { added: "new", removed: "no longer there" } satisfies Record<"added" | "removed", string>,
  secret: "Differs, and holds a secret",
  long: "Differs, and is too long to compare here",
  more: (n: number) => `${number(n)} more differ`,
  earlier: (n: number) => `${number(n)} more from before`,
  failed: "Earlier decisions could not be loaded.",
};

export type PrecedentTexts = typeof text;
