/** The words of a plan, loaded with it. */
import { translated } from "../../language.ts";
import { text as english, type PlanTexts } from "./plan-text.en.ts";

export const text: PlanTexts = translated(english, {
  de: () => import("./plan-text.de.ts"),
  ar: () => import("./plan-text.ar.ts"),
});
