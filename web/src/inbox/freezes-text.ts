/** The words of what is frozen, loaded with it. */
import { translated } from "../language.ts";
import { text as english, type FreezesTexts } from "./freezes-text.en.ts";

export const text: FreezesTexts = translated(english, {
  de: () => import("./freezes-text.de.ts"),
  ar: () => import("./freezes-text.ar.ts"),
});
