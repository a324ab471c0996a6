import type { Context } from "../../context.ts";
import type { Audience, Identity, Target } from "../../model/addressed-ask.ts";
import { isSlackUser } from "../../model/audience.ts";
import { Refusal } from "../../refusals.ts";
import { isEnrolled, readHuman } from "../../verbs/enroll-human.ts";
import { keepSecret } from "../../verbs/keep-secret.ts";
import type { ChannelTree, ReadChannel } from "./contact-channel.ts";
import { complain, refuse, type Loc, type Problem } from "./fields.ts";

/** Whoever sees all there is in the inbox (contract-a2h.md, section 8). */
export const DEFAULT_AUDIENCE: Audience = { is: "leaf", target: { via: "inbox" } };

/**
 * Returns whom a channel asks, with the people it names looked up and the tokens that came with it stored.
 *
 * Where several have to agree, only enrolled humans count, so whoever is named there has to be one (section 12).
 *
 * @throws {Refusal} `human_unknown`, `channel_not_found`, `invalid_input`
 */
export async function audienceOf(ctx: Context, { tree, tokens }: Omit<ReadChannel, "echo">): Promise<Audience> {
  const audience = await resolve(ctx, tree, false);
  if (tokens.length === 0) return audience;
  const names = await Promise.all(tokens.map((token) => keepSecret(ctx, "bot_token", token)));
  return withTokenNames(audience, names);
}

async function resolve(ctx: Context, tree: ChannelTree, joint: boolean): Promise<Audience> {
  switch (tree.is) {
    case "targets": {
      if (joint) await refuseStrangers(ctx, tree.targets, tree.loc);
      return anyOf(tree.targets);
    }
    case "human":
      return personLeaf(ctx, tree.id, () => new Refusal("human_unknown", { id: tree.id, loc: tree.loc }));
    case "id":
      return personLeaf(ctx, tree.id, () => new Refusal("channel_not_found", { id: tree.id, loc: tree.loc }));
    case "any": {
      const nodes = await Promise.all(tree.of.map(({ node }) => resolve(ctx, node, joint)));
      return { is: "any", of: nodes.map((node, i) => ({ afterMs: (tree.of[i]?.afterSeconds ?? 0) * 1000, node })) };
    }
    case "all":
      return { is: "all", of: await Promise.all(tree.of.map((node) => resolve(ctx, node, true))) };
    case "quorum":
      return { is: "quorum", min: tree.min, of: await Promise.all(tree.of.map((node) => resolve(ctx, node, true))) };
  }
}

function anyOf(targets: readonly Target[]): Audience {
  const [first, ...more] = targets;
  if (!first) throw new Error("a channel without an addressee");
  if (more.length === 0) return { is: "leaf", target: first };
  return { is: "any", of: targets.map((target) => ({ afterMs: 0, node: { is: "leaf", target } })) };
}

async function personLeaf(ctx: Context, id: string, unknown: () => Refusal): Promise<Audience> {
  const human = /^[1-9]\d{0,14}$/.test(id) ? await readHuman(ctx, Number(id)).catch(notFound) : null;
  if (!human) throw unknown();
  return { is: "leaf", target: { via: "person", person: human.person } };
}

function notFound(error: unknown): null {
  if (error instanceof Refusal && error.code === "human_not_found") return null;
  throw error;
}

async function refuseStrangers(ctx: Context, targets: readonly Target[], loc: Loc): Promise<void> {
  const problems: Problem[] = [];
  for (const identity of targets.flatMap(identitiesOf)) {
    if (!(await isEnrolled(ctx, identity))) {
      complain(problems, loc, "unknown_human", "must name enrolled humans where several have to agree");
    }
  }
  if (problems.length > 0) throw refuse(problems.slice(0, 1));
}

function identitiesOf(target: Target): Identity[] {
  switch (target.via) {
    case "slack": {
      const ids = target.allowed ?? (isSlackUser(target.to) ? [target.to] : []);
      return ids.map((value) => ({ kind: "slack", value }));
    }
    case "email":
      return target.informed ? [] : [{ kind: "email", value: target.to }];
    case "sms":
    case "whatsapp":
      return [{ kind: "phone", value: target.to }];
    case "person":
    case "inbox":
    case "webhook":
      return [];
  }
}

function withTokenNames(audience: Audience, names: readonly string[]): Audience {
  switch (audience.is) {
    case "leaf":
      return { is: "leaf", target: named(audience.target, names) };
    case "any":
      return { is: "any", of: audience.of.map((one) => ({ ...one, node: withTokenNames(one.node, names) })) };
    case "all":
      return { is: "all", of: audience.of.map((node) => withTokenNames(node, names)) };
    case "quorum":
      return { ...audience, of: audience.of.map((node) => withTokenNames(node, names)) };
  }
}

function named(target: Target, names: readonly string[]): Target {
  if (!("settings" in target)) return target;
  const place = target.settings["botToken"];
  return typeof place === "number" ? { ...target, settings: { ...target.settings, botToken: names[place] } } : target;
}
