import { isMac, onScreen } from "../keys.ts";
import { type ActionName, type Key, KEYS, names } from "./names.ts";

/** An action that a component on screen has for a key. */
export interface ActionNow {
  key: Key;
  name: ActionName;
  /** The component that has it, by its order in `onScreen`. */
  order: number;
}

/** The actions on screen in the order of the list, one for each key: that of the innermost component. */
export function actionsNow(): ActionNow[] {
  const byKey = new Map<string, ActionNow>();
  onScreen.forEach((shown, order) => {
    const [actions, words] = shown ?? [{}];
    for (const key of Object.keys(actions) as Key[]) {
      if (actions[key]) byKey.set(key, { key, name: words?.names?.[key] ?? usualName(key), order });
    }
  });
  return [...byKey.values()].sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

/** True while the component that had this action still has it: a card that has just appeared does not. */
export function isStill({ order, key }: ActionNow): boolean {
  return onScreen[order]?.[0][key] !== undefined;
}

const usualName = (key: Key): ActionName => names.find((name) => KEYS[name] === key) ?? "choose";

/** A key as it is written on the keyboard. */
export function keyCap(key: Key): string {
  if (key === "⌘k") return isMac ? "⌘K" : "Ctrl+K";
  return key === "Escape" ? "Esc" : key;
}
