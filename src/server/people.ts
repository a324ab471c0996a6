import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import type { Policy } from "../policy/model/policy.ts";
import { printable } from "../lib/printable.ts";
import type { KnownChannels } from "../protocols/a2h/addressees.ts";
import { peopleIn } from "../protocols/a2h/known-channels.ts";
import { findHuman } from "../access/store/humans.ts";
import { resolveRecipient, type Looking, readGroups, whyNot, type ReadGroups } from "../access/resolve-recipient.ts";

/**
 * Returns the ids of the people of each group, and who of them has left.
 *
 * @throws {Error} one sentence for each name in the settings that stands for nobody
 */
export async function openGroups(
  ctx: Pick<Context, "db">,
  { people, relayRules }: Pick<Config, "people" | "relayRules">,
): Promise<ReadGroups> {
  const usual = relayRules.people?.default ?? null;
  const asked = usual === null ? null : { where: "relay.people.default", name: usual };
  return readGroups(ctx, people.groups ?? {}, asked);
}

/** Returns what to say at the start of a server that may have others beside it, where groups are not as they were. */
export function sharedNotes({ databaseUrl }: Pick<Config, "databaseUrl">, changed: readonly string[]): string[] {
  if (databaseUrl === undefined || changed.length === 0) return [];
  return [
    `The people of ${changed.join(", ")} differ from those of the server that was started last on this database; ` +
      "all its servers need the same people.groups.",
  ];
}

/** Returns one sentence for each rule of the policy that puts asks to a name which stands for nobody. */
export async function ruleNotes(ctx: Looking, policy: Policy): Promise<string[]> {
  const notes: string[] = [];
  for (const { to, id, index } of policy.rules) {
    if (to === null) continue;
    const recipient = await resolveRecipient(ctx, to);
    if (recipient.kind === "human" || recipient.kind === "group") continue;
    const rule = id ?? `number ${index + 1}`;
    notes.push(
      `The policy's rule ${rule} asks ${printable(to)}, ${whyNot(recipient)}; everybody who sees all is asked.`,
    );
  }
  return notes;
}

/**
 * Checks that all people whom targets and channels of the settings name are enrolled here. A target without such a
 * person would pass requests on to nobody, which would be seen only when a request stays unanswered.
 *
 * @throws {Error} one sentence for each mistake
 */
export async function checkNamedPeople(
  ctx: Pick<Context, "db" | "addressed">,
  config: Pick<Config, "webhookTargets">,
  known: KnownChannels,
): Promise<void> {
  const targets = Object.entries(config.webhookTargets ?? {});
  const named = [
    ...targets.flatMap(([name, { humans }]) => humans.map((id) => ({ where: `webhook_targets.${name}.humans`, id }))),
    ...peopleIn(known),
  ];
  const mistakes: string[] = [];
  for (const { where, id } of named) {
    if (ctx.addressed.groups.has(id) || (await findHuman(ctx.db, id))) continue;
    const isNumber = /^\d+$/.test(id);
    const unknown = isNumber
      ? "and no person has this number; parley people list shows them"
      : "which is no group of people.groups; people are named by number";
    mistakes.push(`${where} names ${id}, ${unknown}.`);
  }
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
}
