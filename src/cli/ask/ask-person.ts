import { newKey } from "@parley/sdk/idempotency-key";
import { ParleyError } from "@parley/sdk/errors";
import { systemClock } from "../../lib/clock.ts";
import { clockText } from "../../lib/duration.ts";
import { printable } from "../../lib/printable.ts";
import { requestLines, type PeopleRequest } from "./asked-people.ts";
import { EXIT, type Io } from "../command.ts";
import { openDoors, Refused, type DoorCall } from "../door-client.ts";
import { withLiveLine } from "../live-line.ts";
import { print } from "../print.ts";
import { A2H } from "../server-client.ts";

/** How long one read is held by the server. */
const HOLD_S = 50;
/** For how long after its deadline a server that is away is tried again. */
const LATE_MS = 60_000;
const PAUSE_MS = 1000;
const USUAL_TIMEOUT_S = 3600;
const LISTED = 5;

interface Human {
  id: string;
  name: string;
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
  const call = openDoors(url, io);
  const asked = await askedAs(call, question.to);
  const id = newKey();
  const request = await created(call, id, asked, question);
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
    () => settledOf(call, id, request, io),
  );
  if (settled === null) {
    io.tell(`The request stays open; see what becomes of it: parley check ${id}`);
    return EXIT.interrupted;
  }
  print(json, settled, requestLines(settled), io);
  if (settled.status.expired) return EXIT.unanswered;
  return settled.status.cancelled ? EXIT.refused : EXIT.done;
}

async function askedAs(call: DoorCall, to: string): Promise<Asked> {
  const { groups } = (await call("GET", `${A2H}/groups`)) as { groups: { name: string; humans: Human[] }[] };
  const group = groups.find(({ name }) => name === to);
  if (group) {
    const names = group.humans.map(({ name }) => name).join(", ");
    return { name: `${group.name} (${names === "" ? "nobody" : names})`, channel: { channel_id: group.name } };
  }
  const { id, name } = await humanCalled(call, to);
  return { name, channel: { human: { id } } };
}

/** Digits are an id; anything else is a name, as it is written down or a part of it that only one person has. */
async function humanCalled(call: DoorCall, to: string): Promise<Human> {
  if (/^\d+$/.test(to)) {
    return (await call("GET", `${A2H}/humans/${to}`).catch((error: unknown) => {
      throw error instanceof Refused && error.status === 404 ? new Error(`nobody has the id ${to}`) : error;
    })) as Human;
  }
  const humans = await humansOf(call, `${A2H}/humans/search?limit=200&q=${encodeURIComponent(to)}`);
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

/** Reads a list of humans to its end. */
async function humansOf(call: DoorCall, path: string): Promise<Human[]> {
  const all: Human[] = [];
  for (let from = ""; ;) {
    const { humans, nextCursor } = (await call("GET", `${path}${from}`)) as { humans: Human[]; nextCursor?: string };
    all.push(...humans);
    if (nextCursor === undefined) return all;
    from = `&cursor=${nextCursor}`;
  }
}

const folded = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

async function created(
  call: DoorCall,
  id: string,
  { channel }: Asked,
  question: PersonQuestion,
): Promise<PeopleRequest> {
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
  return (await call("POST", `${A2H}/human_contacts`, body)) as PeopleRequest;
}

/** Returns the request once it is over; a server that is away is tried until a minute after the deadline. */
async function settledOf(call: DoorCall, id: string, request: PeopleRequest, io: Io): Promise<PeopleRequest> {
  const giveUpAt = Date.parse(request.status.expires_at ?? "") + LATE_MS;
  for (let latest = request; ;) {
    if (latest.status.resolved_at !== undefined) return latest;
    const start = systemClock.monotonic();
    try {
      latest = (await call("GET", `${A2H}/human_contacts/${id}?wait=${HOLD_S}`)) as PeopleRequest;
      // A server that does not hold the read is not asked in a tight loop.
      if (systemClock.monotonic() - start < PAUSE_MS && latest.status.resolved_at === undefined) await pause();
    } catch (error) {
      if (!isPassing(error) || systemClock.now() > giveUpAt) throw error;
      await pause();
    }
    io.interrupted.throwIfAborted();
  }
  function pause(): Promise<void> {
    return systemClock.sleep(PAUSE_MS, io.interrupted);
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof Refused) return error.status === 429 || error.status >= 500;
  return error instanceof ParleyError && error.isPassing;
}

function leftText({ status }: PeopleRequest): string {
  return clockText(Date.parse(status.expires_at ?? "") - systemClock.now());
}
