import type { Requesters } from "../requester.ts";
import { a2hRequester } from "../notices/a2h-requester.ts";
import { WEBHOOK_DOOR } from "../notices/model/webhook-events.ts";
import { agentRequester, type OwningAgent } from "../tasks/agent-requester.ts";
import { assignmentRequester, type OwningTasks } from "../tasks/requester.ts";
import { taskOfJob } from "../tasks/task-of-job.ts";
import { GATE_DOOR } from "../gate/model/gate-call.ts";
import { gateRequester } from "../gate/requester.ts";
import { PLAN_DOOR } from "../requests/model/plan.ts";
import { planRequester } from "../requests/plans/plan-requester.ts";
import { relayRequester, type OwningAsks } from "../asks/respond/requester.ts";
import { relayQuestionRequester, type OwningQuestions } from "../asks/respond/question-requester.ts";

/**
 * Registers every module on whose behalf this server asks people.
 *
 * Every other door belongs to the agent that asked, which reads the outcome by itself: that of tools, that of the server's
 * own messages, and any that this version does not know, because a later one wrote the row.
 */
export function openRequesters(ctx: OwningAgent & OwningTasks & OwningAsks & OwningQuestions): Requesters {
  const ofRequest: Requesters["ofRequest"] = ({ door }) => ofRequests.get(door) ?? agentRequester(ctx, door);
  const requesters = [
    a2hRequester(agentRequester(ctx, WEBHOOK_DOOR)),
    gateRequester(agentRequester(ctx, GATE_DOOR)),
    planRequester(agentRequester(ctx, PLAN_DOOR), ofRequest),
    relayRequester(ctx, taskOfJob),
    assignmentRequester(ctx),
  ];
  const ofRequests = byDoor(requesters);
  const ofQuestions = byDoor([relayQuestionRequester(ctx)]);
  return {
    ofRequest,
    async listUnwanted(on, limit) {
      const lists = requesters.map(({ listUnwanted }) => listUnwanted?.(on, limit) ?? []);
      return [...new Set((await Promise.all(lists)).flat())];
    },
    ofQuestion: ({ door }) => ofQuestions.get(door),
  };
}

function byDoor<T extends { readonly door: string }>(owners: readonly T[]): ReadonlyMap<string, T> {
  return new Map(owners.map((owner) => [owner.door, owner]));
}
