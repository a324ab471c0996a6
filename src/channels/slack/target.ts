import { memberPointer } from "../../lib/json/json-pointer.ts";
import type { Target } from "../../requests/model/request.ts";
import type { FieldError } from "../channel.ts";
import { isSlackUser, SLACK_ID } from "./kind.ts";

/** A Slack user or channel, as it is stored: what `settings` holds is for this channel alone. */
export type SlackTarget = Extract<Target, { via: "slack" }> & {
  settings: {
    threadTs?: string;
    /** Plain text and a link instead of blocks and buttons. */
    plain?: boolean;
    /** The reference under which the door keeps a token that came with the request; never the token. */
    botToken?: string;
    /** The app in which the conversation began, where it is not the first. */
    app?: string;
  };
};

const MOST_RESPONDERS = 100;
const MOST_CONTEXT = 500;

type Problem = Omit<FieldError, "path">;
type Rule = (value: unknown) => Problem | [at: string, problem: Problem] | null;

const wrong = (code: FieldError["code"], message: string): Problem => ({ code, message });
const aText = (pattern: RegExp, message: string, most = Infinity): Rule => {
  return (value) => {
    if (typeof value !== "string") return wrong("type", "Must be a string.");
    if (value.length > most) return wrong("too_long", `Must be at most ${most} characters.`);
    return pattern.test(value) ? null : wrong("pattern", message);
  };
};

const RULES: Readonly<Record<string, Rule>> = {
  channel_or_user_id: aText(new RegExp(`^$|${SLACK_ID.source}`), "Use an ID such as C024BE91L, not a name."),
  context_about_channel_or_user: aText(/^/, "", MOST_CONTEXT),
  allowed_responder_ids: responderIds,
  thread_ts: aText(/^\d{10}\.\d{6}$/, "Use a timestamp such as 1763632800.000100."),
  experimental_slack_blocks: (value) => (typeof value === "boolean" ? null : wrong("type", "Must be true or false.")),
  bot_token: aText(/^xoxb-/, "Must be a bot token, which begins with xoxb-."),
};

function responderIds(value: unknown): ReturnType<Rule> {
  if (!Array.isArray(value)) return wrong("type", "Must be a list.");
  if (value.length === 0) return wrong("required", "allowed_responder_ids if provided must not be empty");
  if (value.length > MOST_RESPONDERS) return wrong("too_long", `Must be at most ${MOST_RESPONDERS} IDs.`);
  const isId = (id: unknown) => typeof id === "string" && SLACK_ID.test(id) && isSlackUser(id);
  const bad = value.findIndex((id) => !isId(id));
  return bad < 0 ? null : [`/${bad}`, wrong("pattern", "Use IDs of users such as U2147483697.")];
}

/**
 * Returns the target an agent named, or what is wrong with it (spec/a2h 5.3). A token is checked here and
 * kept out: whoever posts the request stores it and puts a reference into the settings.
 */
export function parseTarget(
  input: Readonly<Record<string, unknown>>,
  defaultUser: string | undefined,
): { target: SlackTarget } | { errors: FieldError[] } {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
  const errors = Object.entries(given).flatMap(([name, value]): FieldError[] => {
    const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
    const path = memberPointer("/slack", name);
    const found = rule ? rule(value) : wrong("unknown_field", "There is no such field.");
    if (found === null) return [];
    const [at, problem] = Array.isArray(found) ? found : ["", found];
    return [{ path: path + at, ...problem }];
  });
  const path = "/slack/channel_or_user_id";
  const named = given["channel_or_user_id"];
  if (named === undefined) errors.unshift({ path, code: "required", message: "Must be given." });
  const to = named === "" ? defaultUser : named;
  if (named === "" && !defaultUser) {
    errors.unshift({ path, code: "channel_unavailable", message: "No default Slack user is configured." });
  }
  if (errors.length > 0) return { errors };
  const allowed = given["allowed_responder_ids"] as string[] | undefined;
  const threadTs = given["thread_ts"] as string | undefined;
  return {
    target: {
      via: "slack",
      to: to as string,
      ...(allowed && { allowed }),
      settings: {
        ...(threadTs !== undefined && { threadTs }),
        ...(given["experimental_slack_blocks"] === false && { plain: true }),
      },
    },
  };
}
