import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Context } from "../context.ts";
import { type Actor, appendAudit } from "../core/store/audit.ts";
import { transact } from "../core/store/transact.ts";
import { sha256Digest } from "../lib/json/exact-json.ts";
import { Refusal } from "../refusals.ts";
import { type ChangedPolicy, changeRule, type RuleChange, ruleTexts } from "./model/rule-edit.ts";
import { loadPolicy } from "./model/text.ts";
import { PolicyMistake } from "./model/check.ts";
import { reloadPolicy } from "./proposals.ts";
import { serverName } from "./server-name.ts";
import { listServers } from "./store/servers.ts";

/** The reason for which a server does not change its policy file. */
export type FixedBecause = "missing" | "mistake" | "read_only" | "other_servers";

/** The policy file as it may be edited. */
export interface EditablePolicy {
  /** SHA-256 of the file's bytes; empty without a file. */
  digest: string;
  /** Null where it can be changed. */
  fixed: FixedBecause | null;
  /** The servers that read another file. */
  servers: readonly string[];
  rules: readonly string[];
}

/** A change that was looked at, beside the file that it was made of. */
export interface RulePreview extends ChangedPolicy {
  before: string;
  /** The digest of the new text. */
  digest: string;
}

/** The policy file of this server. */
interface EditedFile {
  path: string;
  edit(change: (text: string) => Promise<string>): Promise<void>;
}

type Reads = Pick<Context, "db">;

/** Returns the rules of the policy file as they stand, and whether they can be changed. */
export async function readEditable(ctx: Reads, path: string): Promise<EditablePolicy> {
  const own = serverName(path);
  const servers = (await listServers(ctx.db)).map(({ name }) => name).filter((name) => name !== own);
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return { digest: "", fixed: "missing", servers, rules: [] };
  const digest = sha256Digest(text);
  if (!(await isGood(text))) return { digest, fixed: "mistake", servers, rules: [] };
  const fixed = servers.length > 0 ? "other_servers" : (await isWritable(path)) ? null : "read_only";
  return { digest, fixed, servers, rules: ruleTexts(text) };
}

/**
 * Returns the file as a change would leave it. Nothing is stored.
 *
 * @throws {Refusal} `policy_file_fixed`, `policy_file_changed`, `invalid_input`
 */
export async function previewRule(
  ctx: Reads,
  path: string,
  { from, ...change }: RuleChange & { from: string },
): Promise<RulePreview> {
  await mayChange(ctx, path);
  return changed(await readFile(path, "utf8"), change, from);
}

/**
 * The file holds the change, and every server that reads it goes by it within a second. The record of the audit is
 * written before the file is, so that no change is without one.
 *
 * @throws {Refusal} `policy_file_fixed`; `policy_file_changed` unless the file is as `from` and becomes as `shown`
 */
export async function saveRule(
  ctx: Pick<Context, "db" | "wake">,
  file: EditedFile,
  { from, shown, by, ...change }: RuleChange & { from: string; shown: string; by: Actor },
): Promise<RulePreview> {
  await mayChange(ctx, file.path);
  let saved: RulePreview | undefined;
  const note = (action: string, { rule, digest }: RulePreview): Promise<void> =>
    transact(ctx, (tx) =>
      appendAudit(tx, { actor: by, action, data: { rule, change: change.do, before: from, after: digest } }),
    );
  try {
    await file.edit(async (text) => {
      const preview = await changed(text, change, from);
      if (preview.digest !== shown) throw new Refusal("policy_file_changed");
      await note("policy_rule.changed", preview);
      saved = preview;
      return preview.text;
    });
  } catch (error) {
    if (saved) await note("policy_rule.not_changed", saved);
    if (saved && isDenied(error)) throw fixedRefusal("read_only", []);
    throw error;
  }
  if (!saved) throw new Error("a policy file was edited without a change");
  await reloadPolicy(ctx);
  return saved;
}

async function changed(text: string, change: RuleChange, from: string): Promise<RulePreview> {
  if (sha256Digest(text) !== from) throw new Refusal("policy_file_changed");
  const made = await changeRule(text, change);
  return { ...made, before: text, digest: sha256Digest(made.text) };
}

async function mayChange(ctx: Reads, path: string): Promise<void> {
  const { fixed, servers } = await readEditable(ctx, path);
  if (fixed) throw fixedRefusal(fixed, servers);
}

function fixedRefusal(reason: FixedBecause, servers: readonly string[]): Refusal {
  const says = {
    missing: "There is no policy file on this server.",
    mistake: "The policy file has a mistake; mend it on the server first.",
    read_only: "This server may not write its policy file.",
    other_servers: `Other servers have files of their own; change the file on each: ${servers.join("; ")}.`,
  }[reason];
  return new Refusal("policy_file_fixed", { reason, ...(servers.length > 0 && { servers: [...servers] }) }, says);
}

async function isGood(text: string): Promise<boolean> {
  try {
    await loadPolicy(text);
    return true;
  } catch (error) {
    if (error instanceof PolicyMistake) return false;
    throw error;
  }
}

/** A file that nobody may write is left alone, also by a server that may write everything. */
async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    await access(dirname(path), constants.W_OK);
    return ((await stat(path)).mode & 0o222) !== 0;
  } catch {
    return false;
  }
}

const isDenied = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["EACCES", "EPERM", "EROFS", "EBUSY"].includes(String(error.code));
