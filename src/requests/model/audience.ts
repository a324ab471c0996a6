import { identityAt, type Identity } from "../../access/model/identity.ts";
import { kindOf } from "../../channels/kinds.ts";
import type { Audience, RequestForm, Decider, Target } from "./request.ts";

/** One place in an audience that one person can fill, and from when on. */
export interface Leaf {
  target: Target;
  afterMs: number;
  /** It is a part of what several have to agree on: only an enrolled person fills it. */
  joint: boolean;
}

/** Returns every leaf, in order. */
export function leavesOf(audience: Audience): Leaf[] {
  return leavesBelow(audience, { afterMs: 0, joint: false });
}

function leavesBelow(audience: Audience, { afterMs, joint }: Omit<Leaf, "target">): Leaf[] {
  switch (audience.kind) {
    case "leaf":
      return [{ target: audience.target, afterMs, joint }];
    case "any":
      return audience.of.flatMap(({ node, afterMs: own }) =>
        leavesBelow(node, { afterMs: Math.max(afterMs, own), joint }),
      );
    case "all":
    case "quorum":
      return audience.of.flatMap((node) => leavesBelow(node, { afterMs, joint: true }));
  }
}

/** Returns as one of which group somebody is asked, if it is as one of any. */
export function groupOf(audience: Audience, person: string): string | undefined {
  const own = leavesOf(audience).flatMap(({ target }) =>
    target.via === "person" && target.person === person ? [target.group] : [],
  );
  return own.find((group) => group !== undefined);
}

/**
 * Returns an audience without the people who have left the group as one of which they are asked. Their places stay, and
 * nobody fills them: no fewer have to agree. A group that is not known any more has nobody.
 */
export function inForce(audience: Audience, groups: ReadonlyMap<string, readonly string[]>): Audience {
  switch (audience.kind) {
    case "leaf": {
      const { target } = audience;
      if (target.via !== "person" || target.group === undefined) return audience;
      return groups.get(target.group)?.includes(target.person) ? audience : { kind: "any", of: [] };
    }
    case "any":
      return { kind: "any", of: audience.of.map(({ node, afterMs }) => ({ afterMs, node: inForce(node, groups) })) };
    case "all":
      return { kind: "all", of: audience.of.map((node) => inForce(node, groups)) };
    case "quorum":
      return { kind: "quorum", min: audience.min, of: audience.of.map((node) => inForce(node, groups)) };
  }
}

/** True where one person does not suffice. */
export function isJoint(audience: Audience): boolean {
  if (audience.kind === "leaf") return false;
  return audience.kind !== "any" || audience.of.some(({ node }) => isJoint(node));
}

/**
 * Returns an audience with more people, any of whom may answer from their time on. Where several have to agree, nobody is
 * added: one more person never stands for those who have to agree (spec/a2h 11).
 */
export function escalated(audience: Audience, rounds: readonly { afterMs: number; audience: Audience }[]): Audience {
  if (rounds.length === 0 || isJoint(audience)) return audience;
  const later = rounds.map(({ afterMs, audience: node }) => ({ afterMs, node }));
  return { kind: "any", of: [...(audience.kind === "any" ? audience.of : [{ afterMs: 0, node: audience }]), ...later] };
}

/** True where a message goes to somebody whom the audience asks; any other message only informs. */
export function asksBy(audience: Audience, { target, person }: { target: Target; person: string | null }): boolean {
  return leavesOf(audience).some(({ target: asked }) => {
    if (asked.via === "person") return asked.person === person;
    if (!("to" in asked) || !("to" in target) || asked.via !== target.via || asked.to !== target.to) return false;
    return !isInformed(asked);
  });
}

/** The reader under which everybody finds a request who sees all there is. */
export const ALL_READERS = "*";

/** The reader under which everybody enrolled with a Slack user finds what was asked in a channel. */
export const SLACK_READERS = "slack:*";

/** Returns under which names a request is found in inboxes: persons, identities, or everybody who sees all. */
export function readersOf(audience: Audience): string[] {
  return [...new Set(leavesOf(audience).flatMap(({ target }) => readersOfTarget(target)))];
}

function readersOfTarget(target: Target): string[] {
  if (target.via === "person") return [target.person];
  if (target.via === "inbox") return [ALL_READERS];
  if (target.via === "webhook") return [...target.people];
  if (isPlace(target)) return [SLACK_READERS];
  return isInformed(target) ? [] : identitiesOf(target).map(readerOf);
}

/** Returns whose address a target is; several people where it has a list, and nobody at an address that people share. */
export function identitiesOf(target: Target): Identity[] {
  if (!("settings" in target)) return [];
  const addresses = target.allowed ?? [target.to];
  return addresses.flatMap((to) => identityAt({ via: target.via, to }) ?? []);
}

/** True for an address that people share, such as a Slack channel, without a list of those who may answer there. */
export function isPlace(target: Target): boolean {
  return "settings" in target && !target.allowed && kindOf(target.via).isPlace?.(target.to) === true;
}

/** True where a target gets a copy, and is not asked. */
export function isInformed(target: Target): boolean {
  return "settings" in target && target.informed === true;
}

/** Returns the name under which requests to one identity are found. */
export function readerOf({ kind, value }: Identity): string {
  return `${kind}:${value}`;
}

/**
 * True when somebody is among those a target names (spec/a2h 9). Approving asks for more than replying:
 * in a Slack channel without a list, only enrolled full members decide a call.
 */
export function isNamed(target: Target, who: Decider, decides: RequestForm["kind"]): boolean {
  if (target.via === "person") return who.person === target.person;
  if (target.via === "inbox") return who.seesAll;
  if (target.via === "webhook")
    return who.person !== null && who.webhook === target.to && target.people.includes(who.person);
  if (isPlace(target)) return isInSlackChannel(target.to, who, decides);
  const own = who.identities.map(readerOf);
  return !isInformed(target) && identitiesOf(target).some((one) => own.includes(readerOf(one)));
}

function isInSlackChannel(channel: string, who: Decider, decides: RequestForm["kind"]): boolean {
  const { person, slackMember, identities } = who;
  // A person enrolled with a Slack user may decide elsewhere too, such as a request too long for a message.
  if (person !== null && slackMember === undefined) return identities.some(({ kind }) => kind === "slack");
  if (slackMember?.channel !== channel) return false;
  return decides !== "approval" || person !== null || slackMember.mayApprove;
}

/** True when somebody is asked, `sinceMs` after the request was made. */
export function isAsked(audience: Audience, who: Decider, decides: RequestForm["kind"], sinceMs: number): boolean {
  return leavesOf(audience).some(({ target, afterMs }) => afterMs <= sinceMs && isNamed(target, who, decides));
}

/**
 * True when somebody's approval fills a place. Where several have to agree only enrolled people count: one person may press
 * under two accounts, of which one is nobody's here (spec/a2h 12).
 */
export function isCounted(audience: Audience, who: Decider, sinceMs: number): boolean {
  return leavesOf(audience).some(({ target, afterMs, joint }) => afterMs <= sinceMs && fills({ target, joint }, who));
}

function fills({ target, joint }: Pick<Leaf, "target" | "joint">, who: Decider): boolean {
  return (!joint || who.person !== null) && isNamed(target, who, "approval");
}

/** Enough for every audience that means something; beyond it a request stays open, which harms nobody. */
const MOST_STEPS = 50_000;

/**
 * True when the approvers, each filling at most one leaf, satisfy the tree (spec/a2h 12).
 *
 * Looks for an assignment by trying: the trees have at most 25 leaves. After too many steps the result is false.
 */
export function isSatisfied(audience: Audience, approvers: readonly Decider[], sinceMs: number): boolean {
  let steps = 0;
  const free = (used: number): number[] => approvers.flatMap((_, i) => (used & (1 << i) ? [] : [i]));

  /** Calls `then` with every set of approvers that can fill the nodes, until one will do. */
  function fill(
    { nodes, joint }: { nodes: readonly Audience[]; joint: boolean },
    used: number,
    then: (used: number) => boolean,
  ): boolean {
    const [node, ...rest] = nodes;
    if (!node) return then(used);
    steps += 1;
    if (steps > MOST_STEPS) return false;
    const goOn = (after: number) => fill({ nodes: rest, joint }, after, then);
    switch (node.kind) {
      case "leaf":
        return free(used).some((i) => {
          const approver = approvers[i];
          return approver !== undefined && fills({ target: node.target, joint }, approver) && goOn(used | (1 << i));
        });
      case "any":
        return node.of.some((branch) => branch.afterMs <= sinceMs && fill({ nodes: [branch.node], joint }, used, goOn));
      case "all":
        return fill({ nodes: node.of, joint: true }, used, goOn);
      case "quorum":
        return choose(node.of, node.min, used, goOn);
    }
  }

  function choose(nodes: readonly Audience[], min: number, used: number, then: (used: number) => boolean): boolean {
    if (min === 0) return then(used);
    if (nodes.length < min) return false;
    const [node, ...rest] = nodes;
    if (!node) return false;
    return (
      fill({ nodes: [node], joint: true }, used, (after) => choose(rest, min - 1, after, then)) ||
      choose(rest, min, used, then)
    );
  }

  return approvers.length > 0 && approvers.length <= 30 && fill({ nodes: [audience], joint: false }, 0, () => true);
}
