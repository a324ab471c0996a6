import { isJsonObject } from "../../lib/json/exact-json.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import type { Request, Target } from "../../requests/model/request.ts";
import { readChannel, type ChannelRules } from "./contact-channel.ts";
import { BODY, complain, member, readMembers, type Problem } from "./fields.ts";
import { writtenOf } from "./written.ts";
import { MailEscalationBody } from "../../wire/a2h/new-request.ts";

/** Further recipients are looked at with those of the mail before. */
const OWN = MailEscalationBody.omit({ additional_recipients: true });

/** A mail that asks again, with whom it goes to. */
export interface Escalation {
  words: string;
  email: JsonObject;
}

/**
 * Reads an escalation: to the mail member of its own channel, else of the request's; further recipients are those of
 * all three (spec/a2h 11).
 */
export function readEscalation(body: JsonObject, problems: Problem[], request: Request): Escalation | undefined {
  const { escalation_msg: words, channel } = readMembers(OWN, body, { loc: BODY, problems });
  const own = memberOf(channel, "email");
  const spec = JSON.parse(writtenOf(request).spec) as JsonObject;
  const original = memberOf(memberOf(spec, "channel"), "email");
  const primary = own ?? original;
  if (words === undefined) return undefined;
  if (!primary)
    return complain(problems, ["body", "channel", "email"], "required", "is required: there was no mail before");
  const more = [original, body, own].flatMap((one) => (one ? recipientsOf(one) : []));
  const { additionalRecipients: _, ...rest } = primary;
  return { words, email: { ...rest, ...(more.length > 0 && { additional_recipients: more }) } };
}

/** Returns the targets of an escalation, the first of them the main recipient. */
export function escalationTargets(
  { words, email }: Escalation,
  problems: Problem[],
  rules: ChannelRules,
): { words: string; targets: readonly Target[] } | undefined {
  const read = readChannel({ email }, ["body", "channel"], problems, rules);
  return read?.tree.kind === "targets" ? { words, targets: read.tree.targets } : undefined;
}

function memberOf(value: unknown, name: string): JsonObject | undefined {
  const found = isJsonObject(value) ? member(value, name) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function recipientsOf(value: JsonObject): unknown[] {
  const found = member(value, "additional_recipients") ?? member(value, "additionalRecipients");
  return Array.isArray(found) ? (found as unknown[]) : [];
}
