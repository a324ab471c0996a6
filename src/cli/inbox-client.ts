import { ParleyError } from "@parley/sdk/errors";
import { Redirected, systemFetch } from "../lib/fetch.ts";
import { readKeyText } from "../lib/key-text.ts";
import type { Io } from "./command.ts";
import { ownKey } from "./questions.ts";

/** An ask as the list of the inbox has it. */
export interface InboxRequest {
  id: string;
  kind: "approval" | "reply" | "value";
  title: string;
  /** What tells it from others, and how risky it looks; an older server says neither. */
  sentence?: string;
  risk?: "low" | "normal" | "high";
  fn: string | null;
  agent: string;
  state: "open" | "answered" | "expired" | "cancelled";
  expires_at: string | null;
  outcome: { approved: boolean | null; by: { name: string | null } | null } | null;
}

/** One page of what waits. */
export interface ListedPage {
  asks: InboxRequest[];
  /** What the next page goes on behind; null after the last. */
  next: string | null;
  /** With the first page: how many wait in all. */
  counts: { all: number } | null;
}

/** An ask with everything that its reader may see. */
export interface InboxRequestDetail extends InboxRequest {
  run: string | null;
  words: string;
  arguments: { name: string; text: string; secret: boolean; masked: string | null }[] | null;
  digest: string | null;
  options: { name: string; title: string; description: string | null; prompt_fill: string | null }[];
  schema: object | null;
  editable: boolean;
  on_silence: string;
  may_decide: boolean;
  needs: { rule: string; of: number; least: number };
  decisions: { by: { name: string | null }; mine: boolean; approved: boolean | null; comment: string | null }[];
}

export interface DecisionBody {
  approved?: boolean;
  comment?: string;
  option?: string;
  text?: string;
  value?: unknown;
  digest?: string;
}

/** The server has declined, in a sentence for people. */
export class Declined extends Error {
  readonly status: number;

  constructor(status: number, says: string) {
    super(says);
    this.status = status;
  }
}

const KEY_WANTED =
  "the inbox is one person's: set PARLEY_KEY to a key of scope answer; whoever runs the server makes one with: parley keys create NAME --scope answer --person 1";

/** What is addressed to the person of a key. */
export interface Inbox {
  list(before?: string): Promise<ListedPage>;
  /** Every page, one after another. */
  listAll(): Promise<InboxRequest[]>;
  read(id: string): Promise<InboxRequestDetail>;
  /** @throws {Declined} */
  decide(id: string, decision: DecisionBody): Promise<InboxRequestDetail>;
}

/** Returns the inbox of the person whose answer key is in `PARLEY_KEY`. @throws {Error} one sentence */
export function openInbox(url: string, io: Io): Inbox {
  const key = ownKey(url, io.env);
  if (!key) throw new Error(KEY_WANTED);
  const read = readKeyText(key);
  if (read.is === "key" && read.scope !== "answer") {
    throw new Error(`PARLEY_KEY is a key of scope ${read.scope}, and who asks never answers; ${KEY_WANTED}`);
  }

  async function call<T>(method: "GET" | "POST", path: string, body?: DecisionBody): Promise<T> {
    let reply: Response;
    try {
      reply = await systemFetch(`${url}/people/me${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: io.interrupted,
      });
    } catch (cause) {
      if (io.interrupted.aborted || cause instanceof Redirected) throw cause;
      throw new ParleyError("UNREACHABLE", `no server answers at ${url}`, { cause });
    }
    const said = (await reply.json().catch(() => ({}))) as { error?: { message?: string } };
    if (reply.ok) return said as T;
    if (reply.status === 401) throw new Error(KEY_WANTED);
    throw new Declined(reply.status, said.error?.message ?? `The server replied with status ${reply.status}.`);
  }

  const pathOf = (id: string) => `/asks/${encodeURIComponent(id)}`;
  const list = (before?: string): Promise<ListedPage> =>
    call("GET", before === undefined ? "/asks" : `/asks?before=${encodeURIComponent(before)}`);
  return {
    list,
    async listAll() {
      const asks: InboxRequest[] = [];
      for (let before: string | undefined; ;) {
        const page = await list(before);
        asks.push(...page.asks);
        if (page.next === null) return asks;
        before = page.next;
      }
    },
    read: (id) => call("GET", pathOf(id)),
    decide: (id, decision) => call("POST", `${pathOf(id)}/decision`, decision),
  };
}
