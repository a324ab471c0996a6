import { appendToJsonList, editJson, jsonAt, NotJson, removeFromJsonList } from "../../../lib/json/json-edit.ts";

/** The plugin's name in OpenClaw. */
export const PLUGIN_ID = "parley";

const PATHS = ["plugins", "load", "paths"];
const ENTRY = ["plugins", "entries", PLUGIN_ID];
const ALLOWED = ["plugins", "allow"];

/**
 * Returns the text of OpenClaw's configuration in which the plugin of this path is loaded; all else stays as it was. A
 * list of the plugins that may be loaded gets it too.
 *
 * @throws {NotJson} also where the configuration turns the plugin off: tools would run without a question
 */
export function withPlugin(text: string, path: string): string {
  if (jsonAt(text, ["plugins", "enabled"]) === false) throw new NotJson("it turns all plugins off");
  if (listAt(text, ["plugins", "deny"]).includes(PLUGIN_ID)) throw new NotJson(`it denies the plugin ${PLUGIN_ID}`);
  const entry = Object(jsonAt(text, ENTRY)) as { enabled?: unknown };
  let after = withItem(text, PATHS, path);
  if (entry.enabled !== true) after = editJson(after, ENTRY, { ...entry, enabled: true });
  // An empty list allows all.
  return listAt(after, ALLOWED).length > 0 ? withItem(after, ALLOWED, PLUGIN_ID) : after;
}

/** Returns whether the plugin of this path is loaded. @throws {NotJson} */
export function loadsPlugin(text: string, path: string): boolean {
  const [all, allowed] = [jsonAt(text, ["plugins", "enabled"]), listAt(text, ALLOWED)];
  const entry = Object(jsonAt(text, ENTRY)) as { enabled?: unknown };
  const isOff = all === false || entry.enabled === false || listAt(text, ["plugins", "deny"]).includes(PLUGIN_ID);
  return !isOff && listAt(text, PATHS).includes(path) && (allowed.length === 0 || allowed.includes(PLUGIN_ID));
}

/** Returns the text in which the plugin of this path is not loaded. @throws {NotJson} */
export function withoutPlugin(text: string, path: string): string {
  let after = text;
  // An empty list would allow all.
  if (listAt(after, ALLOWED).length > 1) after = withoutItem(after, ALLOWED, PLUGIN_ID);
  after = editJson(after, ENTRY);
  return withoutItem(after, PATHS, path);
}

function listAt(text: string, place: readonly string[]): readonly unknown[] {
  const list = jsonAt(text, place) ?? [];
  if (!Array.isArray(list)) throw new NotJson(`${place.join(".")} is no list`);
  return list;
}

function withItem(text: string, place: readonly string[], item: string): string {
  const list = listAt(text, place);
  if (list.includes(item)) return text;
  return list.length === 0 ? editJson(text, place, [item]) : appendToJsonList(text, place, item);
}

/** Takes an item out of a list, and the list with its last item. */
function withoutItem(text: string, place: readonly string[], item: string): string {
  const list = listAt(text, place);
  const at = list.indexOf(item);
  if (at === -1) return text;
  return list.length === 1 ? editJson(text, place) : removeFromJsonList(text, [...place, at]);
}
