/** A reply address: 130 bits in letters and digits that survive a mail system that folds case. */
const REPLY_TO = /\bask\+([a-z2-7]{26})@([a-z0-9.-]+)/gi;
const MESSAGE_ID = /<(dlv_[0-9A-Za-z]{1,64})\.([0-9A-Za-z]{1,32})@([^<>\s@]+)>/g;

/** Which of a delivery's mails one is: the same mail that is sent again has the same id. */
export type MailPart = "1" | "r" | `t${string}`;

/** Returns the Message-ID of a delivery's mail (spec/channels 5.4). */
export function messageIdOf(delivery: string, part: MailPart, domain: string): string {
  return `<${delivery}.${part}@${domain}>`;
}

/** Returns the deliveries whose mails a header names, in its order. */
export function deliveriesIn(header: string, domain: string): string[] {
  const found = [...header.matchAll(MESSAGE_ID)].filter((match) => match[3]?.toLowerCase() === domain);
  return found.map((match) => match[1] ?? "");
}

/** Returns the address at which one recipient's answer to one message is heard. */
export function replyAddress(token: string, domain: string): string {
  return `ask+${token}@${domain}`;
}

/** Returns the reply tokens among the addresses in a text, in its order. */
export function tokensIn(text: string, domain: string): string[] {
  const found = [...text.matchAll(REPLY_TO)].filter((match) => match[2]?.toLowerCase().replace(/\.$/, "") === domain);
  return found.map((match) => (match[1] ?? "").toLowerCase());
}
