import type { DatabaseName } from "../support/world.ts";
import { isRunning, openSite, type Process, type Site } from "./kill-process.ts";
import { followForEver, type Follower } from "./relay-follower.ts";

export interface RelayStory {
  kills: number;
  asks: number;
  answers: number;
  events: number;
  /** The most that a deadline was kept too late while a server was there, in ms. */
  latenessMs: number;
}

/** While a server was there, on the site's clock. */
interface Life {
  from: number;
  to: number;
}

interface Plan {
  on: DatabaseName;
  points: readonly { point: string; mostHits: number }[];
  cycles: number;
  random: () => number;
  trace: boolean;
  /** True when no further kill is wanted. */
  isOver: () => boolean;
  onProblem: (says: string) => void;
}

/** How an ask is to end. */
const ENDS = ["service", "person", "policy", "deadline", "withdrawn", "job"] as const;
type End = (typeof ENDS)[number];

interface Asked {
  id: string;
  job: string;
  end: End;
  /** The answer as its sender got it in the reply, once there was one. */
  told?: Record<string, unknown>;
}

const ROUNDS_PER_LIFE = 2;
const DIES_WITHIN_MS = 30_000;
const SETTLED_WITHIN_MS = 20_000;
/** A deadline that was kept this late was forgotten; how late the others are is printed: the machine decides it. */
const FORGOTTEN_MS = 5000;
const LONG_JOB = "J-followed";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Executors ask, others answer, and the server is killed meanwhile, once for each point and each cycle. */
export async function relayStory(plan: Plan): Promise<RelayStory> {
  const { on, random, onProblem } = plan;
  await using site = await openSite(on, { PARLEY_RELAY_REQUESTS_PER_SECOND: "1000000" });
  const trace = (line: string) => plan.trace && console.error(`relay, ${on}: ${line}`);
  const story: RelayStory = { kills: 0, asks: 0, answers: 0, events: 0, latenessMs: 0 };
  const asked: Asked[] = [];
  const lives: Life[] = [];
  let server = await surely(begin(site, lives));
  const keys = await makeKeys();
  await insist(keys.executor, "POST", "/asks", { body: { ...bodyOf("ask-first", LONG_JOB, "policy") } });
  const follower = followForEver(() => server.url, `/jobs/${LONG_JOB}/events`, keys.executor);

  // Whatever one life of the server left undone is done in the next.
  const working: Promise<void>[] = [];
  await stop(server);
  for (const death of [...plan.points, ...Array.from({ length: plan.cycles }, () => null)]) {
    if (plan.isOver()) break;
    const at = death && { point: death.point, hit: 1 + Math.floor(random() * death.mostHits) };
    trace(at ? `${at.point}, time ${at.hit}` : "at any time");
    const dying = await begin(site, lives, at ?? undefined);
    if (!dying) {
      // It died before it was ready: what came due meanwhile passed there.
      story.kills += 1;
      continue;
    }
    server = dying;
    if (!at) setTimeout(() => dying.signal("SIGKILL"), 50 + random() * 1500);
    working.push(work());
    const ended = await Promise.race([dying.ended, pause(DIES_WITHIN_MS)]);
    if (ended?.signal === "SIGKILL") story.kills += 1;
    else onProblem(`the server was to die at ${at?.point ?? "any time"}, and lived on`);
    dying.signal("SIGKILL");
    await dying.ended;
  }
  server = await surely(begin(site, lives));
  await Promise.all(working);
  await check(follower);
  await stop(server);
  for (const broken of await site.examine()) onProblem(broken);
  return story;

  async function makeKeys() {
    const [operator] = await site.query(`SELECT person_id FROM people WHERE role = 'admin'`);
    const person = String(operator?.["person_id"]);
    return {
      executor: await site.run(["keys", "create", "runs", "--scope", "executor"]),
      service: await site.run(["keys", "create", "knows", "--scope", "answer"]),
      person: await site.run(["keys", "create", "dana", "--scope", "answer", "--person", person]),
    };
  }

  async function work(): Promise<void> {
    const rounds = Array.from({ length: ROUNDS_PER_LIFE }, () => ENDS).flat();
    await Promise.all(
      rounds.map(async (end, i) => {
        await pause(random() * 400);
        const id = `ask-${asked.length}-${i}`;
        const one: Asked = { id, end, job: end === "job" || i % 2 === 0 ? `J-${id}` : LONG_JOB };
        asked.push(one);
        await insist(keys.executor, "POST", "/asks", { body: bodyOf(id, one.job, end) });
        await bringAbout(one);
        const answer = await heard(one);
        if (one.told && JSON.stringify(one.told) !== JSON.stringify(answer)) {
          onProblem(`${id} was told as ${JSON.stringify(one.told)}, and is ${JSON.stringify(answer)}`);
        }
      }),
    );
  }

  /** Does what is to end an ask, and says it again until that is acknowledged. */
  async function bringAbout(one: Asked): Promise<void> {
    const { id, job, end } = one;
    const ids = { ask_id: id, job_id: job, step_id: "S-1" };
    if (end === "service") {
      const body = { ...ids, status: "ANSWERED", answer_text: `answer to ${id}` };
      one.told = await insist(keys.service, "POST", "/answers", { body });
    } else if (end === "person") {
      const body = { ...ids, status: "ANSWERED", answer_json: { approved: true } };
      // Until it has come to people, there is nothing that a person could decide.
      one.told = await insist(keys.person, "POST", "/answers", { body, notYet: [404] });
    } else if (end === "withdrawn") {
      await insist(keys.executor, "DELETE", `/asks/${id}`);
    } else if (end === "job") {
      await insist(keys.executor, "POST", `/jobs/${job}/finish`, { body: { state: "SUCCEEDED" } });
    }
  }

  /** Waits for an answer as an executor does: over and over, until there is one. */
  async function heard({ id, end }: Asked): Promise<Record<string, unknown>> {
    for (;;) {
      const answer = await insist(keys.executor, "GET", `/asks/${id}/answer?wait=10s`);
      if (Object.keys(answer).length === 0) continue;
      const { source, status } = answer;
      if (`${String(source)} ${String(status)}` !== EXPECTED[end])
        onProblem(`${id} (${end}) ended ${status} by ${source}`);
      return answer;
    }
  }

  /** Repeats a request until it is answered with something other than "not now". */
  async function insist(
    key: string,
    method: string,
    path: string,
    { body, notYet = [] }: { body?: unknown; notYet?: readonly number[] } = {},
  ): Promise<Record<string, unknown>> {
    for (;;) {
      const reply = await fetch(`${server.url}${path}`, {
        method,
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
        .then(async (response) => ({ status: response.status, ok: response.ok, text: await response.text() }))
        .catch(() => null);
      if (reply?.ok) return reply.text === "" ? {} : (JSON.parse(reply.text) as Record<string, unknown>);
      if (reply && reply.status < 500 && !notYet.includes(reply.status)) {
        throw new Error(`${method} ${path} was answered with ${reply.status} ${reply.text}`);
      }
      await pause(40);
    }
  }

  async function check(follower: Follower): Promise<void> {
    story.asks = asked.length;
    const open = async () =>
      (
        await site.query(`SELECT p.ask_id FROM requests p JOIN asks a ON a.addressed_id = p.ask_id
          WHERE p.state = 'open' AND a.status <> 'PENDING'`)
      ).length;
    for (const end = performance.now() + SETTLED_WITHIN_MS; (await open()) > 0 && performance.now() < end;)
      await pause(100);
    if ((await open()) > 0) onProblem(`${await open()} asks are over that people still see open`);

    const rows = await site.query(`SELECT a.ask_id, a.status, a.expires_at, b.status AS said, b.source, b.created_at
      FROM asks a LEFT JOIN answers b ON b.ask_id = a.ask_id`);
    const byId = new Map(rows.map((row) => [String(row["ask_id"]), row]));
    for (const { id } of asked) {
      const row = byId.get(id);
      if (!row) onProblem(`D1: ${id} was acknowledged and is gone`);
      else if (row["status"] === "PENDING" || row["said"] !== row["status"]) {
        onProblem(`${id} is ${String(row["status"])}, and its answer ${String(row["said"])}`);
      }
    }
    for (const row of rows.filter(({ said }) => said === "TIMEOUT")) {
      const [due, at] = [Number(row["expires_at"]), Number(row["created_at"])];
      // A request that came due while no server was running is settled by the next one, before it is ready.
      const life = lives.find(({ from, to }) => from <= at && at <= to);
      const since = life ? Math.max(due, life.from) : at;
      story.latenessMs = Math.max(story.latenessMs, at - since);
      if (at < due) onProblem(`${String(row["ask_id"])} timed out ${due - at} ms too early`);
      if (at - since > FORGOTTEN_MS) onProblem(`T1: ${String(row["ask_id"])} timed out ${at - since} ms late`);
    }
    story.answers = rows.filter(({ said }) => said !== null).length;
    await checkEvents(rows.length);

    const [last] = await site.query(`SELECT seq FROM jobs WHERE job_id = '${LONG_JOB}'`);
    const newest = Number(last?.["seq"]);
    for (const end = performance.now() + SETTLED_WITHIN_MS; performance.now() < end;) {
      if ((follower.seen.at(-1) ?? 0) >= newest) break;
      await pause(100);
    }
    await follower.stop();
    const wrong = follower.seen.findIndex((seq, i) => seq !== i + 1);
    if (wrong >= 0) onProblem(`S1: event ${wrong + 1} came to a follower as ${follower.seen[wrong]}`);
    if (follower.seen.length !== newest) onProblem(`S1: a follower saw ${follower.seen.length} events of ${newest}`);
  }

  /** Every job's numbers have no gap, and every ask one answer among them. */
  async function checkEvents(asks: number): Promise<void> {
    const jobs = await site.query(`SELECT j.job_id, j.seq, j.state, j.pending_asks,
        (SELECT count(*) FROM job_events e WHERE e.job_id = j.job_id) AS kept,
        (SELECT max(e.seq) FROM job_events e WHERE e.job_id = j.job_id) AS newest FROM jobs j`);
    for (const job of jobs) {
      const [seq, kept, newest] = [job["seq"], job["kept"], job["newest"]].map(Number);
      if (seq !== kept || seq !== newest) onProblem(`S1: ${String(job["job_id"])} has ${kept} events of ${seq}`);
      if (Number(job["pending_asks"]) !== 0 || job["state"] === "WAITING_ON_ANSWER") {
        onProblem(`J3: ${String(job["job_id"])} waits for nothing`);
      }
      story.events += kept ?? 0;
    }
    const answered = await site.query(`SELECT body FROM job_events WHERE event = 'answer'`);
    const ids = answered.map(({ body }) => (JSON.parse(String(body)) as { ask_id: string }).ask_id);
    if (ids.length !== asks || new Set(ids).size !== asks) {
      onProblem(`${asks} asks were answered by ${ids.length} events, of ${new Set(ids).size} asks`);
    }
  }
}

const EXPECTED: Readonly<Record<End, string>> = {
  service: "service ANSWERED",
  person: "person ANSWERED",
  policy: "policy REJECTED",
  deadline: "server TIMEOUT",
  withdrawn: "server ERROR",
  job: "server ERROR",
};

function bodyOf(ask_id: string, job_id: string, end: End): object {
  const base = { ask_id, job_id, step_id: "S-1", prompt: `What of ${ask_id}?`, context_hash: "none" };
  if (end === "policy") return { ...base, ask_type: "APPROVAL", meta: { action: "write", env: "prod" } };
  if (end === "person") return { ...base, ask_type: "APPROVAL", meta: { action: "deploy" } };
  if (end === "deadline") return { ...base, ask_type: "CLARIFICATION", constraints: { timeout_s: 1 } };
  return { ...base, ask_type: "CLARIFICATION" };
}

/** Starts a server; nothing where it died at the point before it was ready. */
async function begin(site: Site, lives: Life[], at?: { point: string; hit: number }): Promise<Process | null> {
  const outcome = await site.start(at && { at });
  if (!isRunning(outcome)) {
    if (at && outcome.signal === "SIGKILL") return null;
    throw new Error(`the server did not start: ${JSON.stringify(outcome)}`);
  }
  const life: Life = { from: outcome.readyAt, to: Number.POSITIVE_INFINITY };
  lives.push(life);
  void outcome.ended.then(() => (life.to = site.now()));
  return outcome;
}

async function surely(starting: Promise<Process | null>): Promise<Process> {
  const server = await starting;
  if (!server) throw new Error("the server died where it was not to");
  return server;
}

async function stop(server: Process): Promise<void> {
  server.signal("SIGTERM");
  await server.ended;
}
