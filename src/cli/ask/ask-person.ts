import { newKey } from "@parley/sdk/idempotency-key";
import { ParleyError } from "@parley/sdk/errors";
import { A2H, type Connection, humansLike, outcomeOf } from "@parley/sdk/connection";
import type { GroupList, Human, HumanContact } from "@parley/sdk/wire";
import { systemClock } from "../../lib/clock.ts";
import { clockText } from "../../lib/duration.ts";
import { printable } from "../../lib/printable.ts";
import { requestLines } from "./asked-people.ts";
import { EXIT, type Io } from "../command.ts";
import { connectAgent } from "../agent-connection.ts";
import { withLiveLine } from "../live-line.ts";
import { print } from "../print.ts";

const USUAL_TIMEOUT_S = 3600;
const LISTED = 5;

/** The connection of an agent, and the signal that interrupts it. */
interface Agent {
  connection: Connection;
  signal: AbortSignal;
}

/** The recipient as the request names it, and as the terminal prints it. */
interface Asked {
  name: string;
  channel: object;
}

export interface PersonQuestion {
  prompt: string;
  /** A human's id or name, or the name of a group. */
  to: string;
  options: readonly string[] | undefined;
  timeoutSeconds: number | undefined;
}

/**
 * A named person, or a group, has been asked, and with `wait` has answered, or time is up. Returns the exit code.
 *
 * @throws {Error} one sentence where nobody or several people are called so
 */
export async function askPerson(
  question: PersonQuestion,
  { url, io, wait, json }: { url: string; io: Io; wait: boolean; json: boolean },
): Promise<number> {
  const agent = { connection: connectAgent(url, io), signal: io.interrupted };
  const asked = await askedAs(agent, question.to);
  const id = newKey();
  const request = await created(agent, id, asked, question);
  const name = printable(asked.name);
  io.tell(`${name} was asked, and finds it in the inbox: ${url}/inbox`);

  if (!wait) {
    print(json, request, [id], io);
    io.tell(`See what becomes of it: parley check ${id}`);
    return EXIT.done;
  }
  const settled = await withLiveLine(
    io,
    () => `waiting for ${name}, ${leftText(request)} left`,
    () => settledOf(agent, id, request),
  );
  if (settled === null) {
    io.tell(`The request stays open; see what becomes of it: parley check ${id}`);
    return EXIT.interrupted;
  }
  print(json, settled, requestLines(settled), io);
  if (settled.status.expired) return EXIT.unanswered;
  return settled.status.cancelled ? EXIT.refused : EXIT.done;
}

async function askedAs(agent: Agent, to: string): Promise<Asked> {
  const { connection, signal } = agent;
  const { groups } = await connection.call<GroupList>("GET", `${A2H}/groups`, { signal });
  const group = groups.find(({ name }) => name === to);
  if (group) {
    const names = group.humans.map(({ name }) => name).join(", ");
    return { name: `${group.name} (${names === "" ? "nobody" : names})`, channel: { channel_id: group.name } };
  }
  const { id, name } = await humanCalled(agent, to);
  return { name, channel: { human: { id } } };
}

/** Digits are an id; anything else is a name, as it is written down or a part of it that only one person has. */
async function humanCalled({ connection, signal }: Agent, to: string): Promise<Human> {
  if (/^\d+$/.test(to)) {
    return connection.call<Human>("GET", `${A2H}/humans/${to}`, { signal }).catch((error: unknown) => {
      throw error instanceof ParleyError && error.status === 404 ? new Error(`nobody has the id ${to}`) : error;
    });
  }
  const humans = await humansLike(connection, to, signal);
  const wanted = folded(to);
  const exact = humans.filter(({ name }) => folded(name) === wanted);
  const found = exact.length > 0 ? exact : humans.filter(({ name }) => folded(name).includes(wanted));
  const [only, ...more] = found;
  if (!only) throw new Error(`nobody is called ${printable(to)}; people are added with: parley people add NAME`);
  if (more.length === 0) return only;
  const some = found.slice(0, LISTED).map(({ id, name }) => `${printable(name)} (${id})`);
  throw new Error(
    `several people are called so; name one by id: ${some.join(", ")}${found.length > LISTED ? ", ..." : ""}`,
  );
}

const folded = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

async function created(
  { connection, signal }: Agent,
  id: string,
  { channel }: Asked,
  question: PersonQuestion,
): Promise<HumanContact> {
  const body = {
    run_id: "parley ask",
    call_id: id,
    spec: {
      msg: question.prompt,
      channel,
      ...(question.options && {
        response_options: question.options.map((title, i) => ({ name: `option_${i + 1}`, title })),
      }),
      timeout_seconds: question.timeoutSeconds ?? USUAL_TIMEOUT_S,
    },
  };
  return connection.call("POST", `${A2H}/human_contacts`, { body, signal });
}

/** Returns the request once it is over; a server that is away is tried until a minute after the deadline. */
function settledOf({ connection, signal }: Agent, id: string, request: HumanContact): Promise<HumanContact> {
  const waited = { path: `/human_contacts/${id}`, id, nameOf: ({ call_id }: HumanContact) => call_id };
  return outcomeOf(connection, waited, { signal }, request);
}

function leftText({ status }: HumanContact): string {
  return clockText(Date.parse(status.expires_at ?? "") - systemClock.now());
}
