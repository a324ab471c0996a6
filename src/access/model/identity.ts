import type { IdentityKind } from "../../channels/kind.ts";
import { kindOf } from "../../channels/kinds.ts";

/** How an enrolled person can be known outside: one of these belongs to one person at most. */
export interface Identity {
  kind: IdentityKind;
  /** Slack user id, address in lower case, or E.164 number. */
  value: string;
}

/** Returns what somebody is known by who has this address, if it can belong to one person; a Slack channel cannot. */
export function identityAt({ via, to }: { via: string; to?: unknown }): Identity | null {
  const { identity = null, isPlace } = kindOf(via) ?? {};
  return typeof to !== "string" || identity === null || isPlace?.(to) ? null : { kind: identity, value: to };
}
