import { nearest } from "../lib/nearest.ts";
import type { SourcedValue, Setting } from "./setting.ts";

/** One setting that others need; a list is one of which any will do. */
type Needed = string | readonly string[];

const MAIL = ["email.smtp_url", "email.from"];
const PHONES: readonly Needed[] = [
  "twilio.account_sid",
  "twilio.auth_token",
  "twilio.countries",
  ["twilio.sms_from", "twilio.whatsapp_from"],
  "public_url",
];

/** Settings that do nothing by themselves, and what each needs. */
const NEEDED_BY: Readonly<Record<string, readonly Needed[]>> = {
  ...Object.fromEntries(
    [
      "smtp_url",
      "from",
      "domain",
      "listen",
      "imap_url",
      "hook_secret",
      "templates",
      "approve_by_reply",
      "trusted_authserv_ids",
      "mails_per_sender",
      "reading_seconds_per_sender",
    ].map((name) => [`email.${name}`, MAIL]),
  ),
  "email.cert_file": ["email.listen", "email.key_file"],
  "email.key_file": ["email.listen", "email.cert_file"],
  ...Object.fromEntries(
    ["app_token", "signing_secret", "default_user", "channel_approvers", "apps", "api_url"].map((name) => [
      `slack.${name}`,
      ["slack.bot_token"],
    ]),
  ),
  ...Object.fromEntries(
    ["account_sid", "auth_token", "sms_from", "whatsapp_from", "countries", "api_url"].map((name) => [
      `twilio.${name}`,
      PHONES,
    ]),
  ),
  "twilio.whatsapp_template_sid": ["twilio.whatsapp_from"],
  ...Object.fromEntries(
    ["base_url", "api_key_env", "temperature", "budget_usd_month", "prices"].map((name) => [
      `runner.${name}`,
      ["runner.model"],
    ]),
  ),
  database_listen_url: ["database_url"],
  tools: ["mcp_servers"],
  "telemetry.service_name": ["telemetry.otlp_url"],
  "telemetry.headers_env": ["telemetry.otlp_url"],
};

/** Variables that programs of Parley read and that are no settings; the last of them they give to what they start. */
const OTHER_VARIABLES = [
  "PARLEY_CONFIG",
  "PARLEY_KEY",
  "PARLEY_MOVE_TO",
  "PARLEY_URL",
  "PARLEY_ATTEMPT",
  "PARLEY_JOB_ID",
  "PARLEY_JOB_SPEC",
  "PARLEY_LEASE",
  "PARLEY_MCP_TOKEN",
  "PARLEY_MCP_URL",
  "PARLEY_STEP_ID",
  "PARLEY_TAKES_PLACE",
  "PARLEY_TASK",
];

/** Returns a sentence for each variable `PARLEY_*` that nothing reads. Those that a setting names are read. */
export function unknownVariables(
  settings: readonly Setting[],
  given: ReadonlyMap<string, SourcedValue>,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = settings.flatMap(({ variable, aliases = [], secret }) =>
    [variable, ...aliases].flatMap((name) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  known.push(...OTHER_VARIABLES);
  const named = JSON.stringify([...given.values()].map(({ value }) => value));
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || !name.startsWith("PARLEY_") || known.includes(name) || named.includes(`"${name}"`)) return [];
    if (isServiceLink(name, value)) return [];
    return [`${name}: there is no such setting${suggest(name, known)}.`];
  });
}

/** Whether Kubernetes states by it where a service is; the service may have the name parley-web. */
function isServiceLink(name: string, value: string): boolean {
  return /_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))(_[A-Z0-9_]+)?$/.test(name) || /^(tcp|udp):\/\//.test(value);
}

/**
 * Returns a sentence for each setting that does nothing because another is missing. A setting that repeats its default
 * is left out.
 */
export function idleSettings(settings: readonly Setting[], given: ReadonlyMap<string, SourcedValue>): string[] {
  const set = new Set(settings.filter((one) => saysMore(one, given.get(one.name))).map(({ name }) => name));
  return settings.flatMap(({ name }) => {
    const needed = NEEDED_BY[name];
    const where = given.get(name)?.where ?? "";
    // Other programs' variables that this one reads, too, may be there for those.
    if (!needed || !set.has(name) || where.startsWith("OTEL_")) return [];
    const lacked = needed.map((any) => [any].flat()).filter((any) => !any.some((one) => one === name || set.has(one)));
    if (lacked.length === 0) return [];
    return [`${where}: ${name} does nothing without ${lacked.map((any) => any.join(" or ")).join(" and ")}.`];
  });
}

/** Whether a setting is given, and not only as it is without that. */
function saysMore({ schema }: Setting, given: SourcedValue | undefined): boolean {
  const usual = schema.safeParse(undefined);
  return given !== undefined && !(usual.success && JSON.stringify(usual.data) === JSON.stringify(given.value));
}

/** Returns a suggestion if a known name is nearly the same, or a few have one word more or less. */
export function suggest(name: string, known: readonly string[]): string {
  const words = wordsOf(name);
  const alike = known.filter((other) => isOneWordApart(words, wordsOf(other)));
  const near = nearest(name, known);
  const suggestions = near === undefined ? alike : [near];
  return suggestions.length === 0 || suggestions.length > 3
    ? ""
    : `; "${suggestions.join('" or "')}" is meant, perhaps`;
}

const wordsOf = (name: string) => name.split(/[._]/);

function isOneWordApart(one: readonly string[], other: readonly string[]): boolean {
  const [fewer, more] = one.length < other.length ? [one, other] : [other, one];
  return more.length - fewer.length === 1 && fewer.every((word) => more.includes(word));
}
