import { basename, dirname, join } from "node:path";
import { jsonAt } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, blockOf, type ListEntry, type ListFile, type RulePart, UnreadList } from "./agent-list.ts";
import { commandPatterns } from "./command-patterns.ts";
import { withExceptions } from "./exceptions.ts";
import { type FilePattern, narrowPaths, onlyIn, wideParts } from "./path-patterns.ts";

const ACTIONS: Readonly<Record<string, PolicyEffect>> = { allow: "ALLOW", ask: "ESCALATE", deny: "DENY" };
const WITH_FILES = new Set(["read", "edit"]);
/** A rule names these as prompts do. */
const LEGACY: Readonly<Record<string, string>> = {
  write: "edit",
  patch: "edit",
  apply_patch: "edit",
  multiedit: "edit",
};

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
    const read = files.map((file) => ({ file, settings: blockOf(jsonAt(file.text, []), file, "it") ?? {} }));
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
  /** It belongs to one of its agents, or to the older form, and allows nothing here. */
  isRestriction?: true;
}

/** All patterns of one permission stand where its name stands first. */
function byFirstName(all: readonly Merged[]): (one: Merged, other: Merged) => number {
  const names = [...new Set(all.map(({ name }) => name))];
  return (one, other) => names.indexOf(one.name) - names.indexOf(other.name);
}

function actionsIn(value: unknown, file: ListFile, where: string): Merged[] {
  if (value === undefined) return [];
  const decisionOf = (action: unknown, place: string): PolicyEffect =>
    ACTIONS[String(action)] ?? refuse(file, `${place} is not allow, ask or deny`);
  if (typeof value === "string") return [{ file, where, name: "*", pattern: null, decision: decisionOf(value, where) }];
  return Object.entries(blockOf(value, file, where) ?? {}).flatMap(([name, given]): Merged[] => {
    const place = `${where}.${name}`;
    const one = { file, where: place, name: LEGACY[name] ?? name };
    if (typeof given === "string") return [{ ...one, pattern: null, decision: decisionOf(given, place) }];
    return Object.entries(blockOf(given, file, place) ?? {}).map(([pattern, action]) => ({
      ...one,
      pattern,
      decision: decisionOf(action, `${place}.${pattern}`),
    }));
  });
}

function refuse({ path }: ListFile, because: string): never {
  throw new UnreadList(path, because);
}

/** Agents of opencode have lists of their own, and its older form turns tools off. */
function restrictionsIn(settings: Readonly<Record<string, unknown>>, file: ListFile): Merged[] {
  const agents = { ...blockOf(settings["mode"], file, "mode"), ...blockOf(settings["agent"], file, "agent") };
  const off = Object.entries(blockOf(settings["tools"], file, "tools") ?? {}).filter(([, isOn]) => isOn === false);
  const all = [
    ...off.map(([name]): Merged => ({
      file,
      where: `tools.${name}`,
      name: LEGACY[name] ?? name,
      pattern: null,
      decision: "DENY",
    })),
    ...Object.entries(agents).flatMap(([name, agent]) =>
      actionsIn(blockOf(agent, file, `agent.${name}`)?.["permission"], file, `agent.${name}.permission`),
    ),
  ];
  return all.map((one) => ({ ...one, isRestriction: true }));
}

function entryOf(
  { file, where, name, pattern, decision, isRestriction }: Merged,
  { project, home }: { project: string | null; home: string },
): ListEntry {
  const entry = { text: pattern === null ? where : `${where}: ${pattern}`, file: file.path, decision };
  if (isRestriction && decision === "ALLOW")
    return { ...entry, parts: [], note: "it is about one agent of opencode, which no prompt names" };
  const narrow = narrowParts(name, pattern, project);
  const within = isRestriction ? [] : narrowParts(name, pattern, null).parts;
  if (decision === "ALLOW")
    return {
      ...entry,
      parts: narrow.parts.map((part) => ({ ...part, ...onlyIn({ project }) })),
      note: narrow.note,
      within,
    };
  const { parts, note } = partsOverAll(name, pattern, home);
  const notes = [
    ...(isRestriction && where.startsWith("agent.") ? ["wider: for every agent of opencode"] : []),
    ...(note === undefined ? [] : [note]),
  ];
  return { ...entry, parts, within, note: notes.length > 0 ? notes.join("; ") : undefined };
}

interface Parts {
  parts: readonly RulePart[];
  note?: string | undefined;
}

function narrowParts(name: string, pattern: string | null, project: string | null): Parts {
  const isWhole = pattern === null || pattern === "*" || pattern === "**";
  if (/^[*?]/.test(name) || name.includes("?")) return { parts: [], note: "it names no tool" };
  if (name === "external_directory") return { parts: [], note: "it is about files outside of the folder" };
  if (name === "bash") {
    const { patterns, note } = commandPatterns(isWhole ? "*" : pattern, "glob", "ALLOW");
    return { parts: Array.isArray(patterns) ? [{ fn: [name], command: patterns as string[] }] : [], note };
  }
  if (WITH_FILES.has(name)) {
    if (isWhole) return { parts: [{ fn: [name], path: ["**"] }], note: "narrower: files of the folder alone" };
    const path = narrowPaths(globPath(pattern), project);
    return typeof path === "string" ? { parts: [], note: path } : { parts: [{ fn: [name], path }] };
  }
  return isWhole ? { parts: [{ fn: [name] }] } : { parts: [], note: "a rule cannot compare its pattern" };
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

function partsOverAll(name: string, pattern: string | null, home: string): Parts {
  const whole = { parts: [{ fn: [name.replaceAll("?", "*")] }] };
  if (pattern === null || pattern === "*" || pattern === "**") return whole;
  if (name === "bash") {
    const { patterns, note } = commandPatterns(pattern, "glob", "DENY");
    return Array.isArray(patterns)
      ? { parts: [{ fn: [name], command: patterns as string[] }], note }
      : { ...whole, note };
  }
  if (!WITH_FILES.has(name)) return { ...whole, note: `wider: every ${name}, since a rule cannot compare its pattern` };
  return {
    parts: wideParts([name], wideGlob(pattern.replace(/^(?:~|\$HOME)(?=\/|$)/, home))),
    note: "wider: also files outside of the folder of the call",
  };
}

function wideGlob(glob: string): FilePattern {
  const from = glob.startsWith("/") ? "/" : null;
  const [, ending] = /^\*+([^*?/]+\*?)$/.exec(glob) ?? [];
  if (ending !== undefined) return { names: [`*${ending}`], from: "any", coversBelow: true };
  const star = glob.search(/[*?]/);
  const begin = star < 0 ? glob : glob.slice(0, star);
  const names = begin.split("/").filter((name) => name !== "");
  const isOpen = star >= 0 && !begin.endsWith("/");
  return { names: isOpen ? [...names.slice(0, -1), `${names.at(-1) ?? ""}*`] : names, from, coversBelow: true };
}
