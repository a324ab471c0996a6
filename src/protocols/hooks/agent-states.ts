import type { LocalAgentState } from "../../connect/local-agents.ts";
import { isAgent } from "../../connect/registry.ts";
import { printableExactly } from "../../lib/printable.ts";
import { Refusal } from "../../refusals.ts";
import type { Request } from "../../requests/model/request.ts";
import { sentenceOf } from "../../requests/model/sentence.ts";
import { askerName } from "../../requests/model/view.ts";
import { readDecided } from "../../requests/read/read-decided.ts";
import { readNewestPrompt } from "../../requests/read/read-request.ts";
import { WireAgentReport, WireOwnPrompt, type WireLastPrompt } from "../../wire/agent-prompt.ts";
import { ErrorBody } from "../../wire/error.ts";
import type { Door, DoorContext, FastifyRequest } from "../http/door.ts";
import { jsonReply } from "../http/json-reply.ts";
import { administrator, keyHolder } from "../http/principals.ts";
import { wireTime } from "../http/question.ts";

/** The newest prompt is looked for among all requests, among those of one asker, or of one conversation. */
interface Whose {
  asker?: string;
  conversation?: number;
}

/**
 * Mounts what tells of the agents whose prompts people answer (spec/a2h 21): to an agent its own newest prompt, to admins
 * every agent, with those that are in use where the server runs.
 */
export function agentStates(door: DoorContext, localAgents: () => Promise<LocalAgentState[]>) {
  return async (app: Door): Promise<void> => {
    app.get<{ Params: { agent: string } }>(
      "/hooks/agents/:agent",
      {
        schema: {
          tags: ["a2h"],
          summary: "The newest permission prompt that the caller sent for a coding agent",
          response: { 200: jsonReply(WireOwnPrompt), 401: ErrorBody, 403: ErrorBody, 404: ErrorBody },
        },
      },
      async (http) => {
        const whose = await callerOf(door, http);
        const { agent } = http.params;
        if (!isAgent(agent)) throw new Refusal("route_not_found");
        return { last_prompt: await lastPromptOf(door, agent, whose) } satisfies WireOwnPrompt;
      },
    );

    app.get(
      "/admin/agents",
      {
        schema: {
          tags: ["administration"],
          summary: "Coding agents whose prompts people answer: which go through the server on its own computer",
          response: { 200: jsonReply(WireAgentReport), 401: ErrorBody, 403: ErrorBody },
        },
      },
      async (http) => {
        await administrator(door, http);
        const agents = (await localAgents()).map(async ({ name, title, isHere, hasHook }) => {
          const last_prompt = await lastPromptOf(door, name, {});
          return { agent: name, title, here: isHere, hook: hasHook, last_prompt };
        });
        return { agents: await Promise.all(agents) } satisfies WireAgentReport;
      },
    );
  };
}

/** @throws {Refusal} as the A2H door does */
async function callerOf(door: DoorContext, http: FastifyRequest): Promise<Whose> {
  const key = await keyHolder(door, http, { bound: true });
  if ("open" in key) return { asker: key.open };
  if (key.scope !== "agent") throw new Refusal("scope_missing", { scope: "agent" });
  // A key of one conversation sees nothing of the others.
  return { asker: key.principal, ...(key.conversation !== null && { conversation: key.conversation }) };
}

/** A prompt is a function call, and a question of the agent's model a human contact. */
async function lastPromptOf({ ctx }: DoorContext, agent: string, whose: Whose): Promise<WireLastPrompt | null> {
  const request = await readNewestPrompt(ctx, { ...whose, promptOf: agent });
  if (!request) return null;
  const { form, outcome, createdAt, settledAt } = request;
  const decided = request.state === "answered" ? await readDecided(ctx, request) : [];
  const names = decided.filter(({ approved }) => approved === (outcome?.approved ?? null)).map(({ name }) => name);
  return {
    at: wireTime(createdAt),
    tool: form.kind === "approval" ? printableExactly(form.fn) : null,
    sentence: sentenceOf(request),
    asked_by: askerName(request),
    outcome: outcomeOf(request),
    by: names.length === 0 ? null : names.join(", "),
    settled_at: settledAt === null ? null : wireTime(settledAt),
  };
}

function outcomeOf({ state, form, outcome }: Request): WireLastPrompt["outcome"] {
  if (state === "open") return "waiting";
  if (state === "expired") return "expired";
  if (state === "cancelled") return "withdrawn";
  if (form.kind !== "approval") return "answered";
  return outcome?.approved === true ? "approved" : "rejected";
}
