import { mailAddress } from "../../lib/mail-address.ts";
import type { Target } from "../../requests/model/request.ts";
import type { FieldError } from "../channel.ts";
import { membersOf } from "../kinds.ts";
import { email } from "./kind.ts";
import { parseTemplate, TemplateError } from "./template.ts";
import type { Templates } from "./template-words.ts";

/** The settings that all copies of a mail share. */
export type MailSettings = Readonly<Record<string, unknown>> & {
  /** The recipients in the visible headers of every copy. */
  to: readonly string[];
  cc: readonly string[];
  subject?: string;
  /** Message-IDs with their brackets. */
  inReplyTo?: string;
  references?: string;
  /** The agent's template, where templates are shown. */
  template?: string;
};

/** One recipient's own copy of a mail; `to` is in lower case, and who is `informed` stands in blind copy. */
export type EmailTarget = Extract<Target, { via: "email" }> & { settings: MailSettings };

const KNOWN = new Set([...membersOf("email"), ...Object.keys(email.aliases)]);
const KNOWN_OF_RECIPIENTS = new Set(["address", "context_about_user", "field"]);
const MOST_RECIPIENTS = 20;
const LONGEST_CONTEXT = 500;
const LONGEST_SUBJECT = 998;
const LONGEST_TEMPLATE_BYTES = 100_000;
/** As long as a header line may be, with its name and brackets. */
const MESSAGE_ID = /^<?([!-;=?-~]{1,900})>?$/;

type Input = Readonly<Record<string, unknown>>;

/** Notes that a field is wrong, by its path below `/email`; what could not be read is nothing. */
type Refuse = (path: string, code: FieldError["code"], message: string) => undefined;

interface Recipient {
  address: string;
  field: "to" | "cc" | "bcc";
}

/**
 * Checks a mail channel as an agent sent it. The target is the main recipient's copy; `others` are those of the further
 * recipients, each a copy of its own (spec/a2h 5.3).
 *
 * Both spellings of a threading field are taken, and the plain one wins. Where templates are off, one is checked for its
 * length only.
 */
export function parseEmail(
  input: Input,
  templates: Templates = "off",
): { target: EmailTarget; others: readonly EmailTarget[] } | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const refuse: Refuse = (path, code, message) => {
    errors.push({ path: `/email/${path}`, code, message });
    return undefined;
  };
  const either = (name: string, alias: string): string => (isGiven(input, name) ? name : alias);

  for (const key of Object.keys(input)) if (!KNOWN.has(key)) refuse(key, "unknown_field", "is not a field of email");
  const main = addressIn(input, "address", refuse);
  textIn(input, "context_about_user", { path: "context_about_user", most: LONGEST_CONTEXT }, refuse);
  const template = shownTemplate(input, templates, refuse);
  const subject = subjectIn(input, either("subject", "experimental_subject_line"), refuse);
  const inReplyTo = messageIdIn(input, either("in_reply_to_message_id", "experimental_in_reply_to_message_id"), refuse);
  const references = messageIdIn(input, either("references_message_id", "experimental_references_message_id"), refuse);
  const more = moreRecipients(input, refuse);

  if (main === undefined || errors.length > 0) return { errors };
  const once = more.filter((one, i) => one.address !== main && more.findIndex((o) => o.address === one.address) === i);
  const inField = (field: "to" | "cc") => once.filter((one) => one.field === field).map((one) => one.address);
  const settings: MailSettings = {
    to: [main, ...inField("to")],
    cc: inField("cc"),
    ...(subject !== undefined && { subject }),
    ...(inReplyTo !== undefined && { inReplyTo }),
    ...(references !== undefined && { references }),
    ...(template !== undefined && { template }),
  };
  return {
    target: { via: "email", to: main, informed: false, settings },
    others: once.map(({ address, field }) => ({ via: "email", to: address, informed: field === "bcc", settings })),
  };
}

/** Returns a text of at most so many characters, by its key; `path` is what it is called when it is refused. */
function textIn(from: Input, key: string, { path, most }: { path: string; most: number }, refuse: Refuse) {
  const value = from[key] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== "string") return refuse(path, "type", "must be a string");
  return value.length > most ? refuse(path, "too_long", `must be at most ${most} characters`) : value;
}

function addressIn(from: Input, path: string, refuse: Refuse): string | undefined {
  const value = from["address"] ?? undefined;
  if (value === undefined) return refuse(path, "required", "is required");
  const found = typeof value === "string" ? mailAddress(value) : undefined;
  return found ?? refuse(path, "pattern", "must be one mail address");
}

function subjectIn(input: Input, name: string, refuse: Refuse): string | undefined {
  const value = textIn(input, name, { path: name, most: LONGEST_SUBJECT }, refuse);
  if (value === undefined || value.trim() === "") return undefined;
  return isOneLine(value) ? value : refuse(name, "pattern", "must be one line");
}

/** Returns a Message-ID with its brackets, whether or not it was given with them. */
function messageIdIn(input: Input, name: string, refuse: Refuse): string | undefined {
  const value = textIn(input, name, { path: name, most: LONGEST_SUBJECT }, refuse);
  if (value === undefined || value === "") return undefined;
  const id = MESSAGE_ID.exec(value)?.[1];
  return id === undefined ? refuse(name, "pattern", "must be one Message-ID") : `<${id}>`;
}

/** Checks a template, and returns it where templates are shown. */
function shownTemplate(input: Input, templates: Templates, refuse: Refuse): string | undefined {
  const template = textIn(input, "template", { path: "template", most: LONGEST_TEMPLATE_BYTES }, refuse);
  if (template === undefined) return undefined;
  if (Buffer.byteLength(template) > LONGEST_TEMPLATE_BYTES)
    refuse("template", "too_long", `must be at most ${LONGEST_TEMPLATE_BYTES} bytes`);
  if (templates === "off") return undefined;
  const wrong = templateProblem(template);
  if (wrong !== undefined) refuse("template", "pattern", wrong);
  return template;
}

function moreRecipients(input: Input, refuse: Refuse): Recipient[] {
  const list = input["additional_recipients"] ?? [];
  if (!Array.isArray(list)) refuse("additional_recipients", "type", "must be a list");
  else if (list.length > MOST_RECIPIENTS)
    refuse("additional_recipients", "too_long", `must be at most ${MOST_RECIPIENTS} recipients`);
  else return list.flatMap((one: unknown, i) => recipientIn(one, `additional_recipients/${i}`, refuse) ?? []);
  return [];
}

function recipientIn(one: unknown, path: string, refuse: Refuse): Recipient | undefined {
  if (typeof one !== "object" || one === null || Array.isArray(one)) return refuse(path, "type", "must be an object");
  const recipient = one as Input;
  for (const key of Object.keys(recipient))
    if (!KNOWN_OF_RECIPIENTS.has(key)) refuse(`${path}/${key}`, "unknown_field", "is not a field of a recipient");
  textIn(recipient, "context_about_user", { path: `${path}/context_about_user`, most: LONGEST_CONTEXT }, refuse);
  const field = recipient["field"] ?? "to";
  const address = addressIn(recipient, `${path}/address`, refuse);
  if (field !== "to" && field !== "cc" && field !== "bcc")
    return refuse(`${path}/field`, "pattern", "must be to, cc or bcc");
  return address === undefined ? undefined : { address, field };
}

/** Returns what is wrong with a template, and in which line. */
function templateProblem(template: string): string | undefined {
  try {
    parseTemplate(template);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return `line ${error.line}: ${error.message}`;
    throw error;
  }
}

function isGiven(input: Input, name: string): boolean {
  return (input[name] ?? "") !== "";
}

function isOneLine(text: string): boolean {
  return !/[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(text);
}
