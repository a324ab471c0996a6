import type { JsonObject } from "../../lib/json-body.ts";
import { mailAddress } from "../../lib/mail-address.ts";
import { phoneNumber } from "../../lib/phone-number.ts";
import {
  OUTSIDE_CHANNELS,
  type ChannelCatalogue,
  type OutsideChannel,
} from "../../requests/model/channel-catalogue.ts";
import type { Human, HumanChannel, HumanWish } from "../../access/enroll-human.ts";
import { channelProblem, folded } from "./contact-channel.ts";
import {
  complain,
  given,
  isJsonObject,
  list,
  optional,
  required,
  text,
  word,
  type Loc,
  type Problem,
  type Rule,
} from "./fields.ts";
import { wireTime } from "./print.ts";
import type { WireEnrolledHuman, WireHuman } from "../../wire/human.ts";

const BODY: Loc = ["body"];
const NAME = text({ min: 1, max: 200, pattern: /\S/, says: "name must not be empty" });

/** Reads a human as an admin writes one down (spec/a2h 15). */
export function readHumanWish(
  body: JsonObject,
  problems: Problem[],
  catalogue: ChannelCatalogue,
): HumanWish | undefined {
  const name = required(body, "name", NAME, { loc: BODY, problems });
  const rule = list(channelRule(catalogue), { min: 1, max: 10 });
  const channels = required(body, "prioritizedContactChannels", rule, { loc: BODY, problems });
  const rest = readRest(body, problems);
  if (name === undefined || !channels) return undefined;
  return {
    name: name.trim(),
    channels,
    description: rest.description ?? null,
    title: rest.title ?? null,
    seesAll: rest.inboxScope === "all",
  };
}

/** Reads what is to change of a human: whole members at the top, and nothing else. */
export function readHumanChange(
  body: JsonObject,
  problems: Problem[],
  catalogue: ChannelCatalogue,
): (human: Human) => HumanWish {
  const name = optional(body, "name", NAME, { loc: BODY, problems });
  const rule = list(channelRule(catalogue), { min: 1, max: 10 });
  const channels = optional(body, "prioritizedContactChannels", rule, { loc: BODY, problems });
  const rest = readRest(body, problems);
  return (human) => ({
    name: name?.trim() ?? human.name,
    channels: channels ?? human.channels,
    description: rest.description ?? human.description,
    title: rest.title ?? human.title,
    seesAll: rest.inboxScope === undefined ? human.seesAll : rest.inboxScope === "all",
  });
}

function readRest(body: JsonObject, problems: Problem[]) {
  return {
    description: optional(body, "description", text({ max: 2000 }), { loc: BODY, problems }),
    title: optional(body, "role", text({ max: 100 }), { loc: BODY, problems }),
    inboxScope: optional(body, "inboxScope", word(["addressed", "all"]), { loc: BODY, problems }),
  };
}

const NAMES: readonly string[] = ["inbox", ...OUTSIDE_CHANNELS];
/** What the channels of people do not take. */
const REFUSED = ["bot_token", "template", "additional_recipients"];

function channelRule(catalogue: ChannelCatalogue): Rule<HumanChannel> {
  return (value, loc, problems) => {
    if (!isJsonObject(value)) return complain(problems, loc, "type", "must be an object");
    const members = folded(value, (name) => NAMES.includes(name), loc, problems);
    const [name, ...others] = Object.keys(members);
    if (name === undefined || others.length > 0) {
      return complain(problems, loc, "pattern", `must hold exactly one of ${NAMES.join(", ")}`);
    }
    const at = [...loc, name];
    const fields = members[name];
    if (!isJsonObject(fields)) return complain(problems, at, "type", "must be an object");
    if (name === "inbox") return { channel: "inbox", target: {}, given: {} };
    const input = folded(fields, (field) => !REFUSED.includes(field), at, problems);
    const target = targetOf(catalogue, { name: name as OutsideChannel, input }, at, problems);
    return target && { channel: name as OutsideChannel, target, given: input };
  };
}

function targetOf(
  catalogue: ChannelCatalogue,
  { name, input }: { name: OutsideChannel; input: JsonObject },
  at: Loc,
  problems: Problem[],
): Record<string, unknown> | undefined {
  if (!catalogue.list().some((one) => one.name === name)) return PLAIN[name](input, at, problems);
  const parsed = catalogue.parse(name, input);
  if ("targets" in parsed) {
    const { via: _, ...target } = { via: name, ...parsed.targets[0] };
    return target;
  }
  for (const one of parsed.errors) problems.push(channelProblem(at.slice(0, -1), one.path, one.code, one.message));
  return undefined;
}

type Plain = (input: JsonObject, at: Loc, problems: Problem[]) => Record<string, unknown> | undefined;

const slackId = text({
  max: 64,
  pattern: /^[CGDUW][A-Z0-9]{2,}$/,
  says: "Use an ID such as U024BE91L, not a name.",
});

const phone: Plain = (input, at, problems) => {
  const given = required(input, "phone_number", text({ max: 40 }), { loc: at, problems });
  if (given === undefined) return undefined;
  const to = phoneNumber(given);
  if (to === undefined) {
    return complain(problems, [...at, "phone_number"], "pattern", "must be a number such as +14155550123");
  }
  return { to, settings: {} };
};

/** How people are written down on a server where their channel is not configured yet. */
const PLAIN: Readonly<Record<OutsideChannel, Plain>> = {
  slack: (input, at, problems) => {
    const to = required(input, "channel_or_user_id", slackId, { loc: at, problems });
    return to === undefined ? undefined : { to, settings: {} };
  },
  email: (input, at, problems) => {
    const address = required(input, "address", text({ max: 320 }), { loc: at, problems });
    if (address === undefined) return undefined;
    const to = mailAddress(address);
    if (to === undefined) return complain(problems, [...at, "address"], "pattern", "must be one mail address");
    return { to, informed: false, settings: { to: [to], cc: [] } };
  },
  sms: phone,
  whatsapp: phone,
  webhook: (input, at, problems) => {
    const to = required(input, "name", text({ min: 1, max: 64 }), { loc: at, problems });
    return to === undefined ? undefined : { to, people: [] };
  },
};

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
