/** The words of what is stuck. */
import type { StuckReport } from "@parley/sdk/admin";
import { count, isolated, number } from "../../format.ts";

type Group = StuckReport["causes"][number];

export const text = {
  failed: "It could not be read what is stuck",
  total: (n: number) => (n === 0 ? "Nothing is stuck." : `${count(n, "thing is", "things are")} stuck.`),
  running: (n: number) => `${count(n, "approved call runs", "approved calls run")} now.`,
  moreOpen: "More than 500 requests are open. The others were not looked at.",
  more: (n: number) => `${number(n)} more`,
  causes: {
    frozen: "Frozen",
    policy_stale: "The policy file holds a mistake",
    channel_failing: "A channel fails",
    message_failed: "The message did not arrive",
    nobody_reached: "Nobody can see it",
    away: "Everybody asked is away",
    outcome_unknown: "A call has no known end",
    webhook_failing: "A webhook fails",
    unanswered: "No answer yet",
    question_unanswered: "A question without answers",
    job_unclaimed: "A job without an executor",
  } satisfies Record<Group["cause"], string>,
  remedies: {
    frozen: "Nothing is approved until somebody thaws the agent.",
    policy_stale: "The rules from before it stay in force. Mend the file.",
    channel_failing: "Look at the error, mend the settings, and send a test.",
    message_failed: "Mend the address or the channel. Then remind the person.",
    nobody_reached: "They are signed in nowhere, and no device or channel reaches them. Send them a sign-in link.",
    away: "Nobody stands in for them. Open it to decide, or to hand it on.",
    outcome_unknown: "It began and was never reported. Parley does not run it again: look whether it was done.",
    webhook_failing: "The agent does not get its outcomes. Look at the error and send the event again.",
    unanswered: "They were told, and half of the time, or an hour, has passed. Remind them.",
    question_unanswered: "Half of the time, or an hour, has passed without an answer.",
    job_unclaimed: "It has been in line for ten minutes. Start an executor, or cancel it.",
  } satisfies Record<Group["cause"], string>,
  since: (time: string) => `for ${time}`,
  asked: (names: string) => `asked: ${names}`,
  agent: (name: string) => `by ${isolated(name)}`,
  via: (channel: string, error: string | null) => `${channel}${error === null ? "" : `: ${isolated(error)}`}`,
  policyFile: "The policy file",
  webhookOf: (agent: string) => `Webhook of ${isolated(agent)}`,
  open: "Open",
  thaw: "What is frozen",
  remind: "Remind",
  channel: (name: string) => `Channel ${name}`,
  person: (name: string) => `Sign-in link for ${isolated(name)}`,
  reminded: (n: number) => (n === 0 ? "They were reminded a moment ago." : `${count(n, "person", "people")} reminded.`),
};

export type StuckTexts = typeof text;
