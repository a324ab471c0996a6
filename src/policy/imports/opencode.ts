import { basename, dirname, join } from "node:path";
import { jsonAt } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import {
  type AgentLists,
  type SettingsBlock,
  blockOf,
  type Carried,
  left,
  type ListEntry,
  type ListFile,
  rowOf,
  UnreadList,
} from "./agent-list.ts";
import { commandParts } from "./command-patterns.ts";
import { withExceptions } from "./exceptions.ts";
import { type FilePattern, filesOfFolder, namesIn, narrowParts, onlyIn, wideParts } from "./path-patterns.ts";

const ACTIONS: Readonly<Record<string, PolicyEffect>> = { allow: "ALLOW", ask: "ESCALATE", deny: "DENY" };
const WITH_FILES = new Set(["read", "edit"]);
/** Prompts name these "edit". An entry that allows one does not allow that. */
const EDITS = new Set(["write", "patch", "apply_patch", "multiedit"]);

/** opencode 1.18.33: `permission` of its settings, of which the last entry that matches decides. */
export const opencodeLists: AgentLists = {
  places: ({ home, project, env }) => {
    const own = join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode");
    const inFolder = (folder: string) => ["opencode.json", "opencode.jsonc"].map((name) => join(folder, name));
    return [join(own, "config.json"), ...inFolder(own), ...inFolder(project), ...inFolder(join(project, ".opencode"))];
  },
  projectOf: (path) => {
    const folder = dirname(path);
    if (basename(folder) === "opencode") return null;
    return basename(folder) === ".opencode" ? dirname(folder) : folder;
  },
  read(files, home) {
    const read = files.map((file) => ({ file, settings: blockOf(jsonAt(file.text, []), file, "it") }));
    // Later files change the entries of earlier ones, so all of them hold in the project alone.
    const project = files.find((file) => file.project !== null)?.project ?? null;
    const merged = new Map<string, Merged>();
    for (const { file, settings } of read) {
      for (const entry of actionsIn(settings["permission"], file, "permission")) {
        const key = JSON.stringify([entry.name, entry.pattern]);
        if (entry.pattern === null || merged.has(JSON.stringify([entry.name, null])))
          for (const one of [...merged.keys()])
            if ((JSON.parse(one) as [string])[0] === entry.name && one !== key) merged.delete(one);
        merged.set(key, entry);
      }
    }
    const own = [...merged.values()].toSorted(byFirstName([...merged.values()]));
    const narrower = read.flatMap(({ file, settings }) => restrictionsIn(settings, file));
    return withExceptions([...own, ...narrower].map((one) => entryOf(one, { project, home })));
  },
};

interface Merged {
  file: ListFile;
  /** The place in the file. */
  where: string;
  name: string;
  pattern: string | null;
  decision: PolicyEffect;
  /** Why it allows nothing here, where it belongs to one of the agents or to the older form. */
  unlike?: string;
}

/** All patterns of one permission stand where its name stands first. */
function byFirstName(all: readonly Merged[]): (one: Merged, other: Merged) => number {
  const names = [...new Set(all.map(({ name }) => name))];
  return (one, other) => names.indexOf(one.name) - names.indexOf(other.name);
}

function actionsIn(value: unknown, file: ListFile, where: string): Merged[] {
  if (value === undefined) return [];
  const entry = (name: string, pattern: string | null, action: unknown, place: string): Merged => {
    const decision = rowOf(ACTIONS, action);
    const shown = pattern === null ? place : `${place}.${pattern}`;
    if (!decision) throw new UnreadList(file.path, `${shown} is not allow, ask or deny`);
    return { file, where: place, name, pattern, decision };
  };
  if (typeof value === "string") return [entry("*", null, value, where)];
  return Object.entries(blockOf(value, file, where)).flatMap(([name, given]) => {
    const place = `${where}.${name}`;
    if (typeof given === "string") return [entry(name, null, given, place)];
    return Object.entries(blockOf(given, file, place)).map(([pattern, action]) => entry(name, pattern, action, place));
  });
}

/** Agents of opencode have lists of their own, and its older form turns tools on and off. */
function restrictionsIn(settings: SettingsBlock, file: ListFile): Merged[] {
  const toolsIn = (block: SettingsBlock, where: string) =>
    Object.entries(blockOf(block["tools"], file, where)).map(([name, isOn]): Merged => {
      const decision = isOn === false ? "DENY" : "ALLOW";
      const unlike = "it turns a tool on, and says nothing of prompts";
      return { file, where: `${where}.${name}`, name, pattern: null, decision, unlike };
    });
  const agents = ["mode", "agent"].flatMap((kind) =>
    Object.entries(blockOf(settings[kind], file, kind)).flatMap(([name, value]) => {
      const agent = blockOf(value, file, `${kind}.${name}`);
      const unlike = "it is about one agent of opencode, which no prompt names";
      const actions = actionsIn(agent["permission"], file, `${kind}.${name}.permission`);
      return [...toolsIn(agent, `${kind}.${name}.tools`), ...actions.map((one) => ({ ...one, unlike }))];
    }),
  );
  return [...toolsIn(settings, "tools"), ...agents];
}

function entryOf(
  { file, where, name, pattern, decision, unlike }: Merged,
  { project, home }: { project: string | null; home: string },
): ListEntry {
  const entry = { text: pattern === null ? where : `${where}: ${pattern}`, file: file.path, decision };
  if (decision === "ALLOW") {
    const narrow = unlike === undefined ? allowedParts(name, pattern, project) : left(unlike);
    const within = unlike === undefined ? allowedParts(name, pattern, null).parts : [];
    return { ...entry, ...narrow, parts: narrow.parts.map((part) => ({ ...part, ...onlyIn({ project }) })), within };
  }
  const { parts, note } = refusedParts(EDITS.has(name) ? "edit" : name, pattern, home);
  const isOfAgent = unlike !== undefined && !where.startsWith("tools.");
  const notes = [...(isOfAgent ? ["wider: for every agent of opencode"] : []), ...(note === undefined ? [] : [note])];
  const within = unlike === undefined ? allowedParts(name, pattern, null).parts : [];
  return { ...entry, parts, within, note: notes.length > 0 ? notes.join("; ") : undefined };
}

const isWhole = (pattern: string | null): pattern is null => pattern === null || /^\*\*?$/.test(pattern);

function allowedParts(name: string, pattern: string | null, project: string | null): Carried {
  const fn = [name];
  if (/^[*?]/.test(name) || name.includes("?")) return left("it names no tool");
  if (EDITS.has(name)) return left("opencode asks about it as edit");
  if (name === "external_directory") return left("it is about files outside of the folder");
  if (name === "bash") return commandParts(fn, [isWhole(pattern) ? "*" : pattern], { form: "glob", decision: "ALLOW" });
  if (WITH_FILES.has(name))
    return isWhole(pattern) ? filesOfFolder(fn) : narrowParts(fn, globPath(pattern), { project });
  return isWhole(pattern) ? { parts: [{ fn }] } : left("a rule cannot compare its pattern");
}

function refusedParts(name: string, pattern: string | null, home: string): Carried {
  const fn = [name.replaceAll("?", "*")];
  if (isWhole(pattern)) return { parts: [{ fn }] };
  if (name === "bash") return commandParts(fn, [pattern], { form: "glob", decision: "DENY" });
  if (WITH_FILES.has(name)) return wideParts(fn, wideGlob(pattern.replace(/^(?:~|\$HOME)(?=\/|$)/, home)));
  return { parts: [{ fn }], note: `wider: every ${name}, since a rule cannot compare its pattern` };
}

/** A star of opencode also takes the `/` between folders. */
function globPath(glob: string): FilePattern {
  const names = glob.split("/").flatMap((name) => (name === "*" ? ["**"] : [name]));
  const isAny = /^\*[^*/]*$/.test(names[0] ?? "") && names.length === 1;
  return {
    names: names[0] === "" ? names.slice(1) : names,
    from: glob.startsWith("/") ? "/" : isAny ? "any" : null,
    coversBelow: false,
  };
}

function wideGlob(glob: string): FilePattern {
  const from = glob.startsWith("/") ? "/" : null;
  const [, ending] = /^\*+([^*?/]+\*?)$/.exec(glob) ?? [];
  if (ending !== undefined) return { names: [`*${ending}`], from: "any", coversBelow: true };
  const star = glob.search(/[*?]/);
  const begin = star < 0 ? glob : glob.slice(0, star);
  const names = namesIn(begin);
  const isOpen = star >= 0 && !begin.endsWith("/");
  return { names: isOpen ? [...names.slice(0, -1), `${names.at(-1) ?? ""}*`] : names, from, coversBelow: true };
}
