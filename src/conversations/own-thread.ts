import type { Context } from "../context.ts";
import { hasBegunThread } from "../requests/store/deliveries.ts";
import { findConversationByThread, findMessageBySource } from "./store/conversations.ts";

/** True where a thread on Slack is an agent's own: a request of its own began it, or a person who spoke to this agent. */
export async function isOwnThread(
  { db }: Pick<Context, "db">,
  agent: string,
  thread: { to: string; ts: string },
): Promise<boolean> {
  if (await hasBegunThread(db, agent, thread)) return true;
  const { to, ts } = thread;
  const conversation = await findConversationByThread(db, [`slack:${to}/${ts}`]);
  const message = await findMessageBySource(db, `slack ${to} ${ts}`);
  return conversation?.agent === agent || message?.agent === agent;
}
