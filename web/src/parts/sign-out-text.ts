/** The words of signing out with something unsent. */
import { translated } from "../language.ts";
import { text as english, type SignOutTexts } from "./sign-out-text.en.ts";

export const text: SignOutTexts = translated(english, {
  de: () => import("./sign-out-text.de.ts"),
  ar: () => import("./sign-out-text.ar.ts"),
});
