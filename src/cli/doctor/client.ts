import { localTime } from "../../lib/local-time.ts";
import { readKeyText } from "../../lib/secrets/key-text.ts";
import { printable } from "../../lib/printable.ts";
import { WAIT_TOOL } from "../../protocols/mcp/tools.ts";
import type { Finding } from "../../doctor/store/checks.ts";
import { serverSays, type Client, type ServerReply } from "./wire.ts";

const HOLD_S = 4;
/** A hold may end so much early before it is called cut. */
const SLACK_MS = 1000;
const TEST_QUESTION = {
  prompt: "A program tries out whether waiting works here. Please skip this; it goes away in seconds.",
  type: "text",
  // A few people may answer before it is gone, and none is urged to.
  min_responses: 5,
  timeout_seconds: 600,
};

export interface ClientReport {
  findings: Finding[];
  facts: Record<string, string | number>;
}

/**
 * Returns what an agent with this address and key meets: whether it is let in, what is left of its limits, and whether
 * a call that waits survives the way to the server and back.
 *
 * To wait for something it asks one question, which it cancels a few seconds later, and which ends by itself after ten
 * minutes if it cannot.
 *
 * @throws {Error} a sentence, when nothing answers there
 */
export async function examineClient(client: Client): Promise<ClientReport> {
  const facts: ClientReport["facts"] = { server: client.url };
  const findings: Finding[] = [];
  const add = (check: string, promise: string, offenders: string[]) => {
    findings.push({ check, promise, offenders });
    return offenders.length === 0;
  };

  const ready = await serverSays(client, "GET", "/readyz");
  if (ready.cut !== undefined) throw new Error(`no server answers at ${client.url}: ${ready.cut}`);
  if (!add("server", "a Parley server answers and its store is ready", readyProblems(ready)))
    return { findings, facts };

  const mine = await serverSays(client, "GET", "/agent/questions?status=OPEN,PARTIAL&limit=100");
  const promise = client.key === undefined ? "agents of this computer need no key" : "the key is an agent's, and good";
  if (!add("key", promise, keyProblems(mine, client))) return { findings, facts };

  // Refused before anything is counted, and its headers tell what is left.
  const empty = await serverSays(client, "POST", "/agent/questions", { body: {} });
  const open = (mine.json as { questions?: unknown[] }).questions?.length ?? 0;
  facts["questions_left"] = leftText(empty);
  facts["reads_left"] = leftText(mine);
  facts["open_questions"] = open === 100 ? "100 or more" : open;
  const asked = await serverSays(client, "POST", "/agent/questions", { body: TEST_QUESTION });
  const id = (asked.json as { question_id?: string }).question_id;
  if (!add("limits", "this agent may ask now", id === undefined ? [reasonOf(asked)] : []) || id === undefined) {
    return { findings, facts };
  }

  try {
    const [poll, mcp] = await Promise.all([pollProblems(client, id), examineMcp(client, id)]);
    add("poll", `a long-poll of ${HOLD_S} s is held, and answered`, poll);
    if (mcp === null) facts["mcp"] = "not served here";
    for (const one of mcp ?? []) findings.push(one);
  } finally {
    await serverSays({ ...client, signal: new AbortController().signal }, "DELETE", `/agent/questions/${id}`);
  }
  return { findings, facts };
}

function readyProblems({ status, text }: ServerReply): string[] {
  if (status === 200 && text.trim() === "ready") return [];
  const isOurs = status === 503 && /^[\w .:-]{1,80}$/.test(text.trim());
  return [isOurs ? `it is not ready: ${text.trim()}` : `what answers there (${status}) is no Parley server`];
}

function keyProblems(reply: ServerReply, { key, keyVariable }: Client): string[] {
  if (reply.cut !== undefined || ![200, 401].includes(reply.status)) return [reasonOf(reply)];
  if (reply.status === 200) return [];
  if (key === undefined) {
    return [
      "this server wants a key: set PARLEY_KEY; whoever runs it makes one with: parley keys create NAME --scope agent",
    ];
  }
  const read = readKeyText(key);
  if (read.kind === "no_key") return [`${keyVariable} is no key: keys begin with parley_`];
  if (read.kind === "mistyped") return [`${keyVariable} is mistyped or cut: its checksum does not fit`];
  if (read.scope !== "agent") return [`${keyVariable} is of scope ${read.scope}; asking needs one of scope agent`];
  return [`this server does not know the key in ${keyVariable}: it is another server's, was revoked, or has expired`];
}

async function pollProblems(client: Client, id: string): Promise<string[]> {
  const reply = await serverSays(client, "GET", `/agent/questions/${id}?wait=${HOLD_S}`, { holdMs: HOLD_S * 1000 });
  if (reply.cut !== undefined || reply.status !== 200) return [reasonOf(reply)];
  const { status } = reply.json as { status?: string };
  const isEarly = reply.tookMs < HOLD_S * 1000 - SLACK_MS && (status === "OPEN" || status === "PARTIAL");
  return isEarly ? [`it came back after ${secondsText(reply.tookMs)} with nothing new`] : [];
}

/** Returns nothing where there is no MCP. */
async function examineMcp(client: Client, id: string): Promise<Finding[] | null> {
  const listed = await serverSays(client, "POST", "/mcp", { body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
  if (listed.status === 404) return null;
  const { tools = [] } = (listed.json as { result?: { tools?: { name: string }[] } }).result ?? {};
  const isListed = tools.some(({ name }) => name === WAIT_TOOL);
  const list = listed.status === 200 ? `its list does not hold ${WAIT_TOOL}` : reasonOf(listed);
  const first: Finding = { check: "mcp", promise: "MCP answers with its tools", offenders: isListed ? [] : [list] };
  if (!isListed) return [first];

  const params = {
    name: WAIT_TOOL,
    arguments: { question_id: id, max_wait_seconds: HOLD_S },
    _meta: { progressToken: "doctor" },
  };
  const reply = await serverSays(client, "POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 2, method: "tools/call", params },
    holdMs: HOLD_S * 1000,
  });
  const promise = `an MCP wait of ${HOLD_S} s shows progress while it is held, and is answered`;
  return [first, { check: "stream", promise, offenders: streamProblems(reply) }];
}

function streamProblems(reply: ServerReply): string[] {
  if (reply.status !== 200) return [reasonOf(reply)];
  if (!reply.isStream)
    return ["it was answered without a stream: something on the way does not pass the Accept header"];
  const messages = reply.text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  const result = messages.find((message) => message.includes('"result"') || message.includes('"error"'));
  if (reply.cut !== undefined || result === undefined) {
    return [`the stream ended after ${secondsText(reply.tookMs)} without an answer: ${reply.cut ?? "cut on the way"}`];
  }
  if (!result.includes(`"settled":`)) return [`it was refused: ${printable(result).slice(0, 300)}`];
  if (result.includes(`"settled":true`)) return [];
  if (!messages.some((message) => message.includes("notifications/progress"))) return ["no progress was shown"];
  if (reply.firstMs > SLACK_MS && reply.tookMs - reply.firstMs < SLACK_MS) {
    return [
      `nothing was heard for ${secondsText(reply.firstMs)}: something on the way keeps streams back until they end`,
    ];
  }
  return [];
}

/** Says in a line why a reply is not what was wanted. */
function reasonOf({ status, json, cut, tookMs, retryAfterS }: ServerReply): string {
  if (cut !== undefined) return `the connection was cut after ${secondsText(tookMs)}: ${cut}`;
  const { error } = json as { error?: { code?: unknown; message?: unknown } };
  const again = retryAfterS === undefined ? "" : ` (again in ${retryAfterS} s)`;
  if (typeof error?.message !== "string") return `something on the way answers ${status}`;
  return `${printable(`${String(error.code)}: ${error.message}`)}${again}`;
}

function leftText({ limit }: ServerReply): string {
  if (!limit) return "unknown";
  return `${limit.remaining} of ${limit.limit}, full again at ${localTime(limit.resetS * 1000)}`;
}

const secondsText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
