import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../lib/clock.ts";
import { makeFolder, replaceFile, writeNewFile } from "../../lib/files/durable-files.ts";
import type { Policy } from "../../policy/model/policy.ts";
import { PolicyMistake } from "../../policy/model/check.ts";
import { FIRST_POLICY, loadPolicy } from "../../policy/model/text.ts";

/**
 * `ok`: the file is in force as it stands. `stale`: it holds a mistake, and what was read before it is in force.
 * `missing`: there is no file any more, and what was read from it is in force.
 */
export type PolicyFileState = "ok" | "stale" | "missing";

export interface LoadedPolicy {
  policy: Policy;
  /** The file's text; null where none could ever be read. */
  text: string | null;
  /** The text that the policy was read from. */
  source: string;
  loadedAt: number;
}

/** The policy of an installation, as its file says. */
export interface PolicyFile {
  /** The policy in force. An ask keeps the policy that it got first. */
  current(): LoadedPolicy;
  state(): PolicyFileState;
  /** True while no file could ever be read: people decide everything. */
  isUnread(): boolean;
  /** The problem of the file, in sentences for the operator; null while the file is good. */
  problem(): string | null;
  /** Reads the file if it has changed since it was last looked at; a loop's step, every two seconds. */
  step(signal: AbortSignal): Promise<boolean>;
  /** Reads the file now. */
  reload(): Promise<void>;
  /**
   * The file holds what `change` made of its text, and it is in force here.
   *
   * @throws whatever `change` throws, with the file as it was
   */
  edit(change: (text: string) => string | Promise<string>): Promise<void>;
}

/** A change of the file: another version is in force, or its new content is not. */
export interface PolicyChange {
  state: PolicyFileState;
  policyVersion: string;
  problem: string | null;
}

interface PolicyFileOptions {
  path: string;
  log: Pick<Logger, "info" | "error">;
  clock: Clock;
  /** Called whenever another version came into force, and whenever the state or the problem has changed. */
  onChange?: (change: PolicyChange) => void;
}

/** In force where no file could ever be read: people decide everything, and nothing is allowed for good. */
const PEOPLE_DECIDE = {
  version: 1,
  defaults: { read: "ESCALATE", other: "ESCALATE" },
  rules: [
    { id: "no-policy", when: { action: "*" }, decision: "ESCALATE", standing: false },
    { id: "no-policy-for-calls", when: { fn: "*" }, decision: "ESCALATE", standing: false },
  ],
} as const;

/** Opens the policy of an installation: reads its file, or writes the first one if the file does not exist. */
export async function openPolicyFile({ path, log, clock, onChange }: PolicyFileOptions): Promise<PolicyFile> {
  const unread = await loadedFrom(JSON.stringify(PEOPLE_DECIDE), null, { path, clock });
  let loaded = unread;
  let now: PolicyFileStatus = { state: "missing", problem: null };
  let seen = "";
  let isOpen = false;
  // One look at a time, so that an edit and a step do not cross.
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  }

  async function look(): Promise<void> {
    const before = loaded.policy.policyVersion;
    const was = now;
    const found = await lookAt({ path, clock });
    if (!found) return;
    now = found.now;
    loaded = found.loaded ?? loaded;
    seen = found.seen ?? seen;
    const { policyVersion } = loaded.policy;
    if (policyVersion === before && now.state === was.state && now.problem === was.problem) return;
    const facts = { file: path, policy_version: policyVersion };
    const inForce = loaded === unread ? "people decide everything" : "the policy before stays in force";
    if (now.problem !== null)
      log.error({ ...facts, problem: now.problem }, `the policy file is not in force: ${inForce}`);
    // The policy at the start of a server is not logged as a change.
    else if (isOpen) log.info(facts, "this policy is in force");
    onChange?.({ ...now, policyVersion });
  }

  loaded = (await writeFirst({ path, log, clock })) ?? loaded;
  await look();
  isOpen = true;

  return {
    current: () => loaded,
    state: () => now.state,
    isUnread: () => loaded === unread,
    problem: () => now.problem,
    step: () =>
      inTurn(async () => {
        if ((await stampOf(path)) !== seen || now.state === "missing") await look();
        return false;
      }),
    reload: () => inTurn(look),
    edit: (change) =>
      inTurn(async () => {
        const before = await readFile(path, "utf8");
        const after = await change(before);
        if (after !== before) await replaceFile(path, after);
        await look();
      }),
  };
}

interface PolicyFileStatus {
  state: PolicyFileState;
  problem: string | null;
}

/** The result of reading the file; fields left out are as before. */
interface Look {
  now: PolicyFileStatus;
  loaded?: LoadedPolicy;
  /** The stamp of the version that was looked at. */
  seen?: string;
}

/** Reads the file; null where somebody is writing it this very moment: the next look finds it whole. */
async function lookAt({ path, clock }: { path: string; clock: Clock }): Promise<Look | null> {
  try {
    const stamp = await stampOf(path);
    if (stamp === "") return { now: { state: "missing", problem: `${path} is not there` }, seen: stamp };
    const text = await readFile(path, "utf8");
    if ((await stampOf(path)) !== stamp) return null;
    return { now: { state: "ok", problem: null }, loaded: await loadedFrom(text, text, { path, clock }), seen: stamp };
  } catch (error) {
    const now = { state: "stale", problem: error instanceof Error ? error.message : String(error) } as const;
    return error instanceof PolicyMistake ? { now, seen: await stampOf(path).catch(() => "") } : { now };
  }
}

/** Writes the first policy where there is no file; returns that policy where it cannot be written. */
async function writeFirst({ path, log, clock }: PolicyFileOptions): Promise<LoadedPolicy | null> {
  if ((await stampOf(path).catch(() => "not to be seen")) !== "") return null;
  try {
    makeFolder(dirname(path), 0o700);
    await writeNewFile(path, FIRST_POLICY, 0o600);
    return null;
  } catch (error) {
    log.error({ err: error, file: path }, "the first policy cannot be written");
    return loadedFrom(FIRST_POLICY, null, { path, clock });
  }
}

/** @throws {PolicyMistake} */
async function loadedFrom(
  policyText: string,
  fileText: string | null,
  { path, clock }: { path: string; clock: Clock },
): Promise<LoadedPolicy> {
  const policy = await loadPolicy(policyText, basename(path));
  return { policy, text: fileText, source: policyText, loadedAt: clock.now() };
}

/** Returns a stamp that differs between versions of a file; empty if the file does not exist. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
