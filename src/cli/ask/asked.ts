import { ParleyError } from "@parley/sdk/errors";
import { A2H } from "@parley/sdk/connection";
import type { Answer, Ask, McpRequest, Question } from "@parley/sdk/wire";
import { localTime } from "../../lib/local-time.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { printable, printableLines } from "../../lib/printable.ts";
import { toolRequestLines } from "./asked-mcp.ts";
import { requestLines, type PeopleRequest } from "./asked-people.ts";
import { CLIENT_FLAGS, type Command, command, type Io } from "../command.ts";
import { connectAgent } from "../agent-connection.ts";
import { itemLines, questionLines } from "./question-lines.ts";
import { print } from "../print.ts";
import { openClient, serverUrl } from "../server-client.ts";

/** Something that was asked, as the server says it and as people read it. */
interface Asked {
  wire: object;
  lines: string[];
}

/** One kind of what can be asked. */
interface Kind {
  read(id: string): Promise<Asked>;
  cancel(id: string): Promise<Asked>;
}

/** Makes one request and returns the body of the reply. */
type DoorCall = <T>(method: "GET" | "POST" | "DELETE", path: string) => Promise<T>;

/** Every kind, in the order in which an id is looked for. */
function kindsAt(url: string, io: Io): Kind[] {
  const connection = connectAgent(url, io);
  const call: DoorCall = (method, path) =>
    connection.call(method, path, { signal: io.interrupted, ...(method === "POST" && { body: {} }) });
  const client = openClient(url, io.env);
  return [
    {
      read: async (id) => asQuestion(await client.check(id)),
      cancel: async (id) => asQuestion(await client.cancel(id)),
    },
    // Before A2H, which knows them too: they are shown as their agent knows them.
    byTool(call),
    toPeople(call, "/function_calls", "/agent/function_calls"),
    toPeople(call, "/human_contacts", "/agent/human_contacts"),
    toPeople(call, "/messages", "/messages"),
    relayed(call),
  ];
}

const asQuestion = (wire: Question): Asked => ({ wire, lines: questionLines(wire) });

function toPeople(call: DoorCall, readAt: string, cancelAt: string): Kind {
  const asked = (wire: PeopleRequest) => ({ wire, lines: requestLines(wire) });
  return {
    read: async (id) => asked(await call("GET", `${A2H}${readAt}/${encodeURIComponent(id)}`)),
    cancel: async (id) => asked(await call("POST", `${A2H}${cancelAt}/${encodeURIComponent(id)}/cancel`)),
  };
}

/** Requests that agents make to people by an MCP tool. */
function byTool(call: DoorCall): Kind {
  const asked = (wire: McpRequest) => ({ wire, lines: toolRequestLines(wire) });
  const path = (id: string) => `/mcp/requests/${encodeURIComponent(id)}`;
  return {
    read: async (id) => asked(await call("GET", path(id))),
    cancel: async (id) => asked(await call("DELETE", path(id))),
  };
}

/** Asks of executors. */
function relayed(call: DoorCall): Kind {
  async function asked(ask: Ask): Promise<Asked> {
    const isOpen = ask.status === "PENDING";
    const path = `/asks/${encodeURIComponent(ask.ask_id)}/answer?wait=0`;
    const answer = isOpen ? undefined : await call<Answer>("GET", path);
    return {
      wire: { ask, ...(answer && { answer }) },
      lines: [
        ...printableLines(ask.prompt),
        ...(answer ? relayAnswerLines(answer) : []),
        isOpen ? `open until ${localTime(ask.expires_at)}` : `${ask.status.toLowerCase()}${byWhom(answer)}`,
      ],
    };
  }
  return {
    read: async (id) => asked(await call("GET", `/asks/${encodeURIComponent(id)}`)),
    cancel: async (id) => asked(await call("DELETE", `/asks/${encodeURIComponent(id)}`)),
  };
}

function relayAnswerLines({ answer_text: text, answer_json: json, error }: Answer): string[] {
  const texts = [text, json === undefined ? undefined : canonicalExact(json), error];
  return texts.filter((words) => words !== undefined).flatMap((words) => itemLines(words));
}

function byWhom({ answered_by: name }: Partial<Answer> = {}): string {
  return name === undefined ? "" : ` by ${printable(name)}`;
}

/** Returns what was asked under an id, and its kind. @throws {Error} one sentence where there is nothing */
async function find(kinds: readonly Kind[], id: string): Promise<{ kind: Kind; asked: Asked }> {
  const refusals: ParleyError[] = [];
  for (const kind of kinds) {
    try {
      return { kind, asked: await kind.read(id) };
    } catch (error) {
      if (!isElsewhere(error)) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  const isKeyRefused = refusals.every(({ status }) => status !== 404);
  if (first && (isKeyRefused || id.startsWith("q_"))) throw first;
  throw new Error(
    `you have asked nothing under the id ${printable(id)}; a task of a coding agent is shown by: parley task show ID`,
  );
}

/** Whether an id may still be of another kind, or of one that this key is good for. */
function isElsewhere(error: unknown): error is ParleyError {
  return error instanceof ParleyError && [401, 403, 404].includes(error.status);
}

function onAsked(example: string, act: (kinds: readonly Kind[], id: string) => Promise<Asked>): Command {
  return command({
    takes: { ID: "", ...CLIENT_FLAGS },
    example,
    async run({ id, url, json }, io) {
      const { wire, lines } = await act(kindsAt(serverUrl(url, io.env), io), id);
      return print(json, wire, lines, io);
    },
  });
}

export const check = onAsked(
  "parley check q_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async (kinds, id) => (await find(kinds, id)).asked,
);

export const cancel = onAsked("parley cancel q_4Jx0mT9bVq2Lr7Hs1Zc8Wd", async (kinds, id) =>
  (await find(kinds, id)).kind.cancel(id),
);
