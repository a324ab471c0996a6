import { z } from "zod";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { kindOf, membersOf, OUTSIDE_CHANNELS, type OutsideChannel } from "../../channels/kinds.ts";
import type { ChannelCatalogue } from "../../requests/model/channel-catalogue.ts";
import type { Human, HumanChannel, HumanInput } from "../../access/enroll-human.ts";
import { channelProblem, folded } from "./contact-channel.ts";
import { BODY, complain, given, read, readList, readMembers, within, type Place, type Problem } from "./fields.ts";
import { wireTime } from "./print.ts";
import { text } from "../../wire/a2h/fields.ts";
import { members } from "../../wire/fields.ts";
import { HumanChangeBody, NewHumanBody, type WireEnrolledHuman, type WireHuman } from "../../wire/a2h/human.ts";

/** Reads a human as an admin writes one down (spec/a2h 15). */
export function readNewHuman(
  body: JsonObject,
  problems: Problem[],
  catalogue: ChannelCatalogue,
): HumanInput | undefined {
  const found = readMembers(NewHumanBody, body, { loc: BODY, problems }, channelsRule(catalogue));
  const { name, prioritizedContactChannels: channels, description = null, role: title = null, inboxScope } = found;
  if (name === undefined || !channels) return undefined;
  return { name: name.trim(), channels, description, title, seesAll: inboxScope === "all" };
}

/** Reads what is to change of a human: whole members at the top, and nothing else. */
export function readHumanChange(
  body: JsonObject,
  problems: Problem[],
  catalogue: ChannelCatalogue,
): (human: Human) => HumanInput {
  const found = readMembers(HumanChangeBody, body, { loc: BODY, problems }, channelsRule(catalogue));
  return (human) => ({
    name: found.name?.trim() ?? human.name,
    channels: found.prioritizedContactChannels ?? human.channels,
    description: found.description ?? human.description,
    title: found.role ?? human.title,
    seesAll: found.inboxScope === undefined ? human.seesAll : found.inboxScope === "all",
  });
}

function channelsRule(catalogue: ChannelCatalogue) {
  return {
    prioritizedContactChannels: (value: unknown, place: Place) =>
      readList(NewHumanBody.shape.prioritizedContactChannels, value, place, channelRule(catalogue)),
  };
}

const NAMES: readonly string[] = ["inbox", ...OUTSIDE_CHANNELS];
/** The members that a person's channel cannot have. */
const REFUSED = ["bot_token", "template", "additional_recipients"];

function channelRule(catalogue: ChannelCatalogue) {
  return (value: unknown, place: Place): HumanChannel | undefined => {
    const { loc, problems } = place;
    const given = read(members, value, place);
    if (!given) return undefined;
    const found = folded(given, (name) => NAMES.includes(name), loc, problems);
    const [name, ...others] = Object.keys(found);
    if (name === undefined || others.length > 0) {
      return complain(problems, loc, "pattern", `must hold exactly one of ${NAMES.join(", ")}`);
    }
    const at = within(place, name);
    const fields = read(members, found[name], at);
    if (!fields) return undefined;
    if (name === "inbox") return { channel: "inbox", target: {}, given: {} };
    const input = folded(fields, (field) => !REFUSED.includes(field), at.loc, problems);
    const target = targetOf(catalogue, { name: name as OutsideChannel, input }, at);
    return target && { channel: name as OutsideChannel, target, given: input };
  };
}

function targetOf(
  catalogue: ChannelCatalogue,
  { name, input }: { name: OutsideChannel; input: JsonObject },
  at: Place,
): Record<string, unknown> | undefined {
  const { loc, problems } = at;
  if (!catalogue.list().some((one) => one.name === name)) return readAddress(name, input, at);
  const parsed = catalogue.parse(name, input);
  if ("targets" in parsed) {
    const { via: _, ...target } = { via: name, ...parsed.targets[0] };
    return target;
  }
  for (const one of parsed.errors) problems.push(channelProblem(loc.slice(0, -1), one.path, one.code, one.message));
  return undefined;
}

const noSettings = () => ({ settings: {} });

/** Reads how a person is written down on a server where their channel is not configured yet. */
function readAddress(name: OutsideChannel, input: JsonObject, at: Place): Record<string, unknown> | undefined {
  const { min, max, read: readText, says, rest = noSettings } = kindOf(name).address;
  const [field = ""] = membersOf(name);
  const given = readMembers(z.object({ [field]: text({ min, max }) }), input, at)[field];
  if (given === undefined) return undefined;
  const to = readText(given);
  if (to !== undefined) return { to, ...rest(to) };
  at.problems.push(channelProblem(at.loc.slice(0, -1), `/${name}/${field}`, "pattern", says));
  return undefined;
}

/** Returns a human as agents see one: never how to reach them. */
export function agentView({ number, name, description }: Human): WireHuman {
  return { id: String(number), name, description: description ?? "" };
}

/** Returns a human as admins see one. */
export function adminView(human: Human): WireEnrolledHuman {
  return {
    id: String(human.number),
    name: human.name,
    description: human.description ?? "",
    ...given({ role: human.title ?? undefined }),
    inboxScope: human.seesAll ? "all" : "addressed",
    prioritizedContactChannels: human.channels.map((one) => ({ [one.channel]: camel(one.given ?? {}) })),
    createdAt: wireTime(human.createdAt),
    updatedAt: wireTime(human.updatedAt),
  };
}

/** Returns an object with its names in camelCase. */
function camel(input: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
