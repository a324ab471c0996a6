import { expireDueQuestions } from "../questions/loops/expire.ts";
import { endHandOnsOfLeft } from "../requests/inbox/hand-on.ts";
import { expireDueRequests } from "../requests/loops/expire.ts";
import { openExpireJobs } from "../asks/loops/expire-jobs.ts";
import { expireDueAsks } from "../asks/loops/expire.ts";
import type { KnownChannels } from "../protocols/a2h/addressees.ts";
import { readKnownChannels } from "../protocols/a2h/known-channels.ts";
import type { Parts } from "./parts.ts";
import { checkNamedPeople, openGroups, ruleNotes, sharedNotes } from "./people.ts";
import { readPushAccounts, type PushAccounts } from "./push.ts";
import { prepareFirstStart } from "./prepare-first-start.ts";
import { takeOverLearned } from "../policy/take-over.ts";
import { noteGroups } from "../access/shared-groups.ts";

/** The facts that a start has learned from the store and the settings before the first request. */
export interface Readiness {
  /** The first `agent` key, at the very first start only. */
  firstKey: string | null;
  /** Notes for the operator about people and groups. */
  notes: string[];
  /** The channels that the settings name for requests. */
  known: KnownChannels;
  push: PushAccounts;
}

/**
 * Stores everything that a server cannot be without, and checks that the people whom the settings name exist.
 *
 * @throws {Error} one sentence for the operator
 */
export async function makeReady(parts: Parts): Promise<Readiness> {
  const { ctx, config, groups, policy, announced, door } = parts;
  await takeOverLearned(ctx, policy);
  await announced.step();
  const { agentKey: firstKey } = await prepareFirstStart(ctx);
  const opened = await openGroups(ctx, config);
  for (const [name, people] of opened.groups) groups.set(name, people);
  const changed = await noteGroups(ctx, groups);
  if (changed.length > 0) await endHandOnsOfLeft(ctx);
  const regrouped = sharedNotes(config, changed);
  const notes = [...opened.notes, ...regrouped, ...(await ruleNotes(ctx, policy.current().policy))];
  const known = readKnownChannels(door);
  await checkNamedPeople(ctx, config, known);
  return { firstKey, notes, known, push: await readPushAccounts(ctx, config) };
}

/** Settles everything whose time ran out while no server was there to see it. */
export async function settleDue({ ctx, stopping: { signal } }: Parts): Promise<void> {
  while (await expireDueQuestions(ctx, signal));
  while (await expireDueRequests(ctx, signal));
  const expireJobs = openExpireJobs(ctx);
  while (await expireJobs(signal));
  while (await expireDueAsks(ctx, signal));
}
