import type { Decision } from "../../src/requests/model/request.ts";
import { Refusal } from "../../src/refusals.ts";
import { sql } from "../../src/core/store/sql.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { DATABASES, openWorld, type DatabaseName, type World } from "../support/world.ts";
import type { Harness, HarnessOptions, HarnessReport } from "./harness.ts";

const ANSWERS = 10_000;
const LONG_ROUNDS_PER_HOUR = 20;
/** The most people that one request can name. */
const PEOPLE = 25;
const MOST_MEGABYTES = 500;
/** Ten times what a machine needs that does much else besides. */
const MOST_SECONDS = 300;
const REPEAT = "npm run prove -- many";

interface Raced {
  taken: number;
  /** The same person answered the same before. */
  again: number;
  late: number;
  /** The requests that the store had no room for at that moment. Their clients try again. */
  turnedAway: number;
  megabytes: number;
  seconds: number;
}

interface Race {
  says: string;
  people: number;
  decision(i: number): Decision;
}

const RACES: readonly Race[] = [
  {
    says: "everybody who was asked",
    people: PEOPLE,
    decision: (i) => ({ kind: Math.floor(i / PEOPLE) % 2 === 0 ? "approve" : "reject" }),
  },
  { says: "one person who says it again and again", people: 1, decision: () => ({ kind: "reject", comment: "No." }) },
  { says: "one person of two minds", people: 1, decision: (i) => ({ kind: i % 2 === 0 ? "approve" : "reject" }) },
];

/**
 * Ten thousand answers to one ask at the same moment, on both databases: one of them decides, everybody else learns it,
 * one decision and one entry of the record are kept, and neither memory nor time grows beyond bounds.
 */
export const many: Harness = {
  name: "many",
  async run({ longHours, trace }: HarnessOptions): Promise<HarnessReport> {
    const rounds = longHours ? Math.ceil(longHours * LONG_ROUNDS_PER_HOUR) : 1;
    const failures: { says: string; repeat: string }[] = [];
    const all: Raced[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const on of DATABASES) {
        for (const one of RACES) {
          const { raced, problems } = await race(on, one);
          all.push(raced);
          if (trace) console.log(on, one.says, raced);
          for (const problem of problems) failures.push({ says: `${one.says}, on ${on}: ${problem}`, repeat: REPEAT });
        }
      }
    }
    const most = (pick: (one: Raced) => number) => Math.max(...all.map(pick));
    return {
      figures: {
        answers: all.length * ANSWERS,
        "turned away": all.reduce((sum, { turnedAway }) => sum + turnedAway, 0),
        "slowest race": `${most(({ seconds }) => seconds).toFixed(1)} s`,
        "most memory": `${Math.round(most(({ megabytes }) => megabytes))} MB`,
      },
      failures,
    };
  },
};

async function race(
  on: DatabaseName,
  { people: count, decision }: Race,
): Promise<{ raced: Raced; problems: string[] }> {
  await using world = await openWorld({ on });
  const { ctx } = world.server;
  const people: string[] = [];
  for (let i = 0; i < count; i += 1) people.push(await enrol(ctx, `Person ${i}`));
  const of = people.map((person) => ({ afterMs: 0, node: toPerson(person) }));
  const { id: requestId } = await askPeople(ctx, { audience: { kind: "any", of } });
  const responders = await Promise.all(people.map((person) => responderOf(ctx.db, person, "web")));

  const raced: Raced = { taken: 0, again: 0, late: 0, turnedAway: 0, megabytes: 0, seconds: 0 };
  const problems: string[] = [];
  const before = process.memoryUsage().heapUsed;
  const from = performance.now();
  const measure = () => {
    raced.megabytes = Math.max(raced.megabytes, (process.memoryUsage().heapUsed - before) / 1e6);
    raced.seconds = (performance.now() - from) / 1000;
  };
  let waiting = Array.from({ length: ANSWERS }, (_, i) => i);
  while (waiting.length > 0 && raced.seconds <= MOST_SECONDS) {
    const turned: number[] = [];
    await Promise.all(
      waiting.map(async (i) => {
        const responder = responders[i % responders.length];
        if (!responder) return;
        try {
          const { repeated } = await decideRequest(ctx, { requestId, responder, decision: decision(i) });
          raced[repeated ? "again" : "taken"] += 1;
        } catch (error) {
          if (!(error instanceof Refusal)) problems.push(String(error));
          else if (error.code === "already_decided") raced.late += 1;
          else if (error.code === "store_unavailable") turned.push(i);
          else problems.push(`refused: ${error.code}`);
        }
      }),
    );
    measure();
    raced.turnedAway += turned.length;
    waiting = turned;
  }

  const { outcome, state } = await readRequest(ctx, requestId);
  const told = raced.taken + raced.again + raced.late;
  if (raced.taken !== 1) problems.push(`${raced.taken} answers were taken`);
  if (told !== ANSWERS) problems.push(`${ANSWERS - told} answers were told nothing`);
  if (state !== "answered" || outcome?.approved === undefined) problems.push(`it ended as ${state}`);
  problems.push(...(await kept(world, requestId)));
  if (raced.megabytes > MOST_MEGABYTES) problems.push(`it took ${Math.round(raced.megabytes)} MB`);
  if (raced.seconds > MOST_SECONDS) problems.push(`it took ${Math.round(raced.seconds)} s`);
  return { raced, problems };
}

async function kept({ server }: World, requestId: string): Promise<string[]> {
  const decisions = await server.ctx.db.all(sql`SELECT ask_id FROM decisions WHERE ask_id = ${requestId}`);
  const entries = await server.ctx.db.all(
    sql`SELECT seq FROM audit WHERE ask_id = ${requestId}
      AND action IN ('function_call.approved', 'function_call.rejected', 'function_call.approval_counted')`,
  );
  return [
    ...(decisions.length === 1 ? [] : [`${decisions.length} decisions are kept`]),
    ...(entries.length === 1 ? [] : [`the record has ${entries.length} decisions`]),
  ];
}
