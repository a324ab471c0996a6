import { isJsonObject } from "../../lib/json/exact-json.ts";
import type { DoorContext } from "../http/door.ts";
import type { KnownChannels } from "./addressees.ts";
import { readChannel, type ChannelRules, type ChannelTree, type ReadChannel } from "./contact-channel.ts";
import type { Problem } from "./fields.ts";

/**
 * Returns the channels that the operator wrote down, by name, and the usual one.
 *
 * @throws {Error} one sentence for each mistake
 */
export function readKnownChannels({ ctx, config, channels }: DoorContext): KnownChannels {
  const { channels: written, defaultChannel } = config.contacts;
  const rules: ChannelRules = { catalogue: channels, recipients: null, isOpen: false, joint: true, composite: true };
  const mistakes: string[] = [];
  const named = new Map(
    Object.entries(written).flatMap(([name, given]) => {
      const read = one(`a2h.channels.${name}`, given, rules);
      return read ? [[name, read] as const] : [];
    }),
  );
  const groups = [...ctx.addressed.groups.keys()];
  for (const name of groups.filter((one) => named.has(one))) {
    mistakes.push(
      `${name} is the name of a channel in a2h.channels and of a group in people.groups; call one otherwise.`,
    );
  }
  const names = new Set([...Object.keys(written), ...groups]);
  const isPlain = typeof defaultChannel === "string" || typeof defaultChannel === "number";
  const wanted = isPlain ? { channel_id: defaultChannel } : defaultChannel;
  const usual = wanted === undefined ? undefined : one("a2h.default_channel", wanted, { ...rules, joint: false });
  if (isPlain && !/^\d+$/.test(String(defaultChannel)) && !names.has(String(defaultChannel))) {
    mistakes.push(
      `a2h.default_channel names ${String(defaultChannel)}, which is neither among a2h.channels nor among people.groups.`,
    );
  }
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return { named, usual };

  function one(where: string, given: unknown, by: ChannelRules): ReadChannel | undefined {
    const problems: Problem[] = [];
    const read = isJsonObject(given) ? readChannel(given, [where], problems, by) : undefined;
    for (const { message } of problems) mistakes.push(`${message}.`);
    if (problems.length > 0) return undefined;
    if (!read) mistakes.push(`${where} must name somebody, such as { human: { id: "12" } }.`);
    // A token belongs into the settings of Slack, where it is kept out of everybody's sight.
    if (read && read.tokens.length > 0) mistakes.push(`${where} may hold no token of its own.`);
    return read;
  }
}

/** Returns the ids of people that these channels name, each with its place in the settings. */
export function peopleIn({ named, usual }: KnownChannels): { where: string; id: string }[] {
  const trees = [
    ...[...named].map(([name, { tree }]) => ({ where: `a2h.channels.${name}`, tree })),
    ...(usual ? [{ where: "a2h.default_channel", tree: usual.tree }] : []),
  ];
  return trees.flatMap(({ where, tree }) => idsIn(tree).map((id) => ({ where, id })));
}

function idsIn(tree: ChannelTree): string[] {
  switch (tree.kind) {
    case "targets":
      return [];
    case "human":
      return [tree.id];
    case "id":
      return /^\d+$/.test(tree.id) ? [tree.id] : [];
    case "any":
      return tree.of.flatMap(({ node }) => idsIn(node));
    case "all":
    case "quorum":
      return tree.of.flatMap(idsIn);
  }
}
