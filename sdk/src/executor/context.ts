import { environment, fromEnvironment } from "../environment.ts";

/** The circumstances of an ask, as the answer is bound to them. */
export interface ContextEnvelope {
  job_snapshot: Record<string, string>;
  facts?: Record<string, string>;
  role: string;
}

const FACT = "TASK_RELAY_FACT_";

/** Returns the circumstances that the environment tells of. */
export function contextEnvelope(role: string): ContextEnvelope {
  const snapshot = {
    repo: fromEnvironment("TASK_RELAY_REPO"),
    commit_sha: fromEnvironment("TASK_RELAY_COMMIT_SHA"),
    env_profile: fromEnvironment("TASK_RELAY_PROFILE"),
    policy_version: fromEnvironment("TASK_RELAY_POLICY_VERSION"),
  };
  const facts = Object.entries(environment()).flatMap(([name, value]) =>
    name.startsWith(FACT) && value !== undefined ? [[name.slice(FACT.length).toLowerCase(), value] as const] : [],
  );
  const known = Object.entries(snapshot).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    job_snapshot: Object.fromEntries(known),
    ...(facts.length > 0 && { facts: Object.fromEntries(facts) }),
    role,
  };
}

/**
 * Returns the lower-case hex SHA-256 of JSON whose object keys are sorted at every level (spec/relay 3);
 * undefined on pages that were not loaded safely, where browsers offer no digest: the server then computes it.
 */
export async function contextHash(envelope: unknown): Promise<string | undefined> {
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle;
  if (!subtle) return undefined;
  const bytes = await subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(sorted(envelope))));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}
