import { z } from "zod";
import type { JsonObject } from "../../lib/json/json-body.ts";
import type { ForeignSchemas } from "../../lib/json/foreign-schema.ts";
import { approvingMember } from "../../requests/model/reply-grammar.ts";
import type { ForeignSchema, ResponseOption } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { isJoint, readChannel, type ChannelRules, type ReadChannel } from "./contact-channel.ts";
import {
  BODY,
  complain,
  given,
  member,
  read,
  readList,
  readMembers,
  within,
  type Place,
  type Problem,
} from "./fields.ts";
import { members } from "../../wire/fields.ts";
import { NewMessageBody } from "../../wire/message.ts";
import {
  NewEscalationBody,
  NewFunctionCallBody,
  NewHumanContactBody,
  newOptionsField,
  newStepsField,
  requestIdField,
  type NewAgentPrompt,
  type NewResponseOptionBody,
} from "../../wire/a2h/new-request.ts";

/** One more round of people, if nobody answered by then. */
export interface EscalationStep {
  afterSeconds: number;
  channel: ReadChannel;
  words: string;
}

/** The members that calls, contacts and messages share. */
export interface ReadSpec {
  /** As it is printed; `kwargs` and `state` as they came. */
  echo: JsonObject;
  channel: ReadChannel | undefined;
  timeoutSeconds: number | undefined;
  keep: boolean;
  answersInquiries: boolean;
  escalation: readonly EscalationStep[];
}

export type ReadCall = ReadSpec & {
  runId: string;
  callId: string;
  agentPrompt: NewAgentPrompt | undefined;
  /** The reports that the agent promises of the call, once it is approved. */
  reports: "start" | "end" | undefined;
  fn: string;
  kwargs: JsonObject;
  /** The agent's own words, which are no part of what is approved. */
  msg: string | undefined;
  rejectOptions: readonly ResponseOption[];
  editable: boolean;
  kwargsSchema: ForeignSchema | undefined;
};

export type ReadContact = ReadSpec & {
  runId: string;
  callId: string;
  agentPrompt: NewAgentPrompt | undefined;
  msg: string;
  subject: string | undefined;
  options: readonly ResponseOption[];
};

/** Reads a function call (spec/a2h 5.1). */
export function readCall(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadCall | undefined {
  const place = { loc: BODY, problems };
  const found = readMembers(NewFunctionCallBody, body, place, { spec: callSpecRule(rules) });
  const { run_id: runId, call_id: callId, agent_prompt: agentPrompt, reports, spec } = found;
  if (runId === undefined || callId === undefined || spec?.fn === undefined || !spec.kwargs) return undefined;
  const { fn, kwargs, msg, editable = false, kwargs_schema: kwargsSchema, reject_options: options = [] } = spec;
  const rejectOptions = options.map(optionOf);
  const call = { fn, kwargs, msg, editable, kwargsSchema, rejectOptions };
  return { ...askedIn(spec), runId, callId, agentPrompt, reports, ...call };
}

function callSpecRule(rules: ChannelRules) {
  return (value: unknown, place: Place) => {
    const given = read(members, value, place);
    if (!given) return undefined;
    const spec = readMembers(NewFunctionCallBody.shape.spec, given, place, {
      channel: channelRule({ ...rules, joint: true, composite: true }),
      reject_options: rejectOptionsIn,
      escalation: stepsRule(rules),
    });
    if (spec.editable && spec.channel && isJoint(spec.channel.tree)) {
      complain(place.problems, [...place.loc, "editable"], "pattern", "cannot go with all_of or quorum");
    }
    return spec;
  };
}

/** Reads a human contact (spec/a2h 5.1). */
export function readContact(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadContact | undefined {
  const place = { loc: BODY, problems };
  const found = readMembers(NewHumanContactBody, body, place, { spec: contactSpecRule(rules) });
  const { run_id: runId, call_id: callId, agent_prompt: agentPrompt, spec } = found;
  if (runId === undefined || callId === undefined || spec?.msg === undefined) return undefined;
  const { msg, subject, response_options: options = [] } = spec;
  return { ...askedIn(spec), runId, callId, agentPrompt, msg, subject, options: options.map(optionOf) };
}

function contactSpecRule(rules: ChannelRules) {
  return (value: unknown, place: Place) => {
    const given = read(members, value, place);
    if (!given) return undefined;
    return readMembers(NewHumanContactBody.shape.spec, given, place, {
      channel: channelRule({ ...rules, joint: false, composite: true }),
      response_options: optionsIn,
      escalation: stepsRule(rules),
    });
  };
}

interface AskedMembers {
  channel?: ReadChannel | undefined;
  timeout_seconds?: number;
  on_timeout?: "expire" | "keep";
  answers_inquiries?: boolean;
  escalation?: readonly EscalationStep[];
}

/** Returns what all kinds have in common, and plans with them; the echo has the members in their order. */
export function askedIn(spec: AskedMembers): ReadSpec {
  const { channel, timeout_seconds: timeoutSeconds, on_timeout: onTimeout, escalation = [] } = spec;
  const answersInquiries = spec.answers_inquiries === true;
  const steps = escalation.map((step) => ({
    after_seconds: step.afterSeconds,
    channel: step.channel.echo,
    escalation_msg: step.words,
  }));
  const echo = given({ ...spec, channel: channel?.echo, escalation: steps.length > 0 ? steps : undefined });
  return { channel, timeoutSeconds, keep: onTimeout === "keep", answersInquiries, escalation, echo };
}

/** Returns the reader of the channel of a request. */
export function channelRule(rules: ChannelRules) {
  return (value: unknown, { loc, problems }: Place) => readChannel(value, loc, problems, rules);
}

/** Reads options, whose names differ. */
function optionsIn(value: unknown, place: Place): NewResponseOptionBody[] | undefined {
  const found = read(newOptionsField, value, place);
  const names = found?.map(({ name }) => name) ?? [];
  const again = names.findIndex((one, i) => names.indexOf(one) !== i);
  if (again >= 0) complain(place.problems, [...place.loc, again, "name"], "pattern", "is used twice");
  return found;
}

/** Reads options of which none may read as an approval. */
function rejectOptionsIn(value: unknown, place: Place): NewResponseOptionBody[] | undefined {
  const found = optionsIn(value, place);
  for (const [i, option] of (found ?? []).entries()) {
    const name = approvingMember(option);
    if (name) complain(place.problems, [...place.loc, i, name], "pattern", "must not read as an approval");
  }
  return found;
}

function optionOf({ name, title, description, prompt_fill: promptFill, interactive = false }: NewResponseOptionBody) {
  return { name, interactive, ...given({ title, description, promptFill }) } satisfies ResponseOption;
}

/** Reads the steps of an escalation, which follow one another. */
export function stepsRule(rules: ChannelRules) {
  const channel = channelRule({ ...rules, joint: false, composite: false });
  return (value: unknown, place: Place, { timeout_seconds: timeout }: { timeout_seconds?: number | undefined }) => {
    const steps = readList(newStepsField, value, place, (one, at): EscalationStep | undefined => {
      const step = read(members, one, at);
      const before = place.problems.length;
      const found = step && readMembers(NewEscalationBody, step, at, { channel });
      if (found && !found.channel && place.problems.length === before) {
        complain(place.problems, [...at.loc, "channel"], "required", "must name somebody");
      }
      if (found?.after_seconds === undefined || found.escalation_msg === undefined || !found.channel) return undefined;
      return { afterSeconds: found.after_seconds, channel: found.channel, words: found.escalation_msg };
    });
    for (const [i, { afterSeconds }] of (steps ?? []).entries()) {
      const at = [...place.loc, i, "after_seconds"];
      const before = steps?.[i - 1]?.afterSeconds ?? -1;
      if (afterSeconds <= before) complain(place.problems, at, "range", "must be later than the step before");
      if (timeout !== undefined && afterSeconds >= timeout) {
        complain(place.problems, at, "range", "must be below timeout_seconds");
      }
    }
    return steps;
  };
}

export type ReadMessage = ReadSpec & { uid: string | undefined; message: string; schema: ForeignSchema | undefined };

const metadata = members.optional();
/** The draft's misspelt `metatdata` is read too. */
const MESSAGE_HEAD = NewMessageBody.omit({ spec: true }).extend({ metadata, metatdata: metadata });
const { message: MESSAGE, ...MESSAGE_REST } = NewMessageBody.shape.spec.shape;
const MESSAGE_SPEC = z.object(MESSAGE_REST);

/** Reads a message (spec/a2h 5.6); the draft calls its words `agentMessage`. */
export function readMessage(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadMessage | undefined {
  const place = { loc: BODY, problems };
  const head = readMembers(MESSAGE_HEAD, body, place);
  const named = member(head.metadata ?? head.metatdata ?? {}, "uid");
  const uid = read(requestIdField.optional(), named, { loc: [...BODY, "metadata", "uid"], problems });
  const at = within(place, "spec");
  const spec = read(members, member(body, "spec"), at);
  if (!spec) return undefined;
  const name = spec["message"] === undefined && spec["agentMessage"] !== undefined ? "agentMessage" : "message";
  const message = read(MESSAGE, member(spec, name), within(at, name));
  const found = readMembers(MESSAGE_SPEC, spec, at, {
    channel_id: (id) => readChannel({ channel_id: id }, at.loc, problems, { ...rules, joint: false, composite: false }),
  });
  if (message === undefined) return undefined;
  const { response_schema: schema, channel_id: channel } = found;
  const echo = given({ message, ...found, channel_id: channel?.echo["channel_id"] });
  return { ...askedIn({ ...found, channel }), uid, message, schema, echo };
}

/** @throws {Refusal} `schema_refused` for a schema that cannot be used */
export function refuseBadSchema(schemas: ForeignSchemas, name: string, schema: ForeignSchema | undefined): void {
  const problem = schema && schemas.examine(schema);
  if (problem) {
    throw new Refusal("schema_refused", { path: `/spec/${name}${problem.path}` }, `${name}: ${problem.message}`);
  }
}
