import type { ChannelKind } from "../kind.ts";

export const SLACK_ID = /^[CGDUW][A-Z0-9]{2,}$/;

/** True for the id of a user; any other id is of a channel. */
export function isSlackUser(id: string): boolean {
  return /^[UW]/.test(id);
}

export const slack = {
  title: "Slack",
  identity: "slack",
  isPlace: (id) => !isSlackUser(id),
  fields: {
    channelOrUserId: {
      type: "string",
      description: "Slack ID of a channel or user; empty for the configured default user",
      required: true,
    },
    contextAboutChannelOrUser: { type: "string", description: "Who is reached there", required: false },
    allowedResponderIds: { type: "array", description: "Slack user IDs: nobody else may answer", required: false },
    threadTs: { type: "string", description: "Timestamp of the message in whose thread to ask", required: false },
    experimentalSlackBlocks: {
      type: "boolean",
      description: "false: plain text and a link instead of buttons",
      required: false,
    },
    botToken: { type: "string", description: "Bot token of an app of your own (xoxb-)", required: false },
  },
  address: {
    max: 64,
    read: (id) => (SLACK_ID.test(id) ? id : undefined),
    says: "Use an ID such as U024BE91L, not a name.",
  },
  decider: "a member of the Slack channel",
  remedy: "slack.bot_token of the settings, and that the app is in that workspace and channel (docs/how-to/slack.md)",
} as const satisfies ChannelKind;
