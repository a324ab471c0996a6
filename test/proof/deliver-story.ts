import type { DatabaseName } from "../support/world.ts";
import { type Ended, isRunning, openSite, type Process, type Site } from "./kill-process.ts";

/** A mail as the mail server took it. */
export interface Mail {
  to: readonly string[];
  raw: string;
}

export interface DeliverStory {
  kills: number;
  pointsHit: string[];
  asks: number;
  mails: number;
  /** Mails that repeat another one. */
  again: number;
  decisions: number;
}

interface Plan {
  on: DatabaseName;
  points: readonly string[];
  cycles: number;
  random: () => number;
  trace: boolean;
  mails: readonly Mail[];
  smtpUrl: string;
  onProblem: (says: string) => void;
}

/** Somebody who is asked, and by whose key it is answered. */
interface Person {
  id: string;
  address: string;
  key: string;
}

interface Call {
  id: string;
  person: Person;
  approved: boolean;
  /** The reply to the decision, once one came. */
  told?: { approved: boolean };
}

const PEOPLE = 4;
/** A server dies the first time it comes to its point, or as late as the fourth. */
const MOST_HITS = 4;
const CALLS_PER_CYCLE = 8;
const BASE = "/a2h/v1alpha1";
/** On a busy machine a server takes its time to come to its point. */
const SETTLED_WITHIN_MS = 240_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks people, has them decide, and kills the server meanwhile, once for each point and each cycle. */
export async function deliverStory(plan: Plan): Promise<DeliverStory> {
  const { on, random, mails, onProblem } = plan;
  await using site = await openSite(on, {
    PARLEY_EMAIL_SMTP_URL: plan.smtpUrl,
    PARLEY_EMAIL_FROM: "parley@example.com",
    PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
    PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000000",
    PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "1000000",
  });
  const trace = (line: string) => plan.trace && console.error(`deliver, ${on}: ${line}`);
  const story: DeliverStory = { kills: 0, pointsHit: [], asks: 0, mails: 0, again: 0, decisions: 0 };
  const calls: Call[] = [];
  let server = await begin(site);
  const admin = await site.run(["keys", "create", "admin", "--scope", "admin"]);
  const people = await enrol();

  const deaths = [...plan.points, ...Array.from({ length: plan.cycles }, () => null)];
  for (const point of deaths) {
    trace(point ?? "at any time");
    server.signal("SIGTERM");
    await server.ended;
    const at = point === null ? undefined : { point, hit: 1 + Math.floor(random() * MOST_HITS) };
    const rigged = await site.start(at && { at });
    if (!isRunning(rigged)) {
      // The messages left to send may have brought the server to the point before it printed its greeting.
      if (point === null || rigged.signal !== "SIGKILL") throw notStarted(rigged);
      story.kills += 1;
      story.pointsHit.push(point);
      server = await begin(site);
      continue;
    }
    server = rigged;
    const ended = server.ended;
    if (point === null) setTimeout(() => server.signal("SIGKILL"), 50 + random() * 900);
    const dying = server;
    const working = work();
    const { signal } = await Promise.race([ended, pause(SETTLED_WITHIN_MS).then(() => ({ signal: null }))]);
    if (signal === "SIGKILL") {
      story.kills += 1;
      if (point !== null) story.pointsHit.push(point);
    } else {
      onProblem(`the server was to die at ${point ?? "any time"}, and lived on`);
      dying.signal("SIGKILL");
    }
    server = await begin(site);
    await working;
  }
  await check();
  server.signal("SIGTERM");
  await server.ended;
  for (const broken of await site.examine()) onProblem(broken);
  return { ...story, asks: calls.length, mails: mails.length, decisions: calls.filter(({ told }) => told).length };

  async function enrol(): Promise<Person[]> {
    const enrolled: Person[] = [];
    for (let i = 0; i < PEOPLE; i += 1) {
      const address = `person-${i}@example.com`;
      const body = { name: `Person ${i}`, description: "", prioritizedContactChannels: [{ email: { address } }] };
      const { id } = await insist<{ id: string }>("POST", "/humans", body, { authorization: `Bearer ${admin}` });
      const [row] = await site.query(`SELECT person_id FROM people WHERE number = ${Number(id)}`);
      const person = String(row?.["person_id"]);
      const key = await site.run(["keys", "create", `answers-${i}`, "--scope", "answer", "--person", person]);
      enrolled.push({ id, address, key });
    }
    return enrolled;
  }

  /** Asks, and has everybody answer. A client that gets no reply sends its request again. */
  async function work(): Promise<void> {
    await Promise.all(
      Array.from({ length: CALLS_PER_CYCLE }, async (_, i) => {
        const person = people[Math.floor(random() * people.length)];
        if (!person) return;
        const call: Call = { id: `call-${calls.length}-${i}`, person, approved: random() < 0.5 };
        calls.push(call);
        await insist("POST", "/function_calls", {
          run_id: "proof",
          call_id: call.id,
          spec: { fn: "pay", kwargs: { call: call.id }, channel: { human: { id: person.id } } },
        });
        while (mailsOf(call).length === 0) await pause(20);
        // Enough for any point to be met as often as it may have to be; the others are left until all that was interrupted
        // has been sent again.
        if (i < MOST_HITS || random() < 0.6) await decide(call);
      }),
    );
  }

  async function decide(call: Call): Promise<void> {
    const { status } = await insist<{ status: { approved: boolean } }>(
      "POST",
      `/agent/function_calls/${call.id}/respond`,
      { approved: call.approved, comment: "as planned" },
      { authorization: `Bearer ${call.person.key}` },
    );
    call.told = status;
  }

  function mailsOf(call: Call): Mail[] {
    return mails.filter(({ raw }) => new RegExp(`\\b${call.id}\\b`).test(raw));
  }

  /** Repeats a request until it is answered with something other than "not now". */
  async function insist<T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    for (;;) {
      try {
        const reply = await fetch(`${server.url}${BASE}${path}`, {
          method,
          headers: { "content-type": "application/json", "x-agent-id": "proof-bot", ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await reply.text();
        if (reply.ok) return JSON.parse(text) as T;
        if (reply.status < 500) throw new Error(`${method} ${path} was answered with ${reply.status} ${text}`);
      } catch (error) {
        if (error instanceof Error && error.message.startsWith(`${method} `)) throw error;
      }
      await pause(50);
    }
  }

  async function check(): Promise<void> {
    // A message whose sender died is a rival's again when its lease is over.
    await site.sleepFor(120_000);
    server.signal("SIGTERM");
    await server.ended;
    server = await begin(site);
    await settled(["queued", "sending"], "sent");
    for (const call of calls) if (!call.told) await decide(call);
    await settled(["queued", "sending", "sent", "closing"], "closed");

    for (const call of calls) {
      const sent = mailsOf(call);
      const others = sent.flatMap(({ to }) => to).filter((address) => address !== call.person.address);
      if (sent.length === 0) onProblem(`${call.person.address} never heard of ${call.id}`);
      if (others.length > 0) onProblem(`${others.join(", ")} heard of ${call.id}, which asks ${call.person.address}`);
      const ids = new Set(sent.map(({ raw }) => /^Message-ID: (\S+)/im.exec(raw)?.[1]));
      if (ids.size > 1) onProblem(`${call.id} was told in ${ids.size} different messages`);
      story.again += Math.max(0, sent.length - 1);

      const now = await insist<{ status: { approved?: boolean } }>("GET", `/function_calls/${call.id}`, undefined);
      if (now.status.approved !== call.approved)
        onProblem(`${call.id} was decided ${call.approved}, and is ${now.status.approved}`);
      if (call.told && call.told.approved !== call.approved) onProblem(`whoever decided ${call.id} heard the opposite`);
    }
    const decided = await site.query(`SELECT ask_id, count(*) AS n FROM audit
      WHERE action IN ('function_call.approved', 'function_call.rejected') GROUP BY ask_id HAVING count(*) > 1`);
    if (decided.length > 0) onProblem(`${decided.length} calls were decided more than once`);
  }

  /** Waits until no message is in one of these states; reminders of what is open have time. */
  async function settled(states: readonly string[], called: string): Promise<void> {
    const left = async () => {
      const [row] = await site.query(
        `SELECT count(*) AS n FROM deliveries WHERE kind = 'ask' AND state IN (${states.map((state) => `'${state}'`).join()})`,
      );
      return Number(row?.["n"]);
    };
    const until = performance.now() + SETTLED_WITHIN_MS;
    while ((await left()) > 0 && performance.now() < until) await pause(50);
    const count = await left();
    if (count > 0) onProblem(`${count} messages were never ${called}`);
  }
}

async function begin(site: Site): Promise<Process> {
  const outcome = await site.start();
  if (!isRunning(outcome)) throw notStarted(outcome);
  return outcome;
}

const notStarted = (outcome: Ended) => new Error(`the server did not start: ${JSON.stringify(outcome)}`);
