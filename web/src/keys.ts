import { useLayoutEffect, useState } from "preact/hooks";
import type { ActionName, Key } from "./keys-dialog/names.ts";
import { shortcuts } from "./settings.ts";

const TYPING = "textarea, select, input:not([type=radio], [type=checkbox]), [contenteditable]";
const ACTIVATED_BY_ENTER = "a, button, summary";

export const isMac = /Mac|iP/.test(navigator.platform);

/** The action of each key. One that returns false leaves the key to the component around its own. */
type Actions = { readonly [K in Key]?: (() => unknown) | undefined };

/** An action without a key: the choice of a filter, or a request to open. */
export interface Command {
  kind: "show" | "open";
  name: string;
  act: () => void;
}

interface Words {
  /** Names for this component's actions, in place of the usual names of their keys. */
  names?: { readonly [K in Key]?: ActionName };
  /** Asked for when the palette is drawn. */
  commands?: () => readonly Command[];
}

/**
 * The actions of the components on screen, in the order in which these were first drawn: the outer before the inner. A
 * component that is gone leaves its place empty.
 */
export const onScreen: (readonly [actions: Actions, words?: Words] | undefined)[] = [];
let drawn = 0;

/**
 * While the component is on screen, each key does its action, except where somebody types. The list of keys and the
 * palette have the actions too. The innermost component goes first.
 */
export function useKeys(actions: Actions, words?: Words): void {
  const [order] = useState(() => ++drawn);
  useLayoutEffect(() => {
    onScreen[order] = [actions, words];
    return () => void delete onScreen[order];
  });
}

/** Does the action of a key; false where nothing has one for it. */
export function press(key: Key): boolean {
  return onScreen.findLast((shown) => shown?.[0][key] && shown[0][key]() !== false) !== undefined;
}

addEventListener("keydown", (event: KeyboardEvent) => {
  // An event may also be the window's own.
  const on = event.target as Partial<Element>;
  const isTyping = on.closest?.(TYPING);
  // In a field of a Mac, Ctrl and a letter edit what is written.
  const command = event.metaKey || (event.ctrlKey && !(isMac && isTyping)) ? "⌘" : "";
  if (event.defaultPrevented || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  if (!command && (isTyping || shortcuts.get() === "off")) return;
  // A keyboard of other letters and digits, such as Arabic ones, has ours by their place.
  const place = event.code.replace(/Key|Digit/, "").toLowerCase();
  const key = event.key <= "~" ? event.key : place !== "slash" ? place : event.shiftKey ? "?" : "/";
  if (key === "Enter" && on.closest?.(ACTIVATED_BY_ENTER)) return;
  if (press((command + key) as Key)) event.preventDefault();
});

/** True where there is a keyboard and a mouse rather than a thumb. */
export const hasKeyboard = matchMedia("(hover: hover) and (pointer: fine)").matches;
