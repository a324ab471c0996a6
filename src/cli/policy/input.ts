import { ASK_TYPES, type AskType } from "../../core/model/ask-type.ts";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Policy, PolicyWords } from "../../policy/model/policy.ts";
import { loadPolicy } from "../../policy/model/text.ts";
import { type Arguments, type Takes, WrongUsage } from "../arguments.ts";
import { configOf } from "../command-config.ts";
import type { Io, StorePlace } from "../command.ts";

/** A file cannot be read, or holds a mistake: one could not look (exit 2). */
export class UnreadableFile extends Error {}

/** The flags that describe the action to evaluate. */
export const INPUT_FLAGS = {
  "--action A": "what would be done, such as write or deploy",
  "--resource R": "to what",
  "--env E": "where; left out, dev",
  "--tool T": "by which tool",
  "--repo R": "in which repository",
  "--agent A": "by which agent",
  "--role R": "in which role",
  "--job J": "as part of which job",
  "--type TYPE": { help: `what is asked: ${ASK_TYPES.join(", ")}`, choices: ASK_TYPES, read: askTypeFrom },
  "--meta KEY=VALUE...": { help: "what the asker sends along; may be given again", read: pairFrom },
  "--fn F": "of a function call that agents ask people about: the function",
  "--args JSON": { help: "of a function call or an ask: the arguments, as JSON", read: argumentsFrom },
  "--digest D": "of a function call: what exactly would be approved, sha256:…, where permanent permissions count",
} as const satisfies Takes;

function askTypeFrom(text: string): AskType {
  const askType = ASK_TYPES.find((known) => known === text.toUpperCase());
  if (!askType) throw new WrongUsage(`--type must be one of ${ASK_TYPES.join(", ")}`);
  return askType;
}

function pairFrom(text: string): readonly [key: string, value: string] {
  const [, key, value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined) throw new WrongUsage("--meta must be KEY=VALUE");
  return [key, value];
}

function argumentsFrom(text: string): () => string {
  try {
    JSON.parse(text);
    return () => text;
  } catch {
    throw new WrongUsage("--args must be JSON");
  }
}

/** Returns what the flags ask about; null where they name nothing. */
export function wordsOf(flags: Arguments<typeof INPUT_FLAGS>): PolicyWords | null {
  const { action, resource, env, tool, repo, agent, role, job, fn, digest, args, type, meta = [] } = flags;
  const words = { action, resource, env, tool, repo, agent, role, job, fn, digest, args, ask_type: type };
  const others = [action, resource, env, tool, repo, role, job, type, ...meta];
  if (fn !== undefined && others.some((value) => value !== undefined))
    throw new WrongUsage("a function call has --fn, --agent, --args and --digest, and nothing else");
  if (fn === undefined && digest !== undefined) throw new WrongUsage("--digest goes with --fn");
  if (meta.length === 0 && Object.values(words).every((value) => value === undefined)) return null;
  return { ...words, meta: Object.fromEntries(meta) };
}

/** Returns where the policy of the installation is. */
export const policyPath = (place: StorePlace, io: Io): string => configOf(place, io).relay.policyFile;

/** Returns the policy a file holds. @throws {UnreadableFile} */
export async function readPolicy(path: string): Promise<Policy> {
  const text = readText(path);
  try {
    return await loadPolicy(text, basename(path));
  } catch (error) {
    throw new UnreadableFile(error instanceof Error ? error.message : String(error));
  }
}

/** @throws {UnreadableFile} */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const why = isMissing ? "it does not exist" : error instanceof Error ? error.message : String(error);
    throw new UnreadableFile(`${path} cannot be read: ${why}.`);
  }
}
