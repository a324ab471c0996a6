import { ParleyError } from "@parley/sdk/errors";
import {
  Inbox as InboxClient,
  type AskToPeople,
  type InboxAskLine,
  type InboxDecision,
  type InboxPage,
} from "@parley/sdk/inbox";
import { systemFetch } from "../../lib/network/fetch.ts";
import { readKeyText } from "../../lib/secrets/key-text.ts";
import type { Io } from "../command.ts";
import { Refused } from "./refused.ts";
import { ownKey } from "../server-client.ts";

/** An ask as the list of the inbox has it: what the terminal shows of it. An older server says no `sentence` and no `risk`. */
export type InboxRequest = Pick<
  InboxAskLine,
  "id" | "kind" | "title" | "fn" | "agent" | "state" | "expires_at" | "outcome"
> &
  Partial<Pick<InboxAskLine, "sentence" | "risk">>;

/** One page of what waits. */
export interface ListedPage extends Pick<InboxPage, "next" | "counts"> {
  asks: InboxRequest[];
}

/** An ask with everything that its reader may see. */
export type InboxRequestDetail = InboxRequest & Omit<AskToPeople, keyof InboxAskLine>;

const KEY_WANTED =
  "the inbox is one person's: set PARLEY_KEY to a key of scope answer; whoever runs the server makes one with: parley keys create NAME --scope answer --person 1";

/** A program that holds a person's answer key and agent key would decide its own calls (spec/security 1). */
const OWN_AGENT =
  "The key of this agent is yours too, and a program that holds both would decide its own calls. Decide this one where you sign in:";

/** The inbox of a key's person. */
export interface Inbox {
  list(before?: string): Promise<ListedPage>;
  /** Every page, one after another. */
  listAll(): Promise<InboxRequest[]>;
  read(id: string): Promise<InboxRequestDetail>;
  /** @throws {Refused} */
  decide(id: string, decision: InboxDecision): Promise<InboxRequestDetail>;
}

/** Returns the inbox of the person whose answer key is in `PARLEY_KEY`. @throws {Error} one sentence */
export function openInbox(url: string, io: Io): Inbox {
  const key = ownKey(url, io.env);
  if (!key) throw new Error(KEY_WANTED);
  const read = readKeyText(key);
  if (read.kind === "key" && read.scope !== "answer") {
    throw new Error(`PARLEY_KEY is a key of scope ${read.scope}, and who asks never answers; ${KEY_WANTED}`);
  }

  const client = new InboxClient({ url, key, retries: 0, fetch: systemFetch });
  const signal = io.interrupted;

  async function plain<T>(request: Promise<T>): Promise<T> {
    return request.catch((error: unknown) => {
      if (!(error instanceof ParleyError)) throw error;
      if (error.status === 401) throw new Error(KEY_WANTED);
      const code: string = error.code;
      if (code === "SELF_RESPONSE") throw new Refused(error.status, `${OWN_AGENT} ${url}/inbox`);
      if (error.status > 0) throw new Refused(error.status, error.message);
      throw error.code === "UNREACHABLE"
        ? new ParleyError("UNREACHABLE", `no server answers at ${url}`, { cause: error })
        : error;
    });
  }

  const list = (before?: string): Promise<ListedPage> => plain(client.asks({ before, signal }));
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
    read: (id) => plain(client.ask(id, { signal })),
    decide: (id, decision) => plain(client.decide(id, decision, { signal })),
  };
}
