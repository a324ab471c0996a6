import { appendToJsonList, editJson, NotJson, readPlainJson, removeFromJsonList } from "../lib/json/json-edit.ts";
import { isOwnHook } from "./own-hooks.ts";

type Place = readonly (string | number)[];

/**
 * Returns the text of a configuration in which, below `hooks`, each of these events has exactly the wanted entry of
 * ours; `addresses` are those of our hooks by HTTP. Entries of others stay byte for byte. An entry is a hook with its command, or a group with a list of such hooks.
 *
 * @throws {NotJson} where something on the way has another form, and SyntaxError
 */
export function withHookEntries(
  text: string,
  name: string,
  wanted: Readonly<Record<string, object | undefined>>,
  addresses: readonly string[] = [],
): string {
  let after = text;
  for (const [event, entry] of Object.entries(wanted)) {
    const without = withoutOurs(after, event, (hook) => isOwnHook(hook, { name, addresses }));
    const added = entry ? appended(without, event, entry) : without;
    // A hook that is there already stays in its place.
    if (JSON.stringify(entriesOf(added, event)) !== JSON.stringify(entriesOf(after, event))) after = added;
  }
  return after;
}

const NEW_FILE = '{\n  "version": 1\n}\n';

/** Does the same in a file of hooks that states its version; a file that holds nothing else is empty then. */
export function withVersionedEntries(
  text: string,
  name: string,
  wanted: Readonly<Record<string, object | undefined>>,
): string {
  const isBlank = text.trim() === "";
  const after = withHookEntries(isBlank ? NEW_FILE : text, name, wanted);
  if (after !== NEW_FILE || isBlank) return after === NEW_FILE ? text : after;
  return text === NEW_FILE ? text : "";
}

/**
 * Returns whether an agent that reads this configuration finds a hook of ours for each of these events.
 *
 * @throws {NotJson} as `withHookEntries` does, and SyntaxError
 */
export function holdsHookEntries(
  text: string,
  name: string,
  events: readonly string[],
  addresses: readonly string[] = [],
): boolean {
  const own = { name, addresses };
  return events.every((event) =>
    entriesOf(text, event).some((entry) => {
      const hooks: unknown = Object(entry).hooks;
      return Array.isArray(hooks) ? hooks.some((hook) => isOwnHook(hook, { name, addresses })) : isOwnHook(entry, own);
    }),
  );
}

function entriesOf(text: string, event: string): unknown[] {
  const { hooks } = Object(readPlainJson(text)) as { hooks?: Record<string, unknown> };
  const entries = hooks?.[event] ?? [];
  if (!Array.isArray(entries)) throw new NotJson(`hooks.${event} is no list`);
  return entries;
}

function withoutOurs(text: string, event: string, isOurs: (hook: unknown) => boolean): string {
  let after = text;
  for (const [i, entry] of [...entriesOf(text, event).entries()].reverse()) {
    const place: Place = ["hooks", event];
    const hooks: unknown = Object(entry).hooks;
    if (!Array.isArray(hooks)) {
      if (isOurs(entry)) after = removed(after, [...place, i]);
      continue;
    }
    const ours = [...hooks.keys()].filter((n) => isOurs(hooks[n])).reverse();
    if (ours.length > 0 && ours.length === hooks.length) after = removed(after, [...place, i]);
    else for (const n of ours) after = removed(after, [...place, i, "hooks", n]);
  }
  return after;
}

/** Takes an entry out of its list, and the list of an event with its last entry. */
function removed(text: string, place: Place): string {
  const [, event = ""] = place;
  if (place.length === 3 && entriesOf(text, String(event)).length === 1)
    return editJson(text, ["hooks", String(event)]);
  return removeFromJsonList(text, place);
}

function appended(text: string, event: string, entry: object): string {
  if (entriesOf(text, event).length === 0) return editJson(text, ["hooks", event], [entry]);
  return appendToJsonList(text, ["hooks", event], entry);
}
