import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isMap, isScalar, LineCounter, parseDocument, type YAMLMap } from "yaml";
import { z } from "zod";
import { dataDirOf, expandHome, usualDataDir } from "./data-dir.ts";
import { idleSettings, suggest, unknownVariables } from "./idle-settings.ts";
import { type SourcedValue, type Setting, settingNotes } from "./setting.ts";
import { ConfigSchema, Settings } from "./settings.ts";

export type Config = z.infer<typeof ConfigSchema>;

export interface ConfigSources {
  /** Flags of the command line by name without dashes, such as `data-dir`. */
  flags?: Readonly<Record<string, string | undefined>>;
  env: Readonly<Record<string, string | undefined>>;
  /** The settings file; left out, `PARLEY_CONFIG` or `parley.yaml` in the data directory, where it exists. */
  file?: string | undefined;
  /** Refuses settings without effect too: an unknown variable `PARLEY_*`, or a setting that does nothing alone. */
  refuseIdle?: boolean;
}

/** The settings cannot be used: one sentence for each mistake, with its place. */
export class ConfigMistake extends Error {
  constructor(sentences: readonly string[]) {
    super(sentences.join("\n"));
    this.name = "ConfigMistake";
  }
}

/** The settings in force, and those that something other than a default says, by name. */
export interface ReadConfig {
  config: Config;
  given: ReadonlyMap<string, SourcedValue>;
}

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns every setting of the schema, in its order. */
export function listSettings(schema: z.ZodObject = Settings, under: readonly string[] = []): Setting[] {
  return Object.entries(schema.shape).flatMap(([key, child]): Setting[] => {
    const path = [...under, key];
    if (child instanceof z.ZodObject) return listSettings(child, path);
    const note = settingNotes.get(child as z.ZodType);
    if (!note) throw new Error(`the setting ${path.join(".")} has no note`);
    const keys = path.map(snake);
    const variable = `PARLEY_${keys.join("_").toUpperCase()}`;
    return [{ ...note, path, name: keys.join("."), variable, schema: child as z.ZodType }];
  });
}

/**
 * Returns the settings in force: flags win over the environment, which wins over the file, which wins over the defaults.
 *
 * Reads the file, and the files of secrets named by the environment; touches nothing else. An empty variable counts as
 * not set.
 *
 * @throws {ConfigMistake} one sentence for each mistake (docs/how-to/operate.md)
 */
export function loadConfig(sources: ConfigSources): Config {
  return readConfig(sources).config;
}

/** The same, with where each setting came from. @throws {ConfigMistake} */
export function readConfig({ flags = {}, env, file, refuseIdle = false }: ConfigSources): ReadConfig {
  const settings = listSettings();
  const mistakes: string[] = [];
  const given = new Map<string, SourcedValue>();

  const path = findFile({ flags, env, file });
  if (path !== undefined) readFile(path, settings, given, mistakes);
  for (const setting of settings) {
    const found = readEnvironment(setting, env, mistakes) ?? undefined;
    if (found) given.set(setting.name, found);
    const flag = setting.name.replace(/[._]/g, "-");
    if (flags[flag] !== undefined)
      given.set(setting.name, { value: convert(setting, flags[flag]), where: `--${flag}` });
  }
  const idle = refuseIdle ? [...unknownVariables(settings, given, env), ...idleSettings(settings, given)] : [];
  if (!given.has("data_dir"))
    given.set("data_dir", { value: usualDataDir(env) ?? withoutHome(), where: "the environment" });
  for (const name of [
    "data_dir",
    "key_file",
    "push.fcm_key_file",
    "relay.policy_file",
    "relay.prompts_dir",
    "assignment.work_dir",
  ]) {
    const found = given.get(name);
    if (typeof found?.value === "string" && found.value) found.value = expandHome(found.value, env);
  }

  const parsed = ConfigSchema.safeParse(nest(settings, given));
  if (!parsed.success) mistakes.push(...parsed.error.issues.map((issue) => sentenceOf(issue, settings, given)));
  mistakes.push(...contradictions(given), ...idle);
  if (mistakes.length > 0 || !parsed.success) throw new ConfigMistake(mistakes);
  return { config: parsed.data, given };
}

/** Returns the path of the settings file that is read, if one is. */
export function findFile({ flags = {}, env, file }: ConfigSources): string | undefined {
  const named = file ?? (env["PARLEY_CONFIG"] || undefined);
  if (named !== undefined) return resolve(named);
  const usual = join(dataDirOf(env, flags["data-dir"]) ?? withoutHome(), "parley.yaml");
  return existsSync(usual) ? usual : undefined;
}

function withoutHome(): never {
  throw new ConfigMistake(["HOME is not set; name a folder with PARLEY_DATA_DIR or --data-dir."]);
}

function readFile(
  path: string,
  settings: readonly Setting[],
  given: Map<string, SourcedValue>,
  mistakes: string[],
): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigMistake([`${path} cannot be read: ${reasonOf(error)}.`]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const whereOf = (offset: number | undefined) => `${path}:${lines.linePos(offset ?? 0).line}`;

  const [broken] = document.errors;
  if (broken)
    throw new ConfigMistake([`${whereOf(broken.pos[0])}: this is not valid YAML: ${lowerFirst(broken.message)}.`]);
  if (document.contents === null) return;
  if (!isMap(document.contents)) {
    throw new ConfigMistake([`${whereOf(0)}: the file must hold settings, each as "name: value".`]);
  }
  const names = new Set(settings.map(({ name }) => name));
  readMap(document.contents, "");

  function readMap(map: YAMLMap, under: string): void {
    for (const { key, value } of map.items) {
      const name = under + (isScalar(key) ? String(key.value) : "?");
      const where = whereOf(isScalar(key) ? key.range?.[0] : undefined);
      const isBlock = settings.some((setting) => setting.name.startsWith(`${name}.`));
      if (names.has(name)) {
        const plain: unknown = (value as { toJS?: (of: typeof document) => unknown } | null)?.toJS?.(document) ?? null;
        if (plain !== null) given.set(name, { value: plain, where });
      } else if (isBlock && isMap(value)) {
        readMap(value, `${name}.`);
      } else if (isBlock) {
        const empty = value === null || (isScalar(value) && value.value === null);
        if (!empty) mistakes.push(`${where}: ${name} must be a block of settings.`);
      } else {
        mistakes.push(`${where}: there is no setting "${name}"${suggest(name, [...names])}.`);
      }
    }
  }
}

function readEnvironment(setting: Setting, env: ConfigSources["env"], mistakes: string[]): SourcedValue | undefined {
  for (const variable of [setting.variable, ...(setting.aliases ?? [])]) {
    const value = env[variable];
    if (value) return { value: convert(setting, value), where: variable };
    const file = setting.secret ? env[`${variable}_FILE`] : undefined;
    if (!file) continue;
    try {
      const text = readFileSync(file, "utf8").trim();
      const isList = innermost(setting.schema) instanceof z.ZodArray;
      return { value: isList ? text.split(/(?<!\s)\s*\n\s*/) : text, where: `${variable}_FILE` };
    } catch (error) {
      mistakes.push(`${variable}_FILE: ${file} cannot be read: ${reasonOf(error)}.`);
    }
  }
  return undefined;
}

/** Turns a text into what the setting takes, where that is clear; else the schema says what was expected. */
function convert(setting: Setting, text: string): unknown {
  const type = innermost(setting.schema);
  if (type instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  const yesNo = type instanceof z.ZodBoolean || type instanceof z.ZodUnion;
  if (yesNo && /^(true|false|1|0)$/.test(text)) return text === "true" || text === "1";
  if (type instanceof z.ZodArray) return text.split(",").map((item) => item.trim());
  return text;
}

function innermost(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? innermost(schema.unwrap()) : schema;
}

function nest(settings: readonly Setting[], given: ReadonlyMap<string, SourcedValue>): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const { path, name } of settings) {
    let block = whole;
    for (const key of path.slice(0, -1)) block = (block[key] ??= {}) as Record<string, unknown>;
    const last = path.at(-1);
    if (last !== undefined) block[last] = given.get(name)?.value;
  }
  return whole;
}

function sentenceOf(
  issue: z.core.$ZodIssue,
  settings: readonly Setting[],
  given: ReadonlyMap<string, SourcedValue>,
): string {
  const setting = settings.find(({ path }) => path.every((key, i) => issue.path[i] === key));
  if (!setting) throw new Error(`no setting at ${issue.path.join(".")}`);
  const found = given.get(setting.name);
  const index = issue.path[setting.path.length];
  const value =
    Array.isArray(found?.value) && typeof index === "number" ? (found.value[index] as unknown) : found?.value;
  const what = typeof index === "number" ? `${setting.name}[${index}]` : setting.name;
  // A password in an address stays unsaid, whatever the setting.
  const instead = setting.secret ? "" : `, not ${writtenAs(value).replace(/(?<!\/)\/\/[^"\s]*@/g, "//...@")}`;
  return `${found?.where ?? "the settings"}: ${what} must be ${issue.message}${instead}.`;
}

/** Returns a value as a person would write it; YAML has numbers for which JSON has only `null`. */
function writtenAs(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing");
}

function contradictions(given: ReadonlyMap<string, SourcedValue>): string[] {
  const [one, other] = [given.get("crowd.public"), given.get("ask_a_human.crowd.public")];
  if (!one || !other || one.value === other.value) return [];
  return [
    `${other.where}: ask_a_human.crowd.public says otherwise than crowd.public (${one.where}); keep one of them.`,
  ];
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? (error instanceof Error ? error.message : "unknown reason");
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
