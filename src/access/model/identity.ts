/** How an enrolled person can be known outside: one of these belongs to one person at most. */
export interface Identity {
  kind: "slack" | "email" | "phone";
  /** Slack user id, address in lower case, or E.164 number. */
  value: string;
}

/** Returns what somebody is known by who has this address, if it can belong to one person; a Slack channel cannot. */
export function identityAt({ via, to }: { via: string; to?: unknown }): Identity | null {
  if (typeof to !== "string") return null;
  switch (via) {
    case "slack":
      return isSlackUser(to) ? { kind: "slack", value: to } : null;
    case "email":
      return { kind: "email", value: to };
    case "sms":
    case "whatsapp":
      return { kind: "phone", value: to };
    default:
      return null;
  }
}

/** True for the id of a user; any other id is of a channel. */
export function isSlackUser(id: string): boolean {
  return /^[UW]/.test(id);
}
