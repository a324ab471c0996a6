import { loopErrors } from "../core/loops/errors.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { sha256Digest } from "../lib/json/exact-json.ts";
import { startLoop, type Loop } from "../lib/loop.ts";
import { printable } from "../lib/printable.ts";
import { openAnnounced, type Announced } from "../policy/loops/announce.ts";
import { openFollowPolicy } from "../policy/loops/follow.ts";
import { openPolicyFile, type PolicyFile } from "../responders/policy/policy-file.ts";
import { serverName } from "../policy/server-name.ts";
import { transact } from "../core/store/transact.ts";
import { tellAdminsIn } from "../requests/create/tell-admins.ts";

const WATCH_EVERY_MS = 2000;
const FOLLOW_EVERY_MS = 500;
const DAY_MS = 86_400_000;
/** Servers take up a change of a file that they share one after the other; what lasts longer is no change. */
const DIFFERS_FOR_MS = 60_000;

/** Opens the policy of the installation. */
export async function openPolicy(ctx: Context, config: Config): Promise<PolicyFile> {
  return openPolicyFile({ path: config.relay.policyFile, log: ctx.log, clock: ctx.clock });
}

/** Opens what the servers on one store know of each other's policies. */
export function announcePolicy(ctx: Context, config: Config, file: PolicyFile): Announced {
  return openAnnounced(ctx, { name: serverName(config.relay.policyFile), policy: () => file.current() });
}

/** Returns, as the rest of a sentence, which policy is in force while the file is not. */
function inForce(file: PolicyFile): string {
  if (file.isUnread()) return "people decide everything";
  return `policy ${file.current().policy.policyVersion} stays in force`;
}

/** Returns one sentence for the operator at start about a policy file that is not in force; else nothing. */
export function policyNotes({ relay: { policyFile } }: Config, file: PolicyFile): string[] {
  const [first = "", ...more] = (file.state() === "stale" ? file.problem() : null)?.split("\n") ?? [];
  if (first === "") return [];
  const others = more.length > 0 ? ` (and ${more.length} more: parley policy lint)` : "";
  const why = printable(first).replace(/\.$/, "");
  return [`The policy file ${policyFile} is not in force, so ${inForce(file)} until it is mended: ${why}${others}.`];
}

/**
 * Watches the policy file until stopped, and reads it again when somebody asks for it on any server. Admins are
 * notified of a mistake in it in the inbox, once a day.
 */
export function startPolicy(ctx: Context, file: PolicyFile, announced: Announced): Loop[] {
  let reported: string | null = null;
  const loop = (name: string, idleMs: number, step: (signal: AbortSignal) => Promise<boolean>): Loop =>
    startLoop(step, {
      clock: ctx.clock,
      idleMs,
      onError: loopErrors(ctx, name),
    });

  async function tellAdmins(title: string, problem: string, words: string): Promise<void> {
    const day = Math.floor(ctx.clock.now() / DAY_MS);
    const ref = `policy:${sha256Digest(`${day} ${problem}`)}`;
    await transact(ctx, (tx) => tellAdminsIn(ctx, tx, { ref, title, words }));
  }
  const followFile = openFollowPolicy(ctx, file);
  const follow = async (): Promise<boolean> => {
    await followFile();
    await announced.step();
    return false;
  };
  return [
    loop("watch policy", WATCH_EVERY_MS, async (signal) => {
      await file.step(signal);
      await announced.step();
      const problem = file.problem();
      if (problem !== null && problem !== reported) {
        const words = `${problem}\n\nUntil it is mended, ${inForce(file)}.`;
        await tellAdmins("The policy file is not in force", problem, words);
      }
      reported = problem;
      return false;
    }),
    loop("compare policies", WATCH_EVERY_MS, openCompare(ctx, { file, announced, tellAdmins })),
    loop("follow policy", FOLLOW_EVERY_MS, follow),
  ];
}

interface Comparing {
  file: PolicyFile;
  announced: Announced;
  tellAdmins(title: string, problem: string, words: string): Promise<void>;
}

/** Notifies admins in the inbox, once a day, of servers that go by other policies than this one for a minute. */
function openCompare(ctx: Context, { file, announced, tellAdmins }: Comparing): () => Promise<boolean> {
  let since: number | null = null;
  let reported = "";
  return async () => {
    const others = await announced.others();
    since = others.length === 0 ? null : (since ?? ctx.clock.monotonic());
    if (since === null || ctx.clock.monotonic() - since < DIFFERS_FOR_MS) return false;
    // Each server sees the others: all of them say the same words.
    const versions = [file.current().policy.policyVersion, ...others].sort().join(", ");
    if (versions === reported) return false;
    const title = "The servers go by different policies";
    const words = `Their versions are ${versions}. Until they are the same, only what each of them allows is allowed without asking people. parley doctor names the servers; give each the same policy file.`;
    ctx.log.error({ versions }, "the servers on this store go by different policies");
    await tellAdmins(title, versions, words);
    reported = versions;
    return false;
  };
}
