import { createHash } from "node:crypto";
import type { ConsentStory } from "./consent-story.ts";

const CALLS = "/humanlayer/v1/function_calls";
const LEASE_S = 30;

/** One use of a tool, as a coding agent names and sends it. */
export interface Use {
  door: UseDoor;
  id: string;
  session: string;
  command: string;
  folder: string;
}

/** The ways by which a coding agent asks: by HTTP, as `parley hook` does, and by the tool `approve`. */
export type UseDoor = "claude" | "codex" | "approve";

/** An agent that waits, and what it is told in the end. */
export interface WaitingAgent {
  use: Use;
  isAllowed: Promise<boolean>;
  isOver: boolean;
  leave: () => void;
}

/** Has an agent ask a person, or those who are usually asked, and wait. A reply that is lost allows nothing. */
export function askAbout(story: ConsentStory, use: Use, to: string): WaitingAgent {
  const gone = new AbortController();
  const sending = SENDERS[use.door](story, use, { to, signal: gone.signal });
  const agent: WaitingAgent = {
    use,
    isAllowed: sending.catch(() => false).finally(() => (agent.isOver = true)),
    isOver: false,
    leave: () => gone.abort(),
  };
  return agent;
}

type Sender = (story: ConsentStory, use: Use, how: { to: string; signal: AbortSignal }) => Promise<boolean>;

const askClaude: Sender = async (story, use, { to, signal }) => {
  const { on } = story;
  const body = {
    hook_event_name: "PreToolUse",
    session_id: use.session,
    cwd: use.folder,
    tool_name: "Bash",
    tool_input: { command: use.command },
    tool_use_id: use.id,
  };
  const reply = await on.world.call("POST", `/hooks/claude${to && `?to=${to}`}`, { body, headers: on.agent, signal });
  story.note(`claude reads about ${use.id}: ${reply.text}`);
  return reply.body.hookSpecificOutput?.permissionDecision === "allow";
};

const askCodex: Sender = async (story, use, { to, signal }) => {
  const { world, agent: headers } = story.on;
  const name = createHash("sha256").update(JSON.stringify([use.session, use.id]));
  const body = {
    run_id: use.session,
    call_id: story.fresh("codex"),
    agent_prompt: { agent: "codex", lease_seconds: LEASE_S, use: name.digest("hex") },
    spec: {
      fn: "Bash",
      kwargs: { command: use.command, cwd: use.folder },
      ...(to && { channel: { human: { id: to } } }),
      timeout_seconds: 3600,
    },
  };
  const asked = await world.call("POST", CALLS, { body, headers });
  const path = `${CALLS}/${asked.body.call_id as string}?wait=50`;
  const { body: ended } = await world.call("GET", path, { headers, signal });
  return ended.status?.approved === true;
};

const askApprove: Sender = async ({ on }, use, { signal }) => {
  const input = { command: use.command };
  const params = { name: "approve", arguments: { tool_name: "Bash", input, tool_use_id: use.id } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const reply = await on.world.call("POST", "/mcp", { body, headers: on.agent, signal });
  const [block] = (reply.body.result?.content ?? []) as { text: string }[];
  return block !== undefined && (JSON.parse(block.text) as { behavior: string }).behavior === "allow";
};

const SENDERS: Readonly<Record<UseDoor, Sender>> = { claude: askClaude, codex: askCodex, approve: askApprove };
