/** The channels that can be tried: every way to reach a person but the inbox, which is this server itself. */
export const TESTED_CHANNELS = ["push", "slack", "email", "sms", "whatsapp", "webhook"] as const;
export type TestedChannel = (typeof TESTED_CHANNELS)[number];
