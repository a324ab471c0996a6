import { loopErrors } from "../core/loops/errors.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { sha256Digest } from "../lib/exact-json.ts";
import { startLoop, type Loop } from "../lib/loop.ts";
import { printable } from "../lib/printable.ts";
import { openFollowPolicy } from "../policy/loops/follow.ts";
import { openPolicyFile, type PolicyFile } from "../responders/policy/policy-file.ts";
import { transact } from "../core/store/transact.ts";
import { tellAdminsIn } from "../requests/tell-admins.ts";

const WATCH_EVERY_MS = 2000;
const FOLLOW_EVERY_MS = 500;
const DAY_MS = 86_400_000;

/** Opens the policy of the installation. */
export async function openPolicy(ctx: Context, config: Config): Promise<PolicyFile> {
  return openPolicyFile({ path: config.relay.policyFile, log: ctx.log, clock: ctx.clock });
}

/** What is in force while the file is not, as the rest of a sentence. */
function inForce(file: PolicyFile): string {
  if (file.isUnread()) return "people decide everything";
  return `policy ${file.current().policy.policyVersion} stays in force`;
}

/** Returns what the operator is told at start of a policy file that is not in force, in one sentence; else nothing. */
export function policyNotes({ relay: { policyFile } }: Config, file: PolicyFile): string[] {
  const [first = "", ...more] = (file.state() === "stale" ? file.problem() : null)?.split("\n") ?? [];
  if (first === "") return [];
  const others = more.length > 0 ? ` (and ${more.length} more: parley policy lint)` : "";
  const why = printable(first).replace(/\.$/, "");
  return [`The policy file ${policyFile} is not in force, so ${inForce(file)} until it is mended: ${why}${others}.`];
}

/**
 * Watches the policy file, and reads it again when somebody says so on any server, until stopped. Admins hear in the
 * inbox of a mistake in it, once a day.
 */
export function startPolicy(ctx: Context, file: PolicyFile): Loop[] {
  let told: string | null = null;
  const loop = (name: string, idleMs: number, step: (signal: AbortSignal) => Promise<boolean>): Loop =>
    startLoop(step, {
      clock: ctx.clock,
      idleMs,
      onError: loopErrors(ctx, name),
    });

  async function tellAdmins(problem: string): Promise<void> {
    const day = Math.floor(ctx.clock.now() / DAY_MS);
    const words = `${problem}\n\nUntil it is mended, ${inForce(file)}.`;
    const ref = `policy:${sha256Digest(`${day} ${problem}`)}`;
    await transact(ctx, (tx) => tellAdminsIn(ctx, tx, { ref, title: "The policy file is not in force", words }));
  }
  return [
    loop("watch policy", WATCH_EVERY_MS, async (signal) => {
      await file.step(signal);
      const problem = file.problem();
      if (problem !== null && problem !== told) await tellAdmins(problem);
      told = problem;
      return false;
    }),
    loop("follow policy", FOLLOW_EVERY_MS, openFollowPolicy(ctx, file)),
  ];
}
