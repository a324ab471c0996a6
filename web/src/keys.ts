import { useLayoutEffect, useRef } from "preact/hooks";
import { shortcuts } from "./settings.ts";

const TYPING = "textarea, select, input:not([type=radio], [type=checkbox]), [contenteditable]";
const ACTIVATED_BY_ENTER = "a, button, summary";

/** While the component is on screen, each key does what stands under it, except where somebody types. */
export function useKeys(actions: Record<string, (() => void) | undefined>): void {
  const latest = useRef(actions);
  latest.current = actions;
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const on = event.target instanceof Element ? event.target : document.body;
      const action = latest.current[event.key];
      if (!action || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (shortcuts.get() === "off" || on.closest(TYPING) || document.querySelector("dialog[open]")) return;
      if (event.key === "Enter" && on.closest(ACTIVATED_BY_ENTER)) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

/** True where there is a keyboard and a mouse rather than a thumb. */
export const hasKeyboard = matchMedia("(hover: hover) and (pointer: fine)").matches;
