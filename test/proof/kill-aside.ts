import { isRunning, openSite, type Process, type Site } from "./kill-process.ts";
import type { Aside } from "./kill-story.ts";

const MANY = 10_000;
const ASKERS = 100;
/** A machine that is busy with something else is given another chance. */
const TRIES = 3;
/** R4 allows a start one second, and three with so many pending; of machines that differ, only the ratio can be held. */
const TIMES_AN_EMPTY_START = 3;
const HOUR_MS = 3_600_000;

/** A first start that was killed anywhere is taken up by the next, which hands out the first key (D10). */
export async function firstStart({ on, step: { at }, story, report }: Aside): Promise<void> {
  await using site = await openSite(on);
  const outcome = await site.start(at && { at });
  if (at && (isRunning(outcome) || outcome.signal !== "SIGKILL")) {
    return report([
      `the first start was to die at ${at.point} (time ${at.hit}) and did not: ${JSON.stringify(outcome)}`,
    ]);
  }
  if (at) story.pointsHit.push(at.point);

  const server = await startOn(site);
  server.signal("SIGKILL");
  await server.ended;
  if (!server.told.includes("PARLEY_KEY=parley_agent_")) {
    report([`D10: after a first start that died at ${at?.point} nobody was given the first key`]);
  }
  report(await site.examine());
}

/** Ready in time with 10,000 open questions, and with as many that came due while nobody was there (R4, T1). */
export async function manyPending({ on, story, report }: Aside): Promise<void> {
  await using site = await openSite(on);
  await using empty = await openSite(on);
  for (const one of [site, empty]) await killed(await startOn(one));
  await fill(site);

  const readyMsOf = async (one: Site): Promise<number> => {
    const server = await startOn(one);
    await killed(server);
    return server.readyMs;
  };
  const times: number[] = [];
  while (times.length < TRIES && Math.min(...times, Infinity) > TIMES_AN_EMPTY_START) {
    const emptyMs = await readyMsOf(empty);
    story.readyWithManyMs = await readyMsOf(site);
    times.push(story.readyWithManyMs / emptyMs);
  }
  if (Math.min(...times) > TIMES_AN_EMPTY_START) {
    const best = Math.min(...times).toFixed(1);
    report([`R4: with ${MANY} questions pending a start took at least ${best} times as long as with none`]);
  }

  await site.sleepFor(2 * HOUR_MS);
  const afterMany = await startOn(site);
  story.readyAfterManyMs = afterMany.readyMs;
  const [open] = await site.query(`SELECT count(*) AS n FROM questions WHERE state = 'open'`);
  if (Number(open?.["n"]) > 0)
    report([`T1: ${open?.["n"]} of ${MANY} questions were overdue when the server was ready`]);
  await killed(afterMany);
  report(await site.examine());
}

/** The rows that so many requests would have made; the requests themselves are the load's business. */
async function fill(site: Site): Promise<void> {
  const now = site.now() - (site.now() % 1000);
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})`;
  await site.query(`INSERT INTO questions (ask_id, door, asker, kind, prompt, audience, need, n, state, version, held, created_at,
      expires_at, wire)
    ${numbers} SELECT 'q_' || i, 'ask-a-human', 'open:' || (i % ${ASKERS}), 'text', 'Which one is it?', '["general"]', 5, 0, 'open', 1, 0,
      ${now}, ${now + HOUR_MS}, '{}' FROM n`);
  await site.query(`INSERT INTO events (stream, seq, kind, ask_id, version, at)
    ${numbers} SELECT 'asker:open:' || (i % ${ASKERS}), (i + ${ASKERS - 1}) / ${ASKERS}, 'ask.created', 'q_' || i, 1, ${now} FROM n`);
  await site.query(`INSERT INTO streams (id, seq, kept_from) SELECT stream, max(seq), 1 FROM events GROUP BY stream`);
}

async function startOn(site: Site): Promise<Process> {
  const outcome = await site.start();
  if (!isRunning(outcome)) throw new Error(`the server did not start: ${JSON.stringify(outcome)}`);
  return outcome;
}

async function killed(server: Process): Promise<void> {
  server.signal("SIGKILL");
  await server.ended;
}
