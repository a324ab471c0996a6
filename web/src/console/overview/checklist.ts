import type { AgentState, ChannelState } from "@parley/sdk/admin";
import { serverNow } from "../../api.ts";
import { useAgents, useChannels, useKeyList, usePeople } from "../queries.ts";
import { usePolicy } from "../relay/api.ts";
import { useBoard } from "../tasks/api.ts";
import { text as consoleText } from "../text.ts";
import { text } from "./text.ts";

/** One step of setting the server up, with how far it is. */
export interface ChecklistItem {
  title: string;
  says: string;
  isDone: boolean;
  href: string;
}

/** Reads how far the server is set up; `items` is undefined until everything is read. */
export function useChecklist(): { items: readonly ChecklistItem[] | undefined; error: unknown } {
  const [people, channels, keys] = [usePeople(), useChannels(), useKeyList()];
  const [policy, connected, board] = [usePolicy(), useAgents(), useBoard()];
  const error = people.error ?? channels.error ?? keys.error ?? policy.error ?? connected.error ?? board.error;
  if (!people.data || !channels.data || !keys.data || !policy.data || !connected.data || !board.data)
    return { items: undefined, error };
  const others = people.data.filter(({ operator }) => !operator).length;
  const good = keys.data.filter(isGood).length;
  const { state, rules, proposals } = policy.data;
  const words = text.checklist;
  return {
    items: [
      { title: words.people, says: words.peopleSays(others), isDone: others > 0, href: "/console/people" },
      messages(channels.data),
      notifications(channels.data),
      { title: words.keys, says: good > 0 ? text.keys(good) : words.keysOpen, isDone: good > 0, href: "/console/keys" },
      {
        title: words.policy,
        says: { ok: text.policy(rules.length, proposals.length), stale: text.policyStale, missing: words.policyOpen }[
          state
        ],
        isDone: state === "ok",
        href: "/console/policy",
      },
      prompts(connected.data),
      agents(board.data),
    ],
    error,
  };
}

function messages(channels: readonly ChannelState[]): ChecklistItem {
  const ways = channels.filter(({ channel }) => channel !== "push");
  const each = ways.map((one) => `${consoleText.channel(one.channel)}: ${text.channel(one)}`);
  const isDone = ways.some((one) => text.channel(one) === text.channelWorks);
  return {
    title: text.checklist.messages,
    says: `${each.join("; ")}.${isDone ? "" : ` ${text.checklist.messagesOpen}`}`,
    isDone,
    href: "/console/channels",
  };
}

function notifications(channels: readonly ChannelState[]): ChecklistItem {
  const push = channels.find(({ channel }) => channel === "push");
  const isDone = push !== undefined && text.channel(push) === text.channelWorks;
  const says = isDone ? text.checklist.pushSays : text.checklist.pushOpen;
  return { title: text.checklist.push, says, isDone, href: "/console/channels/push" };
}

/** Where no agent is in use on the server's computer, prompts from others show that agents are connected. */
function prompts(all: readonly AgentState[]): ChecklistItem {
  const here = all.filter((one) => one.here);
  const isElsewhere = here.length === 0 && all.some(({ last_prompt }) => last_prompt !== null);
  const isDone = isElsewhere || (here.length > 0 && here.every(({ hook }) => hook));
  const says = isElsewhere ? text.checklist.promptsElsewhere : text.agents.says(all);
  return { title: text.checklist.prompts, says, isDone, href: "/console/agents" };
}

function agents(board: NonNullable<ReturnType<typeof useBoard>["data"]>): ChecklistItem {
  const ready = board.agents.filter((one) => one.ready).map(({ name }) => name);
  const missing = board.agents.filter((one) => !one.ready).map(({ name }) => name);
  const hasRepo = board.repos.length > 0;
  return {
    title: text.checklist.agents,
    says: hasRepo ? text.checklist.agentsSays(ready, missing) : text.checklist.agentsOpen,
    isDone: hasRepo && ready.length > 0,
    href: "/console/assignments",
  };
}

/** Returns whether a key still opens the server. */
export function isGood({ revoked_at, expires_at }: { revoked_at: string | null; expires_at: string | null }): boolean {
  return revoked_at === null && (expires_at === null || Date.parse(expires_at) > serverNow());
}
