import type { ChannelKind } from "../kind.ts";

export const webhook = {
  title: "Webhook",
  identity: null,
  fields: { name: { type: "string", description: "Name of a target that is configured here.", required: true } },
  address: {
    min: 1,
    max: 64,
    read: (name) => name,
    says: "must be a name",
    rest: () => ({ people: [] }),
  },
  remedy: "webhook_targets of the settings, and what the program there says (docs/how-to/webhooks.md)",
} as const satisfies ChannelKind;
