import { z } from "zod";
import { isJsonObject } from "../../lib/json/exact-json.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { isDeepStrictEqual } from "node:util";
import type { Target } from "../../requests/model/request.ts";
import { isOutside, kindOf, membersOf, OUTSIDE_CHANNELS, type OutsideChannel } from "../../channels/kinds.ts";
import type { ChannelCatalogue } from "../../requests/model/channel-catalogue.ts";
import { WHOM } from "../../requests/model/rules.ts";
import { isListed } from "../../requests/model/recipients.ts";
import { Refusal } from "../../refusals.ts";
import { complain, dotted, read, readList, type Loc, type Place, type Problem } from "./fields.ts";
import { MOST_WHOLE, wholeNumber } from "../http/query.ts";
import { text } from "../../wire/a2h/fields.ts";
import { integer } from "../../wire/fields.ts";

/** The recipients as the request states them; people are not looked up yet. */
export type ChannelTree =
  | { kind: "targets"; targets: readonly Target[]; loc: Loc }
  | { kind: "human"; id: string; loc: Loc }
  | { kind: "id"; id: string; loc: Loc }
  | { kind: "any"; of: readonly { afterSeconds: number; node: ChannelTree }[] }
  | { kind: "all"; of: readonly ChannelTree[] }
  | { kind: "quorum"; min: number; of: readonly ChannelTree[] };

/** A contact channel that was read. */
export interface ReadChannel {
  /** As it is printed: in snake_case, aliases folded, without secrets. */
  echo: JsonObject;
  /** Tokens that came with it, in their order; each stands in its target's settings by its place. */
  tokens: readonly string[];
  tree: ChannelTree;
}

export interface ChannelRules {
  catalogue: ChannelCatalogue;
  /** Patterns of the addresses that agents may ask, `*` for any text; null allows every address. */
  recipients: readonly string[] | null;
  /** The asker has no key, and reaches people in the inbox alone. */
  isOpen: boolean;
  /** All, any and k of n may be asked for. */
  joint: boolean;
  /** Lists of channels may be asked for. */
  composite: boolean;
}

const MOST_LEAVES = 25;
const MOST_DEPTH = 5;

const channelId = text({ max: 64, pattern: WHOM });
const humanId = text({ max: 64 });
const branchTimeout = integer(0, 2_592_000);
const branches = z.array(z.unknown()).min(1).max(MOST_LEAVES);

/** Second names of fields; the plain one wins. */
const ALIASES = Object.assign({}, ...OUTSIDE_CHANNELS.map((name) => kindOf(name).aliases)) as Record<string, string>;

const NAMES = new Set(["human", "channel_id", "inbox", ...OUTSIDE_CHANNELS]);
const COMPOSITES = ["all_of", "any_of", "quorum"] as const;
const RECIPIENT = ["address", "context_about_user", "field"];

/** Returns the members of an object in snake_case, without nulls. Two different values for one name are a problem. */
export function folded(given: JsonObject, known: (name: string) => boolean, loc: Loc, problems: Problem[]): JsonObject {
  const found = new Map<string, unknown>();
  for (const [written, value] of Object.entries(given)) {
    if (value === null) continue;
    const name = written.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (!known(name)) {
      complain(problems, [...loc, written], "unknown_field", "is not a field of this channel");
    } else if (found.has(name) && !isDeepStrictEqual(found.get(name), value)) {
      complain(problems, [...loc, written], "pattern", "is given twice, and differs");
    } else {
      found.set(name, value);
    }
  }
  for (const [alias, name] of Object.entries(ALIASES)) {
    if (!found.has(alias)) continue;
    if (!found.has(name)) found.set(name, found.get(alias));
    found.delete(alias);
  }
  return Object.fromEntries(found);
}

/** The rules for reading one channel, and the results so far. */
interface Reading {
  rules: ChannelRules;
  problems: Problem[];
  tokens: string[];
  leaves: number;
}

/** A part of a channel that was read. */
interface ReadPart {
  echo: JsonObject;
  tree: ChannelTree;
}

type Composite = (typeof COMPOSITES)[number];

/** Reads a contact channel; nothing where no member is given. */
export function readChannel(
  value: unknown,
  loc: Loc,
  problems: Problem[],
  rules: ChannelRules,
): ReadChannel | undefined {
  const reading: Reading = { rules, problems, tokens: [], leaves: 0 };
  const found = readPart(reading, value, loc, 1);
  if (reading.leaves > MOST_LEAVES) complain(problems, loc, "too_long", `may name at most ${MOST_LEAVES} addressees`);
  return found && { ...found, tokens: reading.tokens };
}

function readPart(reading: Reading, given: unknown, at: Loc, depth: number): ReadPart | undefined {
  const { problems, rules } = reading;
  if (!isJsonObject(given)) return complain(problems, at, "type", "must be an object");
  if (depth > MOST_DEPTH) return complain(problems, at, "too_long", `may be nested ${MOST_DEPTH} deep`);
  const members = folded(given, (name) => NAMES.has(name) || COMPOSITES.some((one) => one === name), at, problems);
  const [only, ...others] = Object.keys(members);
  if (only === undefined) return undefined;
  const composite = COMPOSITES.find((one) => Object.hasOwn(members, one));
  if (composite === undefined) return readMembers(reading, members, at);
  if (others.length > 0) return complain(problems, at, "pattern", `may hold nothing beside ${composite}`);
  if (!rules.composite) return complain(problems, [...at, composite], "pattern", "may not be asked for here");
  if (composite !== "any_of" && !rules.joint) {
    return complain(problems, [...at, composite], "pattern", "may be asked for function calls only");
  }
  const branch = branchRule(reading, composite, depth + 1);
  return composite === "quorum"
    ? readQuorum(reading, members[composite], [...at, composite], branch)
    : readBranches(reading, { name: composite, given: members[composite], at: [...at, composite] }, branch);
}

/** A branch of a composite; its own place in time where it is one of several that are asked one after another. */
type Branch = (one: unknown, place: Place) => { echo: unknown; tree: ChannelTree; afterSeconds: number } | undefined;

function branchRule(reading: Reading, name: Composite, depth: number): Branch {
  const { problems } = reading;
  return (one, { loc: here }) => {
    const timed = name === "any_of" ? timedBranch(one, here, problems) : undefined;
    const inner = readPart(reading, timed?.channel ?? one, timed ? [...here, "channel"] : here, depth);
    if (!inner) return isJsonObject(one) ? complain(problems, here, "required", "must name somebody") : undefined;
    const afterSeconds = timed?.timeout ?? 0;
    return { ...inner, afterSeconds, echo: timed ? { timeout: timed.timeout, channel: inner.echo } : inner.echo };
  };
}

function timedBranch(one: unknown, at: Loc, problems: Problem[]): { timeout: number; channel: unknown } | undefined {
  if (!isJsonObject(one) || !Object.hasOwn(one, "timeout")) return undefined;
  const members = folded(one, (name) => name === "timeout" || name === "channel", at, problems);
  const timeout = read(branchTimeout, members["timeout"], { loc: [...at, "timeout"], problems });
  return { timeout: timeout ?? 0, channel: members["channel"] ?? {} };
}

function readBranches(
  { problems }: Reading,
  { name, given, at }: { name: "all_of" | "any_of"; given: unknown; at: Loc },
  branch: Branch,
): ReadPart | undefined {
  const of = readList(branches, given, { loc: at, problems }, branch);
  if (!of) return undefined;
  const echo = { [name]: of.map((one) => one.echo) };
  if (name === "all_of") return { echo, tree: { kind: "all", of: of.map((one) => one.tree) } };
  return { echo, tree: { kind: "any", of: of.map(({ tree: node, afterSeconds }) => ({ afterSeconds, node })) } };
}

function readQuorum({ problems }: Reading, given: unknown, at: Loc, branch: Branch): ReadPart | undefined {
  if (!isJsonObject(given)) return complain(problems, at, "type", "must be an object");
  const members = folded(given, (field) => field === "min" || field === "of", at, problems);
  const of = readList(branches, members["of"], { loc: [...at, "of"], problems }, branch);
  const min = read(integer(1, of?.length ?? MOST_LEAVES), members["min"], { loc: [...at, "min"], problems });
  if (!of || min === undefined) return undefined;
  const tree: ChannelTree = { kind: "quorum", min, of: of.map((one) => one.tree) };
  return { echo: { quorum: { min, of: of.map((one) => one.echo) } }, tree };
}

/** Several members beside one another are asked at once, and any of them answers. */
function readMembers(reading: Reading, members: JsonObject, at: Loc): ReadPart | undefined {
  const echo: Record<string, unknown> = {};
  const nodes: ChannelTree[] = [];
  for (const [name, given] of Object.entries(members)) {
    reading.leaves += 1;
    const found = readMember(reading, name, given, [...at, name]);
    if (!found) continue;
    echo[name] = found.echo;
    nodes.push(found.tree);
  }
  const [first, ...more] = nodes;
  if (!first) return undefined;
  if (more.length === 0) return { echo, tree: first };
  return { echo, tree: { kind: "any", of: nodes.map((node) => ({ afterSeconds: 0, node })) } };
}

function readMember(
  reading: Reading,
  name: string,
  given: unknown,
  at: Loc,
): { echo: unknown; tree: ChannelTree } | undefined {
  const { problems } = reading;
  if (name === "channel_id") {
    const id = typeof given === "number" && Number.isSafeInteger(given) && given >= 0 ? String(given) : given;
    const found = read(channelId, id, { loc: at, problems });
    return found === undefined ? undefined : { echo: given, tree: { kind: "id", id: found, loc: at } };
  }
  if (!isJsonObject(given)) return complain(problems, at, "type", "must be an object");
  if (name === "inbox") {
    folded(given, () => false, at, problems);
    return { echo: {}, tree: { kind: "targets", targets: [{ via: "inbox" }], loc: at } };
  }
  if (name === "human") {
    const fields = folded(given, (field) => field === "id", at, problems);
    if (fields["id"] === undefined) return complain(problems, [...at, "id"], "required", "is required");
    const id = Number.isSafeInteger(fields["id"]) ? String(fields["id"]) : fields["id"];
    const found = read(humanId, id, { loc: [...at, "id"], problems });
    return found === undefined ? undefined : { echo: fields, tree: { kind: "human", id: found, loc: at } };
  }
  return readOutside(reading, name as OutsideChannel, given, at);
}

/** Reads a member that leads outside, as its channel says; a token is taken out of it. */
function readOutside(
  { rules, problems, tokens }: Reading,
  name: OutsideChannel,
  given: JsonObject,
  at: Loc,
): ReadPart | undefined {
  if (rules.isOpen) throw new Refusal("scope_missing", { scope: "agent" });
  const input = foldedMember(name, given, at, problems);
  const configured = rules.catalogue.list();
  if (!configured.some((one) => one.name === name)) {
    const available = ["inbox", "human", ...configured.map((one) => one.name)];
    const message = `${dotted(at)} is not configured on this server`;
    problems.push({ loc: at, code: "channel_unavailable", message, facts: { channel: name, available } });
    return undefined;
  }
  const parsed = rules.catalogue.parse(name, input);
  if ("errors" in parsed) {
    const above = at.slice(0, -1);
    for (const { path, code, message } of parsed.errors) problems.push(channelProblem(above, path, code, message));
    return undefined;
  }
  const targets = parsed.targets.map((one) => ({ ...one, via: name }) as Target);
  for (const [i, target] of targets.entries()) {
    if (isWritable(target, rules.recipients)) continue;
    const message = "This server does not write to that recipient.";
    problems.push({ loc: [...at, recipientField(target, i)], code: "recipient_not_allowed", message, bare: message });
  }
  const { bot_token: token, ...echo } = input;
  if (typeof token !== "string") return { echo, tree: { kind: "targets", targets, loc: at } };
  const place = tokens.push(token) - 1;
  return { echo, tree: { kind: "targets", targets: targets.map((one) => withToken(one, place)), loc: at } };
}

/** Returns a member that leads outside with its fields, and those of further recipients, in snake_case. */
function foldedMember(name: OutsideChannel, given: JsonObject, at: Loc, problems: Problem[]): JsonObject {
  const known = [...membersOf(name), ...Object.keys(kindOf(name).aliases ?? {})];
  const input = folded(given, (field) => known.includes(field), at, problems);
  const more = input["additional_recipients"];
  if (!Array.isArray(more)) return input;
  const isOfRecipient = (field: string) => RECIPIENT.includes(field);
  const recipients = more.map((one: unknown, i) =>
    isJsonObject(one) ? folded(one, isOfRecipient, [...at, "additional_recipients", i], problems) : one,
  );
  return { ...input, additional_recipients: recipients };
}

/** Returns the field in which a target stands that is the `i`th of its member. */
export function recipientField({ via }: Target, i: number): string {
  return i === 0 && isOutside(via) ? (membersOf(via)[0] ?? "") : "additional_recipients";
}

/** True where several have to agree. */
export function isJoint(tree: ChannelTree): boolean {
  if (tree.kind === "all" || tree.kind === "quorum") return true;
  return tree.kind === "any" && tree.of.some(({ node }) => isJoint(node));
}

/** True where this server may write to a target; its own people and webhooks are the admin's already. */
function isWritable(target: Target, patterns: readonly string[] | null): boolean {
  return patterns === null || target.via === "webhook" || !("to" in target) || isListed(patterns, target.to);
}

/** The place of a token stands in its target until the token is stored under a name. */
function withToken(target: Target, place: number): Target {
  return "settings" in target ? { ...target, settings: { ...target.settings, botToken: place } } : target;
}

/** Returns what a channel found wrong, in the words of a request. */
export function channelProblem(above: Loc, path: string, code: string, message: string): Problem {
  const steps = path.split("/").filter((step) => step !== "");
  const loc = [...above, ...steps.map((step) => wholeNumber(step, { min: 0, max: MOST_WHOLE }) ?? step)];
  const isPhrase = /^[a-z]/.test(message) && !message.startsWith(String(loc.at(-1)));
  return { loc, code, message: isPhrase ? `${dotted(loc)} ${message}` : message, bare: message };
}
