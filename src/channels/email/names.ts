/** A reply address: 130 bits in letters and digits that survive a mail system that folds case. */
const REPLY_TO = /\bask\+([a-z2-7]{26})@([a-z0-9.-]+)/gi;
const MESSAGE_ID = /<(dlv_[0-9A-Za-z]{1,64})\.([0-9A-Za-z]{1,32})@([^<>\s@]+)>/g;

/**
 * Returns the Message-ID of a message, or of words about it: the same mail that is sent again has the same. The name
 * follows from a key, so that nobody knows it who did not get the mail (spec/channels 5.4).
 */
export function messageIdOf(name: string, domain: string, words = ""): string {
  return `<${name}.m${words}@${domain}>`;
}

/** Returns the name of the message that a mail of ours is about. */
export function nameIn(messageId: string): string | undefined {
  return /^<(dlv_[0-9A-Za-z]{1,64})\./.exec(messageId)?.[1];
}

/** Returns the Message-IDs of our messages that a header names, in its order: words about a message stand for it. */
export function messagesIn(header: string, domain: string): string[] {
  return [...header.matchAll(MESSAGE_ID)].flatMap(([whole, name = "", part = "", at = ""]) => {
    if (at.toLowerCase() !== domain) return [];
    if (part.startsWith("m")) return messageIdOf(name, domain);
    // A former version named messages, reminders and notes in this way.
    return part.startsWith("t") ? [`<${name}.1@${domain}>`, `<${name}.r@${domain}>`] : whole;
  });
}

/** True for a Message-ID whose name nobody can know who did not get the mail; those of former versions hold an id. */
export function isSecretName(messageId: string): boolean {
  return /\.m@[^@]*>$/.test(messageId);
}

/** Returns the address that takes one recipient's answer to one message. */
export function replyAddress(token: string, domain: string): string {
  return `ask+${token}@${domain}`;
}

/** Returns the reply tokens among the addresses in a text, in its order. */
export function tokensIn(text: string, domain: string): string[] {
  const found = [...text.matchAll(REPLY_TO)].filter((match) => match[2]?.toLowerCase().replace(/\.$/, "") === domain);
  return found.map((match) => (match[1] ?? "").toLowerCase());
}
