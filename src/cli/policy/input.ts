import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { loadConfig } from "../../config/config.ts";
import type { Policy, PolicyWords } from "../../policy/model/policy.ts";
import { parsePolicy } from "../../policy/model/text.ts";
import { type Io, WrongUsage } from "../command.ts";

/** A file cannot be read, or holds a mistake: one could not look (exit 2). */
export class UnreadableFile extends Error {}

/** The flags that describe the action to evaluate. */
export const INPUT_OPTIONS = {
  action: { type: "string" },
  resource: { type: "string" },
  env: { type: "string" },
  tool: { type: "string" },
  repo: { type: "string" },
  agent: { type: "string" },
  role: { type: "string" },
  job: { type: "string" },
  fn: { type: "string" },
  digest: { type: "string" },
  type: { type: "string" },
  meta: { type: "string", multiple: true },
} as const;

export const INPUT_USAGE =
  "[--action A --resource R --env E --tool T --repo R --agent A --role R --job J --type TYPE --meta KEY=VALUE | --fn F --agent A --digest D]";

export const INPUT_FLAGS = {
  "--action A": "what would be done, such as write or deploy",
  "--resource R": "to what",
  "--env E": "where; left out, dev",
  "--tool T": "by which tool",
  "--repo R": "in which repository",
  "--agent A": "by which agent",
  "--role R": "in which role",
  "--job J": "as part of which job",
  "--type TYPE": `what is asked: ${ASK_TYPES.join(", ")}`,
  "--meta KEY=VALUE": "what the asker sends along; may be given again",
  "--fn F": "of a function call that agents ask people about: the function",
  "--digest D": "of a function call: what exactly would be approved, sha256:…, where permanent permissions count",
} as const;

type InputValues = { [name in Exclude<keyof typeof INPUT_OPTIONS, "meta">]?: string | undefined } & {
  meta?: string[] | undefined;
};

/** Returns what the flags ask about; null where they name nothing. */
export function wordsOf({ type, meta = [], ...rest }: InputValues): PolicyWords | null {
  const askType = ASK_TYPES.find((known) => known === type?.toUpperCase());
  if (type !== undefined && !askType) throw new WrongUsage(`--type must be one of ${ASK_TYPES.join(", ")}`);
  const pairs = meta.map((pair) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === undefined) throw new WrongUsage("--meta must be KEY=VALUE");
    return [key, value] as const;
  });
  const { action, resource, env, tool, repo, agent, role, job, fn, digest } = rest;
  const words = { action, resource, env, tool, repo, agent, role, job, fn, digest, ask_type: askType };
  const others = [action, resource, env, tool, repo, role, job, type, ...meta];
  if (fn !== undefined && others.some((value) => value !== undefined))
    throw new WrongUsage("a function call has --fn, --agent and --digest, and nothing else");
  if (fn === undefined && digest !== undefined) throw new WrongUsage("--digest goes with --fn");
  if (pairs.length === 0 && Object.values(words).every((value) => value === undefined)) return null;
  return { ...words, meta: Object.fromEntries(pairs) };
}

/** Returns where the policy of the installation is. */
export function policyPath(values: { "data-dir"?: string | undefined; config?: string | undefined }, io: Io): string {
  return loadConfig({ flags: { "data-dir": values["data-dir"] }, env: io.env, file: values.config }).relay.policyFile;
}

/** Returns the policy a file holds. @throws {UnreadableFile} */
export function readPolicy(path: string): Policy {
  const text = readText(path);
  try {
    return parsePolicy(text, basename(path));
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
