import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, type Reply } from "../support/world.ts";
import { openSite, type Process } from "./kill-process.ts";
import { ended, pause, started } from "./kill-steps.ts";
import type { Aside } from "./kill-story.ts";

/** The state that the person and the agent know. */
interface Memory {
  person: string;
  agent: string;
  acknowledged: Set<string>;
  /** The number under which the conversation goes on. */
  number: number;
}

type Ask = (by: "person" | "agent", method: string, path: string, body?: unknown) => Promise<Reply | null>;

/** One message or acknowledgement, sent again in the same words until it is acknowledged. */
interface Deed {
  name: string;
  send(ask: Ask, memory: Memory): Promise<Reply | null>;
}

const DIES_WITHIN_MS = 20_000;
const A2H = "/a2h/v1alpha1";
const OWN = "/people/me/conversations";
const [BEGINNING, MORE, ANSWER] = ["The export failed again", "It is the nightly one", "On Tuesday"];

const DEEDS: readonly Deed[] = [
  {
    name: "begin",
    async send(ask, memory) {
      const reply = await ask("person", "POST", OWN, { entry_point: "support", text: BEGINNING, id: "one" });
      memory.number = reply?.body.id ?? memory.number;
      return reply;
    },
  },
  {
    name: "say more",
    send: (ask, { number }) => ask("person", "POST", `${OWN}/${number}/messages`, { text: MORE, id: "two" }),
  },
  {
    name: "take",
    async send(ask) {
      const listed = await ask("agent", "GET", `${A2H}/conversations?all=true`);
      const uid = listed?.body.items?.[0]?.metadata.uid;
      return listed && ask("agent", "POST", `${A2H}/conversations/${uid}/ack`, {});
    },
  },
  {
    name: "ask back",
    send: (ask, { number }) =>
      ask("agent", "POST", `${A2H}/human_contacts`, {
        run_id: "run",
        call_id: "when",
        spec: { msg: "Since when?", channel: { channel_id: String(number) } },
      }),
  },
  {
    name: "answer",
    send: (ask, { number }) => ask("person", "POST", `${OWN}/${number}/messages`, { text: ANSWER, id: "three" }),
  },
];

/**
 * Kills the server at a point of a conversation's life. Each acknowledged message holds after the next start, and each
 * unacknowledged one is sent again. In the end every message was stored once, in its order, under one number
 * (spec/invariants D1, I1).
 */
export async function conversationDay({ on, step: { at }, story, report }: Aside): Promise<void> {
  if (!at) throw new Error("a day of a conversation is for a point");
  await using site = await openSite(on);
  mkdirSync(site.dataDir, { recursive: true, mode: 0o700 });
  const settings = { a2h: { entry_points: { support: { agent: "support", inbox: true } } } };
  writeFileSync(join(site.dataDir, "parley.yaml"), JSON.stringify(settings));
  const told = (problem: string): void => report([`${at.point}: ${problem}`]);
  const key = (...more: string[]) => site.run(["keys", "create", ...more]);
  const agent = await key("support", "--scope", "agent");
  const person = await key("phone", "--scope", "answer", "--person", await site.run(["people", "add", "Ana Ruiz"]));
  const memory: Memory = { person, agent, acknowledged: new Set(), number: 0 };

  const dying = await started(site, at);
  await live(dying, memory, told);
  const end = await Promise.race([dying.ended, pause(DIES_WITHIN_MS)]);
  if (end?.signal !== "SIGKILL") {
    dying.signal("SIGKILL");
    await dying.ended;
    return told("the server was to die there and did not");
  }
  story.pointsHit.push(at.point);

  const server = await started(site, undefined);
  for (const problem of await missing(asking(server, memory), memory)) told(`D1: ${problem}`);
  if (!(await live(server, memory, told))) told("the conversation did not end after the next start");
  for (const problem of await missing(asking(server, memory), memory)) told(`I1: ${problem}`);
  await ended(server, "SIGTERM");
  report(await site.examine());
}

/** Does whatever was not acknowledged yet, in order; false when the server went away meanwhile. */
async function live(server: Process, memory: Memory, told: (problem: string) => void): Promise<boolean> {
  const ask = asking(server, memory);
  for (const { name, send } of DEEDS) {
    if (memory.acknowledged.has(name)) continue;
    const reply = await send(ask, memory);
    if (!reply) return false;
    if (reply.status >= 300) {
      told(`"${name}" was answered ${reply.status} ${reply.text}`);
      return false;
    }
    memory.acknowledged.add(name);
  }
  return true;
}

/** Returns what was acknowledged and is not there, and what is there twice or elsewhere. */
async function missing(ask: Ask, { acknowledged, number }: Memory): Promise<string[]> {
  const has = (name: string) => acknowledged.has(name);
  const items: { spec: { message: string; channel_id: string; raw: { follow_up: boolean } } }[] =
    (await ask("agent", "GET", `${A2H}/conversations?all=true`))?.body.items ?? [];
  const problems: string[] = [];
  for (const [name, words, isMore] of [
    ["begin", BEGINNING, false],
    ["say more", MORE, true],
  ] as const) {
    const own = items.filter(({ spec }) => spec.message === words);
    if (own.length > 1 || (has(name) && own.length === 0)) problems.push(`"${words}" is there ${own.length} times`);
    for (const { spec } of own) {
      const isElsewhere = has("begin") && spec.channel_id !== String(number);
      if (isElsewhere || spec.raw.follow_up !== isMore) problems.push(`"${words}" stands as ${JSON.stringify(spec)}`);
    }
  }
  const other = items.find(({ spec }) => spec.message !== BEGINNING && spec.message !== MORE);
  if (other) problems.push(`"${other.spec.message}" was passed on, and answers a question`);
  if (items.length > 1 && items[0]?.spec.message !== BEGINNING) problems.push("what was said first is not first");
  const open = (await ask("agent", "GET", `${A2H}/conversations`))?.body.items ?? [];
  if (has("take") && open.length !== items.length - 1)
    problems.push(`${open.length} of ${items.length} wait, one taken`);
  const contact = await ask("agent", "GET", `${A2H}/human_contacts/when`);
  if (has("ask back") && contact?.status !== 200) problems.push("what the agent asked back is gone");
  const said: unknown = contact?.body.status?.response;
  if (has("answer") && said !== ANSWER) problems.push(`the answer is ${JSON.stringify(said)}`);
  return problems;
}

function asking(server: Process, memory: Memory): Ask {
  return (by, method, path, body) =>
    call(`${server.url}${path}`, method, {
      headers: { authorization: `Bearer ${memory[by]}` },
      ...(body !== undefined && { body }),
    }).catch(() => null);
}
