import { listKeys } from "../access/list-keys.ts";
import type { Context } from "../context.ts";
import { storeNow } from "../core/store-now.ts";
import { countGrantsOfAgents } from "../policy/list.ts";
import { agentName } from "../policy/model/policy.ts";
import { listAskersOfCrowd, readCrowdAsker } from "../questions/asking-agents.ts";
import { type AskerState, listAskersOfPeople, readAsker } from "../requests/read/asking-agents.ts";

/** A program that asks, or holds a key by which it may. */
export interface AgentLine extends AskerState {
  principal: string;
  /** How many questions of it the crowd has open. */
  questions: number;
  /** The live keys of its name. */
  keys: readonly { id: string; usedAt: number | null }[];
  /** How many permanent permissions it has. */
  grants: number;
}

/** One page of agents by name, of one time of the store's clock. */
export interface AgentPage {
  atMs: number;
  agents: readonly AgentLine[];
  /** The name after which the next page begins; null after the last. */
  next: string | null;
}

type Ctx = Pick<Context, "db">;

/**
 * Returns a page of the programs that ever asked people or the crowd, or hold a key for asking, by principal. The cost is
 * that of the page: an agent's newest 100 requests are counted, however many it has.
 */
export async function readAgents(ctx: Ctx, { after, limit }: { after: string; limit: number }): Promise<AgentPage> {
  const atMs = await storeNow(ctx.db);
  const page = { after, limit: limit + 1 };
  const keys = await keysByPrincipal(ctx, atMs);
  const names = new Set([
    ...(await listAskersOfPeople(ctx, page)),
    ...(await listAskersOfCrowd(ctx, page)),
    ...[...keys.keys()].filter((name) => name > after),
  ]);
  const found = [...names].toSorted(byBytes).slice(0, limit + 1);
  const grants = await countGrantsOfAgents(ctx);
  const agents = await Promise.all(
    found.slice(0, limit).map((principal) => lineOf(ctx, principal, { keys: keys.get(principal) ?? [], grants })),
  );
  return { atMs, agents, next: found.length > limit ? (found[limit - 1] ?? null) : null };
}

/** The order of the databases, which compare text byte by byte. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

async function lineOf(
  ctx: Ctx,
  principal: string,
  { keys, grants }: { keys: AgentLine["keys"]; grants: ReadonlyMap<string, number> },
): Promise<AgentLine> {
  const [people, crowd] = await Promise.all([readAsker(ctx, principal), readCrowdAsker(ctx, principal)]);
  const asked = [people.askedAt, crowd.askedAt].filter((at) => at !== null);
  return {
    ...people,
    principal,
    askedAt: asked.length === 0 ? null : Math.max(...asked),
    questions: crowd.waiting,
    keys,
    grants: grants.get(agentName(principal)) ?? 0,
  };
}

/** The live keys of programs that may ask, by their principal. */
async function keysByPrincipal(ctx: Ctx, nowMs: number): Promise<Map<string, { id: string; usedAt: number | null }[]>> {
  const found = new Map<string, { id: string; usedAt: number | null }[]>();
  for (const { id, name, scope, revokedAt, expiresAt, usedAt } of await listKeys(ctx)) {
    const isLive = revokedAt === null && (expiresAt === null || expiresAt > nowMs);
    if (!isLive || (scope !== "agent" && scope !== "executor")) continue;
    const principal = `${scope}:${name}`;
    found.set(principal, [...(found.get(principal) ?? []), { id, usedAt }]);
  }
  return found;
}
