import type {} from "@fastify/swagger";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { WAIT_OVER } from "../../lib/abort-hub.ts";
import type { Context } from "../../context.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import type { RequestForm, Audience } from "../../requests/model/request.ts";
import type { ChannelCatalogue } from "../../requests/model/channel-catalogue.ts";
import type { Caller } from "../../questions/model/participant.ts";
import type { GatedToolSettings } from "../../gate/model/tool.ts";
import type { Policy } from "../../policy/model/policy.ts";
import type { LimitReading } from "../../core/limits.ts";
import type { ReadLimits } from "../../core/read-limits.ts";
import type { OtherMethods } from "./methods.ts";
import type { ConcurrencyLimiter } from "./concurrency-limiter.ts";

/** The settings that doors go by; the whole configuration has them. */
export interface DoorSettings {
  /** Nothing says that others than the programs and people of this computer reach the server. */
  loopbackOnly: boolean;
  /** Whether agents may ask without a key; left out, only those of this computer. */
  open?: boolean | undefined;
  publicUrl: string;
  dataDir: string;
  hosts: readonly string[];
  cors: { origins: readonly string[] };
  email: { templates: "off" | "text" | "sanitized" };
  crowd: { public: boolean };
  policy: { learnAfter: number };
  relay: { policyFile: string };
  limits: { edgePerSecond: number; edgeBurst: number; longPolls: number; streams: number; humanStreams: number };
  sseHeartbeatS: number;
  waitCapS: number;
  webhooks: { allow: readonly string[] };
  /** Channels as the operator wrote them down, by name, and the usual one. */
  contacts: { channels: Readonly<Record<string, unknown>>; defaultChannel?: unknown };
  push: { fcmKeyFile?: string | undefined };
  /** The settings of gated tools, by gate and tool. */
  gate: { tools: Readonly<Record<string, GatedToolSettings>> };
}

/** The policy file, as doors look at it. */
export interface DoorPolicy {
  current(): { policy: Policy; text: string | null };
  state(): "ok" | "stale" | "missing";
  /** The fault of the file; null while it has no fault. */
  problem(): string | null;
  /** The file holds what `change` made of its text, and it is in force here. */
  edit(change: (text: string) => Promise<string>): Promise<void>;
}

/** One attempt's work, as its commits have it. */
export interface FinishedWork {
  repo: string;
  id: string;
  attempt: number;
  startSha: string;
  commitSha: string;
}

/** The functions that doors use of the process that runs the attempts of coding agents. */
export interface DoorWork {
  /** Returns work as a patch, against the commit it started from or the repository's base; no program is run for it. */
  diff(work: FinishedWork, against: "start" | "base"): Promise<string>;
  /** Returns the place and the size of a task's tree; null where the tree is gone. */
  tree(of: { repo: string; id: string; generation: number }): Promise<{ path: string; bytes: number } | null>;
  /** Whether an agent can be given work here, and why not. */
  readiness(agent: string): { ready: boolean; why: string | null };
  /** Returns the notice about the sandbox for people; null where there is nothing to report. */
  sandboxNotice(): string | null;
}

/** The services and settings that every door is given. */
export interface DoorContext {
  ctx: Context;
  policy: DoorPolicy;
  /** Returns the versions of the policies by which other running servers go. */
  otherPolicies(): Promise<string[]>;
  config: DoorSettings;
  readLimits: ReadLimits;
  limiter: ConcurrencyLimiter;
  /** The ways to reach people that are configured. */
  channels: ChannelCatalogue;
  /** Null where coding agents are given no work. */
  work: DoorWork | null;
  /** Whether the store takes writes, as was tried within the last seconds. */
  storeState: () => "ready" | "full" | "unavailable";
}

/** An agent, and what its key says of requests that name nobody. */
export interface AgentIdentity {
  /** The owner of the objects. */
  principal: string;
  channel: string | null;
}

/** Returns the people to ask for a request that names no recipient (spec/a2h 8). */
export type UsualAudience = (asker: AgentIdentity, decides: RequestForm["kind"]) => Promise<Audience>;

/** An agent whose prompts people answer, as its key or its name says. */
export interface PromptingCaller extends AgentIdentity {
  /** It has no key, and reaches people in the inbox alone. */
  isOpen: boolean;
  /** The one conversation its key is good for. */
  conversation: number | null;
}

/** A prompt of a coding agent: the kind of request that it becomes, and its body at the A2H door. */
export interface PromptToAsk {
  kind: "call" | "contact";
  body: JsonObject;
}

/**
 * Asks people about a prompt by the rules of the A2H door, and resolves with the id and the status that it prints once the
 * request is over. It withdraws the request when the signal is aborted first (spec/a2h 21).
 *
 * @throws {PromptRefused}
 */
export type AskPrompt = (
  caller: PromptingCaller,
  prompt: PromptToAsk,
  signal: AbortSignal,
) => Promise<{ callId: string; status: object }>;

/** Nobody could be asked about a prompt; the message is a sentence for whoever sent it. */
export class PromptRefused extends Error {}

/** The facts about a request that a door learns before its route runs. */
export interface RequestFacts {
  /** The key that stood in the path, as `/k/<key>/...`; cut off before routing. */
  pathKey?: string;
  /** Hashes of the keys and the session that let it in: what waits for long ends with them. */
  shown?: string[];
  /** The declared type of its body, at a door that reads any type. */
  bodyType?: string;
  /** The owner of the objects that the request may touch, once known. */
  principal?: string;
  /** The answerer, once known. */
  caller?: Caller;
  /** For a path that takes other methods only: those methods, and the door that words the refusal. */
  other?: OtherMethods;
  /** The values of the reply's limit headers, once known. */
  limit?: LimitReading;
  /** Finds what they say when nothing was counted. */
  peekLimit?: () => Promise<LimitReading>;
}

declare module "fastify" {
  interface FastifyRequest {
    facts: RequestFacts;
  }
  interface FastifyContextConfig {
    /** The route takes a JSON object; without this its body is not read. */
    takesBody?: boolean;
    /** The schema of its body, where it checks that by itself, for the document of the API. */
    reads?: z.ZodType;
    /** A body is welcome but need not be there. */
    bodyOptional?: boolean;
    /** It is never limited, and answers while the server drains: a client that is refused would lose its wait. */
    alwaysAnswers?: boolean;
    /** Its door answers itself for the methods it does not take. */
    ownMethods?: boolean;
    /** Posted by a page of ours that tells no origin, and proves in another way where it comes from. */
    originless?: boolean;
    /** The origins whose pages may use it, instead of the server's own list; any other page is refused, whatever it does. */
    cors?: readonly string[];
    /** The longest body it takes, where that is not the Ask-a-Human doors' own. */
    maxBodyBytes?: number;
  }
}

export type Door = FastifyInstance;
export type { FastifyReply, FastifyRequest };

/** Returns the principal of a request whose route has asked for one. */
export function principalOf(http: FastifyRequest): string {
  const { principal } = http.facts;
  if (principal === undefined) throw new Error("a route ran without its principal");
  return principal;
}

/** Returns the caller of a request whose route has asked for one. */
export function callerOf(http: FastifyRequest): Caller {
  const { caller } = http.facts;
  if (caller === undefined) throw new Error("a route ran without its caller");
  return caller;
}

/** Aborted when the client of this request has gone, or been answered. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort(WAIT_OVER));
  if (reply.raw.destroyed) gone.abort(WAIT_OVER);
  return gone.signal;
}
