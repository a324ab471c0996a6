import type { Owners } from "../owner.ts";
import { a2hOwner } from "../notices/a2h-owner.ts";
import { WEBHOOK_DOOR } from "../notices/model/webhook-events.ts";
import { agentOwner, type OwningAgent } from "../tasks/agent-owner.ts";
import { assignmentOwner, type OwningTasks } from "../tasks/owner.ts";
import { taskOfJob } from "../tasks/task-of-job.ts";
import { GATE_DOOR } from "../gate/model/gate-call.ts";
import { gateOwner } from "../gate/owner.ts";
import { relayOwner, type OwningAsks } from "../asks/owner.ts";
import { relayQuestionOwner, type OwningQuestions } from "../asks/question-owner.ts";

/**
 * Registers everybody for whom this server asks people.
 *
 * Every other door belongs to the agent that asked, which reads the outcome by itself: that of tools, that of the server's
 * own messages, and any that this version does not know, because a later one wrote the row.
 */
export function openOwners(ctx: OwningAgent & OwningTasks & OwningAsks & OwningQuestions): Owners {
  const owners = [
    a2hOwner(agentOwner(ctx, WEBHOOK_DOOR)),
    gateOwner(agentOwner(ctx, GATE_DOOR)),
    relayOwner(ctx, taskOfJob),
    assignmentOwner(ctx),
  ];
  const ofRequests = byDoor(owners);
  const ofQuestions = byDoor([relayQuestionOwner(ctx)]);
  return {
    ofRequest: ({ door }) => ofRequests.get(door) ?? agentOwner(ctx, door),
    async listUnwanted(on, limit) {
      const lists = owners.map(({ listUnwanted }) => listUnwanted?.(on, limit) ?? []);
      return [...new Set((await Promise.all(lists)).flat())];
    },
    ofQuestion: ({ door }) => ofQuestions.get(door),
  };
}

function byDoor<T extends { readonly door: string }>(owners: readonly T[]): ReadonlyMap<string, T> {
  return new Map(owners.map((owner) => [owner.door, owner]));
}
