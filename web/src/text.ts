/** Every word that the app needs at once. Another language is another object of this type. */
import { translated } from "./language.ts";
import { text as english, type Catalogue } from "./text.en.ts";

export const text: Catalogue = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
