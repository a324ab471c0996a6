import { AUDIENCES } from "@parley/sdk/wire";
import { setting } from "./device.ts";

/** Which questions the feed shows. */
export const audience = setting("audience", ["all", ...AUDIENCES], "all");

/** Single keys can get in the way of speech input and screen readers, so they can be turned off. */
export const shortcuts = setting("shortcuts", ["on", "off"], "on");

/** Whether somebody with a name has signed in here: asks are addressed to nobody else, and the console is for admins. */
export const named = setting("named", ["no", "yes", "admin"], "no");

export const theme = setting("theme", ["system", "light", "dark"], "system");

/** The page wears the chosen theme now; `theme.js` puts it on before the first paint next time. */
export function wearTheme(chosen: "system" | "light" | "dark"): void {
  theme.set(chosen);
  const { dataset } = document.documentElement;
  if (chosen === "system") delete dataset.theme;
  else dataset.theme = chosen;
  const paper = getComputedStyle(document.body).backgroundColor;
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", paper);
}
