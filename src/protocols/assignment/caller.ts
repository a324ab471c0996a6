import type { Context } from "../../context.ts";
import { openTokenBuckets, type TokenBuckets } from "../../lib/token-bucket.ts";
import type { RepoRules } from "../../tasks/model/rules.ts";
import { Refusal } from "../../refusals.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { keyHolder } from "../http/principals.ts";
import { repoOf } from "../http/task-wish.ts";

/** Who gives work, and in which repository. */
export interface AssignCaller {
  keyId: string;
  principal: string;
  /** The name of its key, as people know it. */
  name: string;
  /** Whom the key stands for; null for a service's. */
  person: string | null;
  repo: RepoRules;
}

const PER_MINUTE = { changes: 600, reads: 1200 } as const;

/**
 * Returns who speaks, if its key gives work in the repository that the path names, or in the default one; it counts as one
 * request. There is no open mode here, because a task runs code.
 *
 * @throws {Refusal} `key_required`, `scope_missing`, `rate_limited`, `repo_not_found`, `repo_refused`
 */
export async function callerOf(door: DoorContext, request: FastifyRequest): Promise<AssignCaller> {
  const key = await keyHolder(door, request);
  if ("open" in key) throw new Refusal("key_required");
  if (key.scope !== "assign") throw new Refusal("scope_missing", { scope: "assign" });
  const kind = request.method === "GET" || request.method === "HEAD" ? "reads" : "changes";
  if (!turnsOf(door.ctx)[kind].take(key.keyId)) {
    throw new Refusal("rate_limited", { limit: PER_MINUTE[kind], window_seconds: 60, retry_after: 1 });
  }
  const repo = repoOf(door, (request.params as { repo?: string }).repo);
  if (key.repos && !key.repos.includes(repo.name)) throw new Refusal("repo_refused", { repo: repo.name });
  const { keyId, principal, name, person } = key;
  return { keyId, principal, name, person, repo };
}

type Turns = Record<keyof typeof PER_MINUTE, TokenBuckets>;

/** The requests of each key, counted on this node. */
const turns = new WeakMap<Context, Turns>();

function turnsOf(ctx: Context): Turns {
  const bucketsOf = (most: number) => openTokenBuckets(ctx.clock, { perSecond: most / 60, burst: most });
  const known = turns.get(ctx) ?? { changes: bucketsOf(PER_MINUTE.changes), reads: bucketsOf(PER_MINUTE.reads) };
  turns.set(ctx, known);
  return known;
}
