import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { sha256Digest } from "./lib/exact-json.ts";
import { startLoop, type Loop } from "./lib/loop.ts";
import { openFollowPolicy } from "./loops/follow-policy.ts";
import { openPolicyFile, type PolicyFile } from "./responders/policy/policy-file.ts";
import { transact } from "./store/transact.ts";
import { tellAdminsIn } from "./verbs/tell-admins.ts";

const WATCH_EVERY_MS = 2000;
const FOLLOW_EVERY_MS = 500;
const DAY_MS = 86_400_000;

/** Opens the policy of the installation. Admins hear in the inbox of a file that is not in force, once a day. */
export async function openPolicy(ctx: Context, config: Config): Promise<PolicyFile> {
  const path = config.relay.policyFile;
  return openPolicyFile({
    path,
    log: ctx.log,
    clock: ctx.clock,
    onChange: ({ problem, policyVersion }) => {
      if (problem === null) return;
      const day = Math.floor(ctx.clock.now() / DAY_MS);
      const words = `${problem}\n\nPolicy ${policyVersion} stays in force until ${path} is mended.`;
      const notice = {
        ref: `policy:${sha256Digest(`${day} ${problem}`)}`,
        title: "The policy file is not in force",
        words,
      };
      void transact(ctx, (tx) => tellAdminsIn(ctx, tx, notice)).catch((err: unknown) =>
        ctx.log.error({ err }, "admins could not be told of the policy file"),
      );
    },
  });
}

/** Watches the policy file, and reads it again when somebody says so on any server, until stopped. */
export function startPolicy(ctx: Context, file: PolicyFile): Loop[] {
  const loop = (name: string, idleMs: number, step: (signal: AbortSignal) => Promise<boolean>): Loop =>
    startLoop(step, {
      ...{ clock: ctx.clock, idleMs },
      onError: (err) => ctx.log.error({ err, loop: name }, "a loop step failed"),
    });
  return [
    loop("watch policy", WATCH_EVERY_MS, file.step),
    loop("follow policy", FOLLOW_EVERY_MS, openFollowPolicy(ctx, file)),
  ];
}
