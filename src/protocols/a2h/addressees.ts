import type { Context } from "../../context.ts";
import type { RequestForm, Audience, Target } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { isEnrolled, readHuman } from "../../access/enroll-human.ts";
import { findGroup } from "../../access/resolve-recipient.ts";
import { audienceOfRecipient, personLeaf } from "../../requests/create/audience-of-recipient.ts";
import { identitiesOf, isInformed } from "../../requests/model/audience.ts";
import { mayBeAsked } from "../../requests/create/known-recipients.ts";
import { keepSecret } from "../../core/keep-secret.ts";
import { isOwnThread } from "../../conversations/own-thread.ts";
import { findConversationOf, isOpenerEnrolled, type Conversation } from "../../conversations/read.ts";
import type { UsualAudience } from "../http/door.ts";
import { isJoint, recipientField, type ChannelTree, type ReadChannel } from "./contact-channel.ts";
import { complain, dotted, refuse, type Loc, type Problem } from "./fields.ts";
import { idNumber } from "../http/query.ts";

/** Everybody who sees all requests in the inbox. */
const EVERYBODY: Audience = { kind: "leaf", target: { via: "inbox" } };

/** The channels that the operator wrote down. */
export interface KnownChannels {
  named: ReadonlyMap<string, ReadChannel>;
  /** The default channel for requests that name no recipient, where their key has no channel either. */
  usual: ReadChannel | undefined;
}

/** The asker, with the properties that the choice of recipients depends on. */
export interface Asker {
  principal: string;
  /** The key's channel for requests that name no recipient. */
  channel: string | null;
  /** The one conversation its key is good for. */
  conversation: number | null;
  known: KnownChannels;
}

/** The audience of a request, and the conversation it is part of. */
export interface Route {
  audience: Audience;
  conversation?: number;
  /** It stays where the person began it. */
  inboxOnly?: boolean;
}

type Decides = RequestForm["kind"];

/**
 * Returns whom a request asks: those it names, else those of its key, else the usual ones, else everybody who sees all
 * there is (spec/a2h 8).
 *
 * @throws {Refusal} `human_unknown`, `channel_not_found`, `invalid_input`; `scope_missing` where a key of one
 *   conversation would ask somewhere else
 */
export async function routeOf(
  ctx: Context,
  asker: Asker,
  channel: ReadChannel | undefined,
  decides: Decides,
): Promise<Route> {
  if (channel) keepToConversation(asker, channel);
  const id = channel ? idOf(channel) : asker.conversation === null ? null : String(asker.conversation);
  const conversation = id === null ? undefined : await conversationOf(ctx, asker, id);
  if (conversation) {
    const { number, channel: place, target } = conversation;
    const audience = await placeIn(ctx, asker, conversation, decides);
    const isThere = audience.kind === "leaf" && audience.target === target;
    return { audience, conversation: number, inboxOnly: isThere && place === "inbox" };
  }
  if (channel) return { audience: await audienceOf(ctx, asker, channel, decides) };
  return { audience: await usualAudience(ctx, asker, decides) };
}

/** Returns the same rule for doors whose requests name no channel: a request that names nobody asks the same everywhere. */
export function usualAudienceOf(ctx: Context, known: KnownChannels): UsualAudience {
  return (asker, decides) => usualAudience(ctx, { ...asker, conversation: null, known }, decides);
}

/** @throws {Refusal} `scope_missing` where a key of one conversation names anything else */
function keepToConversation({ conversation }: Asker, channel: Pick<ReadChannel, "tree">): void {
  if (conversation === null || idOf(channel) === String(conversation)) return;
  throw new Refusal("scope_missing", { scope: "agent" });
}

function idOf({ tree }: Pick<ReadChannel, "tree">): string | null {
  return tree.kind === "id" ? tree.id : null;
}

async function conversationOf(ctx: Context, { principal }: Asker, id: string): Promise<Conversation | undefined> {
  const number = idNumber(id);
  return number === null ? undefined : findConversationOf(ctx, { agent: principal }, number);
}

/**
 * Returns the person who began the conversation. A call, or a conversation in the inbox, goes to that person only if
 * they are enrolled (spec/a2h 9).
 */
async function placeIn(ctx: Context, asker: Asker, conversation: Conversation, decides: Decides): Promise<Audience> {
  const needsHuman = decides === "approval" || conversation.channel === "inbox";
  if (needsHuman && !(await isOpenerEnrolled(ctx, conversation))) {
    return usualAudience(ctx, { ...asker, channel: null }, decides);
  }
  return { kind: "leaf", target: conversation.target };
}

/** Returns the configured audience. If it reaches nobody any more, everybody who sees all requests is asked. */
async function usualAudience(ctx: Context, asker: Asker, decides: Decides): Promise<Audience> {
  const ofKey: ChannelTree | undefined =
    asker.channel === null ? undefined : { kind: "id", id: asker.channel, loc: ["body", "spec", "channel"] };
  for (const tree of [ofKey, asker.known.usual?.tree]) {
    if (!tree) continue;
    try {
      keepToConversation(asker, { tree });
      return await resolve(ctx, { asker, decides, writtenBy: "operator" }, tree, false);
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== "invalid") throw error;
      ctx.log.warn({ code: error.code }, "the usual channel of a request reaches nobody");
    }
  }
  return EVERYBODY;
}

/**
 * Returns whom a channel asks, with the people it names looked up and the tokens that came with it stored.
 *
 * Where several have to agree, only enrolled humans count, so whoever is named there has to be one (spec/a2h 12).
 *
 * @throws {Refusal} `human_unknown`, `channel_not_found`, `invalid_input`; `scope_missing` where a key of one
 *   conversation would ask somewhere else
 */
export async function audienceOf(
  ctx: Context,
  asker: Asker,
  { tree, tokens, isEscalation = false }: Omit<ReadChannel, "echo"> & { isEscalation?: boolean },
  decides: Decides,
): Promise<Audience> {
  keepToConversation(asker, { tree });
  const writtenBy = isEscalation ? "escalation" : "asker";
  const audience = await resolve(ctx, { asker, decides, writtenBy }, tree, false);
  if (tokens.length === 0) return audience;
  const names = await Promise.all(tokens.map((token) => keepSecret(ctx, "bot_token", token)));
  return withTokenNames(audience, names);
}

interface For {
  asker: Asker;
  decides: Decides;
  /** The writer of the channel: the operator in the settings, the asker in its request, or the asker to escalate it. */
  writtenBy: "operator" | "asker" | "escalation";
}

async function resolve(ctx: Context, of: For, tree: ChannelTree, joint: boolean): Promise<Audience> {
  switch (tree.kind) {
    case "targets": {
      if (joint) await refuseStrangers(ctx, tree.targets, tree.loc);
      if (of.writtenBy !== "operator") await refuseForeignThreads(ctx, of.asker, tree);
      if (of.writtenBy === "asker") await refuseUnknown(ctx, tree.targets, tree.loc);
      return anyOf(tree.targets);
    }
    case "human":
      return humanLeaf(ctx, tree.id, () => new Refusal("human_unknown", { id: tree.id, loc: tree.loc }));
    case "id":
      return resolveId(ctx, of, tree, joint);
    case "any": {
      const nodes = await Promise.all(tree.of.map(({ node }) => resolve(ctx, of, node, joint)));
      return { kind: "any", of: nodes.map((node, i) => ({ afterMs: (tree.of[i]?.afterSeconds ?? 0) * 1000, node })) };
    }
    case "all":
      return { kind: "all", of: await Promise.all(tree.of.map((node) => resolve(ctx, of, node, true))) };
    case "quorum":
      return {
        kind: "quorum",
        min: tree.min,
        of: await Promise.all(tree.of.map((node) => resolve(ctx, of, node, true))),
      };
  }
}

/** Returns whom an id asks: a channel or a group that the operator wrote down, a human, or whoever began a conversation. */
async function resolveId(
  ctx: Context,
  of: For,
  { id, loc }: Extract<ChannelTree, { kind: "id" }>,
  joint: boolean,
): Promise<Audience> {
  const named = of.asker.known.named.get(id);
  if (named) {
    if (of.decides !== "approval" && isJoint(named.tree)) {
      const problems: Problem[] = [];
      complain(problems, loc, "pattern", "names several who have to agree, which is for function calls only");
      throw refuse(problems);
    }
    return resolve(ctx, { ...of, writtenBy: "operator" }, named.tree, joint);
  }
  const group = await findGroup(ctx, id);
  if (group && group.length > 0) return audienceOfRecipient({ kind: "group", group: id, humans: group });
  const conversation = await conversationOf(ctx, of.asker, id);
  if (!conversation) return humanLeaf(ctx, id, () => new Refusal("channel_not_found", { id, loc }));
  const audience = await placeIn(ctx, of.asker, conversation, of.decides);
  if (joint && conversation.person === null) await refuseStrangers(ctx, [conversation.target], loc);
  return audience;
}

function anyOf(targets: readonly Target[]): Audience {
  const [first, ...more] = targets;
  if (!first) throw new Error("a channel without an addressee");
  if (more.length === 0) return { kind: "leaf", target: first };
  return { kind: "any", of: targets.map((target) => ({ afterMs: 0, node: { kind: "leaf", target } })) };
}

async function humanLeaf(ctx: Context, id: string, unknown: () => Refusal): Promise<Audience> {
  const number = idNumber(id);
  const human = number === null ? null : await readHuman(ctx, number).catch(notFound);
  if (!human) throw unknown();
  return personLeaf(human);
}

function notFound(error: unknown): null {
  if (error instanceof Refusal && error.code === "human_not_found") return null;
  throw error;
}

async function refuseStrangers(ctx: Context, targets: readonly Target[], loc: Loc): Promise<void> {
  const problems: Problem[] = [];
  for (const identity of targets.filter((one) => !isInformed(one)).flatMap(identitiesOf)) {
    if (!(await isEnrolled(ctx, identity))) {
      complain(problems, loc, "unknown_human", "must name enrolled humans where several have to agree");
    }
  }
  if (problems.length > 0) throw refuse(problems.slice(0, 1));
}

/** An agent speaks in threads of its own: people would take what it says in another's for that agent's (spec/a2h 5.3). */
async function refuseForeignThreads(
  ctx: Context,
  { principal }: Asker,
  { targets, loc }: Extract<ChannelTree, { kind: "targets" }>,
): Promise<void> {
  for (const target of targets) {
    const ts = target.via === "slack" ? target.settings["threadTs"] : undefined;
    if (target.via !== "slack" || typeof ts !== "string") continue;
    if (await isOwnThread(ctx, principal, { to: target.to, ts })) continue;
    const at = [...loc, "thread_ts"];
    const says = `${dotted(at)} is no thread that a request of yours began.`;
    throw new Refusal("channel_not_found", { id: ts, loc: at }, says);
  }
}

/** @throws {Refusal} `recipient_refused` for an address at which agents may ask nobody here */
async function refuseUnknown(ctx: Context, targets: readonly Target[], loc: Loc): Promise<void> {
  for (const [i, target] of targets.entries()) {
    if (await mayBeAsked(ctx, target)) continue;
    const problems: Problem[] = [];
    complain(
      problems,
      [...loc, recipientField(target, i)],
      "recipient_not_allowed",
      "names nobody who is enrolled here",
    );
    throw refuse(problems);
  }
}

function withTokenNames(audience: Audience, names: readonly string[]): Audience {
  switch (audience.kind) {
    case "leaf":
      return { kind: "leaf", target: named(audience.target, names) };
    case "any":
      return { kind: "any", of: audience.of.map((one) => ({ ...one, node: withTokenNames(one.node, names) })) };
    case "all":
      return { kind: "all", of: audience.of.map((node) => withTokenNames(node, names)) };
    case "quorum":
      return { ...audience, of: audience.of.map((node) => withTokenNames(node, names)) };
  }
}

function named(target: Target, names: readonly string[]): Target {
  if (!("settings" in target)) return target;
  const place = target.settings["botToken"];
  return typeof place === "number" ? { ...target, settings: { ...target.settings, botToken: names[place] } } : target;
}
