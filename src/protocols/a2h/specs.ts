import type { JsonObject } from "../../lib/json-body.ts";
import type { ForeignSchemas } from "../../lib/foreign-schema.ts";
import { soundsApproving } from "../../requests/model/reply-grammar.ts";
import type { ForeignSchema, ResponseOption } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { isJoint, readChannel, type ChannelRules, type ReadChannel } from "./contact-channel.ts";
import {
  complain,
  flag,
  given,
  integer,
  list,
  object,
  optional,
  required,
  text,
  word,
  type Loc,
  type Problem,
  type Rule,
} from "./fields.ts";
import { API_VERSION } from "../../wire/message.ts";
import { CALL_ID } from "../../wire/new-request.ts";

const NO_CONTROLS: [RegExp, string] = [/\p{Cc}/u, "control characters"];
const ONE_LINE: [RegExp, string] = [/[\r\n]/, "line breaks"];
const MOST_OPTIONS = 25;
const MOST_STEPS = 10;
const MOST_WORDS = 40_000;

const callId = text({ min: 1, max: 256, pattern: CALL_ID });
const runId = text({ min: 1, max: 256, without: NO_CONTROLS });

/** One more round of people, if nobody answered by then. */
export interface EscalationStep {
  afterSeconds: number;
  channel: ReadChannel;
  words: string;
}

/** What calls, contacts and messages have in common. */
export interface ReadSpec {
  /** As it is told again; `kwargs` and `state` as they came. */
  echo: JsonObject;
  channel: ReadChannel | undefined;
  timeoutSeconds: number | undefined;
  keep: boolean;
  escalation: readonly EscalationStep[];
}

export type ReadCall = ReadSpec & {
  runId: string;
  callId: string;
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
  msg: string;
  subject: string | undefined;
  options: readonly ResponseOption[];
};

const SPEC: Loc = ["body", "spec"];

/** Reads a function call (spec/a2h 5.1). */
export function readCall(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadCall | undefined {
  const head = readHead(body, problems);
  if (!head) return undefined;
  const { spec } = head;
  const fn = required(spec, "fn", text({ min: 1, max: 256, without: NO_CONTROLS }), { loc: SPEC, problems });
  const kwargs = required(spec, "kwargs", object, { loc: SPEC, problems });
  const msg = optional(spec, "msg", text({ max: MOST_WORDS }), { loc: SPEC, problems });
  const channel = channelIn(spec, problems, { ...rules, joint: true, composite: true });
  const options = optionsIn(spec, "reject_options", problems);
  const state = optional(spec, "state", object, { loc: SPEC, problems });
  const timing = timingIn(spec, problems, rules);
  const editable = optional(spec, "editable", flag, { loc: SPEC, problems }) ?? false;
  const kwargsSchema = optional(spec, "kwargs_schema", object, { loc: SPEC, problems });
  if (editable && channel && isJoint(channel.tree)) {
    complain(problems, [...SPEC, "editable"], "pattern", "cannot go with all_of or quorum");
  }
  if (head.runId === undefined || head.callId === undefined || fn === undefined || !kwargs) return undefined;
  return {
    ...timing,
    runId: head.runId,
    callId: head.callId,
    fn,
    kwargs,
    msg,
    channel,
    editable,
    kwargsSchema,
    rejectOptions: options.read,
    echo: given({
      fn,
      kwargs,
      msg,
      channel: channel?.echo,
      reject_options: options.echo,
      state,
      ...timing.echo,
      editable: spec["editable"] ?? undefined,
      kwargs_schema: kwargsSchema,
    }),
  };
}

/** Reads a human contact (spec/a2h 5.1). */
export function readContact(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadContact | undefined {
  const head = readHead(body, problems);
  if (!head) return undefined;
  const { spec } = head;
  const msg = required(spec, "msg", text({ min: 1, max: MOST_WORDS }), { loc: SPEC, problems });
  const subject = optional(spec, "subject", text({ max: 998, without: ONE_LINE }), { loc: SPEC, problems });
  const channel = channelIn(spec, problems, { ...rules, joint: false, composite: true });
  const options = optionsIn(spec, "response_options", problems);
  const state = optional(spec, "state", object, { loc: SPEC, problems });
  const timing = timingIn(spec, problems, rules);
  if (head.runId === undefined || head.callId === undefined || msg === undefined) return undefined;
  return {
    ...timing,
    runId: head.runId,
    callId: head.callId,
    msg,
    subject,
    channel,
    options: options.read,
    echo: given({
      msg,
      subject,
      channel: channel?.echo,
      response_options: options.echo,
      state,
      ...timing.echo,
    }),
  };
}

function readHead(body: JsonObject, problems: Problem[]) {
  const head = {
    runId: required(body, "run_id", runId, { loc: ["body"], problems }),
    callId: required(body, "call_id", callId, { loc: ["body"], problems }),
  };
  const spec = required(body, "spec", object, { loc: ["body"], problems });
  return spec && { ...head, spec };
}

function channelIn(spec: JsonObject, problems: Problem[], rules: ChannelRules): ReadChannel | undefined {
  return optional(spec, "channel", (value, loc, into) => readChannel(value, loc, into, rules), { loc: SPEC, problems });
}

const option: Rule<{ read: ResponseOption; echo: JsonObject }> = (value, loc, problems) => {
  const one = object(value, loc, problems);
  if (!one) return undefined;
  const name = required(one, "name", text({ min: 1, max: 64, without: ONE_LINE }), { loc, problems });
  const title = optional(one, "title", text({ max: 75 }), { loc, problems });
  const description = optional(one, "description", text({ max: 500 }), { loc, problems });
  const promptFill = optional(one, "prompt_fill", text({ max: 3000 }), { loc, problems });
  const interactive = optional(one, "interactive", flag, { loc, problems });
  if (name === undefined) return undefined;
  return {
    read: { name, interactive: interactive ?? false, ...given({ title, description, promptFill }) },
    echo: given({ name, title, description, prompt_fill: promptFill, interactive }),
  };
};

function optionsIn(spec: JsonObject, name: string, problems: Problem[]) {
  const found = optional(spec, name, list(option, { max: MOST_OPTIONS }), { loc: SPEC, problems });
  const names = found?.map(({ read }) => read.name) ?? [];
  const again = names.findIndex((one, i) => names.indexOf(one) !== i);
  if (again >= 0) complain(problems, [...SPEC, name, again, "name"], "pattern", "is used twice");
  if (name === "reject_options") {
    for (const [i, { read }] of (found ?? []).entries()) {
      const member = [read.name, read.title ?? ""].findIndex(soundsApproving);
      if (member === -1) continue;
      complain(
        problems,
        [...SPEC, name, i, member === 0 ? "name" : "title"],
        "pattern",
        "must not read as an approval",
      );
    }
  }
  return { read: found?.map(({ read }) => read) ?? [], echo: found?.map(({ echo }) => echo) };
}

function timingIn(spec: JsonObject, problems: Problem[], rules: ChannelRules) {
  const timeoutSeconds = optional(spec, "timeout_seconds", integer(10, 2_592_000), { loc: SPEC, problems });
  const onTimeout = optional(spec, "on_timeout", word(["expire", "keep"]), { loc: SPEC, problems });
  const escalation =
    optional(spec, "escalation", list(stepRule(rules), { max: MOST_STEPS }), { loc: SPEC, problems }) ?? [];
  for (const [i, { read }] of escalation.entries()) {
    const before = escalation[i - 1]?.read.afterSeconds ?? -1;
    const at = [...SPEC, "escalation", i, "after_seconds"];
    if (read.afterSeconds <= before) complain(problems, at, "range", "must be later than the step before");
    if (timeoutSeconds !== undefined && read.afterSeconds >= timeoutSeconds) {
      complain(problems, at, "range", "must be below timeout_seconds");
    }
  }
  return {
    timeoutSeconds,
    keep: onTimeout === "keep",
    escalation: escalation.map(({ read }) => read),
    echo: given({
      timeout_seconds: timeoutSeconds,
      on_timeout: onTimeout,
      escalation: escalation.length > 0 ? escalation.map(({ echo }) => echo) : undefined,
    }),
  };
}

function stepRule(rules: ChannelRules): Rule<{ read: EscalationStep; echo: JsonObject }> {
  return (value, loc, problems) => {
    const one = object(value, loc, problems);
    if (!one) return undefined;
    const afterSeconds = required(one, "after_seconds", integer(1, 2_592_000), { loc, problems });
    const words = required(one, "escalation_msg", text({ min: 1, max: 5000 }), { loc, problems });
    const here = { ...rules, joint: false, composite: false };
    const channel = required(one, "channel", (given, at, into) => readChannel(given, at, into, here), {
      loc,
      problems,
    });
    if (afterSeconds === undefined || words === undefined || !channel) return undefined;
    const echo = { after_seconds: afterSeconds, channel: channel.echo, escalation_msg: words };
    return { read: { afterSeconds, channel, words }, echo };
  };
}

export type ReadMessage = ReadSpec & { uid: string | undefined; message: string; schema: ForeignSchema | undefined };

/** Reads a message (spec/a2h 5.6); the draft's misspelt `metatdata` is read too. */
export function readMessage(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadMessage | undefined {
  required(body, "apiVersion", word([API_VERSION]), { loc: ["body"], problems });
  required(body, "kind", word(["Message"]), { loc: ["body"], problems });
  const metadata = optional(body, "metadata", object, { loc: ["body"], problems });
  const misspelt = optional(body, "metatdata", object, { loc: ["body"], problems });
  const uid = optional(metadata ?? misspelt ?? {}, "uid", callId, { loc: ["body", "metadata"], problems });
  const spec = required(body, "spec", object, { loc: ["body"], problems });
  if (!spec) return undefined;
  const name = spec["message"] === undefined && spec["agentMessage"] !== undefined ? "agentMessage" : "message";
  const message = required(spec, name, text({ min: 1, max: MOST_WORDS }), { loc: SPEC, problems });
  const schema = optional(spec, "response_schema", object, { loc: SPEC, problems });
  const id = (value: unknown, _: Loc, into: Problem[]) =>
    readChannel({ channel_id: value }, SPEC, into, {
      ...rules,
      joint: false,
      composite: false,
    });
  const channel = optional(spec, "channel_id", id, { loc: SPEC, problems });
  const { echo: timing, ...rest } = timingIn(given({ ...spec, escalation: undefined }), problems, rules);
  if (message === undefined) return undefined;
  const channelId = channel?.echo["channel_id"];
  return {
    ...rest,
    uid,
    message,
    schema,
    channel,
    echo: given({ message, response_schema: schema, channel_id: channelId, ...timing }),
  };
}

/** @throws {Refusal} `schema_refused` for a schema that cannot be used */
export function refuseBadSchema(schemas: ForeignSchemas, name: string, schema: ForeignSchema | undefined): void {
  const problem = schema && schemas.examine(schema);
  if (problem) {
    throw new Refusal("schema_refused", { path: `/spec/${name}${problem.path}` }, `${name}: ${problem.message}`);
  }
}
