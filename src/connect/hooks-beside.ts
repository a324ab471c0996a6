import { existsSync, lstatSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readPlainJson } from "../lib/json/json-edit.ts";
import type { PromptingAgent, HookTurn } from "./agent.ts";
import { isOwnHook } from "./own-hooks.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** No configuration of an agent is longer. */
const MOST_BYTES = 4 * 1_048_576;

/** Returns the JSON files of a folder, by their whole paths; the folder itself where it is there and cannot be read. */
export function jsonFilesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => join(folder, name));
  } catch {
    return existsSync(folder) || brokenLinkTo(folder) !== undefined ? [folder] : [];
  }
}

/**
 * Returns a sentence for each file with hooks of others that run beside Parley's, for one that cannot be read, and
 * for a link that leads to nothing.
 *
 * @param project the folder in which the agent would run
 * @param addresses those of Parley's hooks
 */
export function hooksBeside(
  agent: PromptingAgent,
  env: Environment,
  project: string,
  addresses: readonly string[] = [],
): string[] {
  const places = new Map((agent.hookPlaces?.(env, project) ?? []).map((place) => [resolve(place.path), place]));
  const sentences = [...places].flatMap(([path, { turn }]) => {
    try {
      const link = brokenLinkTo(path);
      if (link !== undefined) return [brokenSentence(agent, link)];
      const text = textIn(path);
      return text === null ? [] : sentencesOf(agent, { path, text, turn }, addresses);
    } catch {
      return [`${path} cannot be read: it may hold hooks of ${agent.title} that decide beside Parley's.`];
    }
  });
  return [...new Set(sentences)];
}

/** Returns the link on the way to a path that leads to nothing; nothing where each part of the way is there, or none. */
function brokenLinkTo(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  for (let part = path; dirname(part) !== part; part = dirname(part)) {
    if (lstatSync(part, { throwIfNoEntry: false })?.isSymbolicLink() && !existsSync(part)) return part;
  }
  return undefined;
}

function brokenSentence(agent: PromptingAgent, link: string): string {
  return `${link} is a link that leads to nothing: hooks of ${agent.title} that appear behind it decide beside Parley's.`;
}

interface PlacedText {
  path: string;
  text: string;
  turn: HookTurn;
}

function sentencesOf(agent: PromptingAgent, { path, text, turn }: PlacedText, addresses: readonly string[]): string[] {
  const own = { name: agent.name, addresses };
  return agent.beside.flatMap(({ event, means }) => {
    const others = hooksOf(text, event).filter((hook) => !isOwnHook(hook, own));
    const effect = means[turn] ?? means.beside;
    if (others.length === 0 || effect === undefined) return [];
    const name = basename(path);
    return [`${agent.title}: the ${event} hook of ${name} ${effect} (${path}).`];
  });
}

/** Returns the hooks of an event, of each group. */
function hooksOf(text: string, event: string): unknown[] {
  const { hooks } = Object(readPlainJson(text)) as { hooks?: unknown };
  const entries: unknown = (Object(hooks) as Record<string, unknown>)[event];
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    const { hooks: group } = Object(entry) as { hooks?: unknown };
    return Array.isArray(group) ? (group as unknown[]) : [entry];
  });
}

/** The text of a file; null where it is missing or blank. @throws {Error} for one that cannot be read */
function textIn(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return null;
  if (!found.isFile() || found.size > MOST_BYTES) throw new Error("it is no file of settings");
  const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  return text.trim() === "" ? null : text;
}
