import { canonicalExact, readExactJson, sha256Digest } from "../../lib/json/exact-json.ts";
import type { Audience } from "../../requests/model/request.ts";
import type { Ask } from "./ask.ts";

/** The properties of a role that the relay's stages depend on. */
export interface RoleFacts {
  /** `role.clarifier@v1` */
  name: string;
  /** SHA-256 of what its file says. */
  hash: string;
  outputSchema: unknown;
  maxTokens: number | null;
}

/** The inputs of a decision besides the ask itself. */
export interface DecidedOn {
  policyVersion: string;
  role: RoleFacts | null;
  /** `provider/model`; null while the runner is off. */
  model: string | null;
}

const hashOf = (value: unknown): string => sha256Digest(canonicalExact(value)).slice("sha256:".length);
const hashOrNull = (value: unknown): string | null => (value === undefined || value === null ? null : hashOf(value));

/** The members of `meta` that do not change the answer. */
const UNTOLD: ReadonlySet<string> = new Set(["traceparent", "to"]);

/** The parts of an ask that a machine's answer may depend on. */
export type DecisiveAsk = Pick<Ask, "type" | "prompt" | "meta" | "envelope" | "constraints">;

/**
 * Returns what an ask's decision key covers, in the one form that all asks of that key share. A machine is given this
 * and nothing else of an ask: an answer that rests on anything more would be repeated to others (spec/relay 9).
 */
export function decisiveAsk({ type, prompt, meta, envelope, constraints }: DecisiveAsk): DecisiveAsk {
  const { allowedTools, maxTokens } = constraints;
  return {
    type,
    prompt: normalPrompt(prompt),
    meta: inOneOrder(Object.fromEntries(Object.entries(meta).filter(([name]) => !UNTOLD.has(name)))),
    envelope: inOneOrder(envelope),
    constraints: {
      ...(allowedTools && { allowedTools: [...new Set(allowedTools)].sort() }),
      ...(maxTokens !== undefined && { maxTokens }),
    },
  };
}

/** Members of an object come in one order: hashes know no other, and a model reads them in the order they have. */
function inOneOrder<T>(value: T): T {
  return readExactJson(canonicalExact(value)) as T;
}

/**
 * The texts whose MACs are the keys of the decision cache: two asks share one exactly when one's answer may serve the
 * other.
 */
export interface DecisionTexts {
  /** The text for a machine's answer (spec/relay 9). */
  ofMachine(): string;
  /**
   * Returns the text for a person's answer. It also holds who asked and whom: the answer is repeated to the same asker
   * alone, where the same people would be asked (spec/relay 9).
   */
  ofPerson(audience: Audience): string;
}

/** Returns the texts of an ask's decision keys; the parts of the ask are hashed once for all of them. */
export function decisionTexts(ask: Ask, on: DecidedOn): DecisionTexts {
  const parts = decisiveParts(ask, on);
  return {
    ofMachine: () => canonicalExact(parts),
    ofPerson: (audience) => canonicalExact({ ...parts, asked_by: ask.principal, asked_of: audience }),
  };
}

function decisiveParts(ask: Ask, { policyVersion, role, model }: DecidedOn): Record<string, unknown> {
  const { type, prompt, meta, envelope, constraints } = decisiveAsk(ask);
  const overrides = meta["prompt_overrides"] as { output_schema?: unknown } | undefined;
  const schema = overrides?.output_schema ?? role?.outputSchema;
  const kept = Object.entries(meta).filter(([name]) => name !== "prompt_overrides");
  return {
    v: 1,
    tenant: "default",
    // A hash that nobody checked could be invented: what it answers serves its own asker alone.
    owner: envelope ? null : ask.principal,
    ask_type: type,
    prompt,
    context_hash: ask.contextHash,
    policy_version: policyVersion,
    role: role?.name ?? null,
    role_hash: role?.hash ?? null,
    schema_hash: hashOrNull(schema),
    overrides_hash: hashOrNull(overrides),
    allowed_tools: constraints.allowedTools ?? null,
    tool_caps_hash: hashOrNull(envelope?.tool_caps),
    meta_hash: kept.length === 0 ? null : hashOf(Object.fromEntries(kept)),
    model,
    max_tokens: constraints.maxTokens ?? role?.maxTokens ?? 512,
  };
}

/** Returns the specification's own key, kept for comparison and never looked up. */
export function seedKey(ask: Ask, policyVersion: string): string {
  return hashOf([ask.type, ask.prompt, ask.contextHash, policyVersion]);
}

/** Returns a prompt as it is compared. */
export function normalPrompt(prompt: string): string {
  return prompt.normalize("NFC").replaceAll("\r\n", "\n").trim();
}

/** Returns whether an ask's answer may come from, or go to, the cache at all. */
export function isCacheable(ask: Pick<Ask, "type" | "meta">): boolean {
  const isDecision = ask.type === "APPROVAL" || ask.type === "POLICY_DECISION";
  return !isDecision && ask.meta["in_reply_to"] === undefined && ask.meta["audience"] !== "public";
}

/** Returns what makes an ask of a later epoch the same as one before (spec/relay 2). */
export function sameAskHash(ask: Pick<Ask, "stepId" | "type" | "prompt" | "contextHash">): string {
  return hashOf([ask.stepId, ask.type, normalPrompt(ask.prompt), ask.contextHash]);
}

/** Returns the hash of a context envelope: RFC 8785, SHA-256, lower-case hex (spec/relay 3). */
export function envelopeHash(envelope: unknown): string {
  return hashOf(envelope);
}
