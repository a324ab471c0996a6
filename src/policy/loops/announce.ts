import type { Context } from "../../context.ts";
import { transact } from "../../core/store/transact.ts";
import type { Policy } from "../model/policy.ts";
import { findOtherPolicies, forgetServer, noteServer } from "../store/servers.ts";

const AGAIN_AFTER_MS = 5000;

/** This server, as the others that share its store know it. */
export interface Announced {
  /** The store says by which policy this server goes; written when that is another, and every five seconds. */
  step(): Promise<void>;
  /** Returns the versions by which other running servers go. */
  others(): Promise<string[]>;
  /** The server runs no more. */
  leave(): Promise<void>;
}

interface Announcing {
  /** The name by which an operator knows the server. */
  name: string;
  policy(): { policy: Policy; source: string };
}

/** Only servers on PostgreSQL share a store; on SQLite there is nobody to tell. */
export function openAnnounced(
  ctx: Pick<Context, "db" | "wake" | "clock" | "newId">,
  { name, policy }: Announcing,
): Announced {
  const id = ctx.newId("server");
  const isAlone = ctx.db.dialect === "sqlite";
  let written: { version: string; at: number } | null = null;
  let lastStep: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const { policy: current, source } = policy();
    const { policyVersion } = current;
    const isFresh = written?.version === policyVersion && ctx.clock.monotonic() - written.at < AGAIN_AFTER_MS;
    if (isAlone || isFresh) return;
    const at = ctx.clock.monotonic();
    await transact(ctx, (tx) => noteServer(tx, { id, name, policyVersion, policy: source }));
    written = { version: policyVersion, at };
  }

  return {
    // One after another: a step that began before a policy was loaded must not be stored after it.
    step() {
      const step = lastStep.then(write);
      lastStep = step.catch(() => undefined);
      return step;
    },
    async others() {
      if (isAlone) return [];
      return (await findOtherPolicies(ctx.db, policy().policy.policyVersion)).map(({ policyVersion }) => policyVersion);
    },
    async leave() {
      if (!isAlone) await transact(ctx, (tx) => forgetServer(tx, id));
    },
  };
}
