const CHECKED: Readonly<Record<string, string>> = {
  email: "email.smtp_url and email.from of the settings, and the person's address (docs/how-to/email.md)",
  slack: "slack.bot_token of the settings, and that the app is in that workspace and channel (docs/how-to/slack.md)",
  sms: "the twilio settings, public_url, and that the number's country is allowed (docs/how-to/phones.md)",
  whatsapp: "the twilio settings, public_url, and that the number's country is allowed (docs/how-to/phones.md)",
  webhook: "webhook_targets of the settings, and what the program there says (docs/how-to/webhooks.md)",
  push: "that the person has signed in on the device (parley link) and allowed notifications there (docs/how-to/push.md)",
};

/** Returns what to look at when a channel reaches nobody. */
export function channelRemedy(channel: string): string {
  return `Check ${CHECKED[channel] ?? "its settings"}.`;
}
