import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { Refusal } from "../../src/refusals.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { bindCall } from "../../src/requests/model/bound-call.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { createPlan } from "../../src/requests/plans/create-plan.ts";
import { useCall } from "../../src/requests/plans/use-call.ts";
import { enrol, toPerson } from "../support/addressed.ts";
import type { Node, World } from "../support/world.ts";
import type { Dice } from "./sim-dice.ts";

const PEOPLE = parsePolicy("version: 1");
const LIFE_S = 3600;
/** Mutated runs of one plan. */
export const RUNS_OF_A_PLAN = 20;

interface Call {
  fn: string;
  kwargs: Record<string, unknown>;
}

/** A call of a plan as this second account of the rules has it. */
interface PlannedCall extends Call {
  digest: string;
  approved: boolean;
  usedBy: string | null;
}

/** One attempt to use a call of a plan: which call, under which key, and who makes it. */
interface Attempt {
  call: Call;
  key: string;
  asker: "own" | "other";
}

/** The people and agents of a world in which plans are made. */
export interface Scene {
  world: World;
  nodes: readonly Node[];
  person: string;
  agents: Readonly<Record<"own" | "other", { name: string; headers: Record<string, string> }>>;
}

/** Sets the scene in a world, which may have several servers. */
export async function sceneIn(world: World, nodes: readonly Node[]): Promise<Scene> {
  const { ctx } = world.server;
  const agent = async (name: string) => {
    const { text } = await createKey(ctx, { name, scope: "agent" });
    return { name: `agent:${name}`, headers: { authorization: `Bearer ${text}` } };
  };
  const person = await enrol(ctx, "Ana Ruiz");
  return { world, nodes, person, agents: { own: await agent("planner"), other: await agent("stranger") } };
}

const CALLS: readonly Call[] = [1, 2, 3].flatMap((amount) => [
  { fn: "pay_out", kwargs: { amount, to: "Ana" } },
  { fn: "notify", kwargs: { amount, lines: [amount, null, "näher"] } },
]);

/** Each returns a call that differs from the given one. */
const MUTATIONS: readonly ((call: Call, dice: Dice) => Call)[] = [
  ({ fn, kwargs }) => ({ fn, kwargs: { ...kwargs, amount: Number(kwargs["amount"]) * 10 } }),
  ({ fn, kwargs }) => ({ fn, kwargs: { ...kwargs, amount: String(kwargs["amount"]) } }),
  ({ fn, kwargs }) => ({ fn, kwargs: { ...kwargs, force: true } }),
  ({ fn, kwargs }) => ({ fn, kwargs: { amount: kwargs["amount"] } }),
  ({ fn, kwargs }) => ({ fn: `${fn}_all`, kwargs }),
  ({ fn, kwargs }) => ({ fn, kwargs: { ...kwargs, to: "Аna" } }),
];

/** Returns the attempts of one run: those of the plan, in another order, number or form, or by somebody else. */
function mutatedRun(calls: readonly Call[], dice: Dice, keys: string[]): Attempt[] {
  const fresh = (): string => {
    const key = `use-${dice.int(2 ** 31)}`;
    keys.push(key);
    return key;
  };
  const list = [...calls];
  if (dice.chance(0.3)) dice.shuffle(list);
  if (dice.chance(0.3)) list.splice(dice.int(list.length), 1);
  if (dice.chance(0.3)) list.splice(dice.int(list.length + 1), 0, dice.pick(calls));
  if (dice.chance(0.2)) list.push(dice.pick(CALLS));
  return list.map((call) => ({
    call: dice.chance(0.3) ? dice.pick(MUTATIONS)(call, dice) : call,
    key: keys.length > 0 && dice.chance(0.2) ? dice.pick(keys) : fresh(),
    asker: dice.chance(0.1) ? "other" : "own",
  }));
}

/**
 * Makes a plan, ends it in one of the ways in which plans end, and runs it mutated. Returns how many runs there were, and
 * what is wrong, if anything is: a use that the rules do not allow, or one that they allow and the server refused.
 */
export async function playPlan(scene: Scene, dice: Dice, name: string): Promise<{ runs: number; says: string | null }> {
  const { world } = scene;
  const { ctx } = world.server;
  const calls = Array.from({ length: dice.between(1, 6) }, () => dice.pick(CALLS));
  const request = await makePlan(scene, calls, name);
  const planned: PlannedCall[] = calls.map((call) => {
    return { ...call, digest: bindCall(call.fn, call.kwargs).digest, approved: false, usedBy: null };
  });
  const wrong = (what: string) => `plan ${name} of ${JSON.stringify(calls)}: ${what}`;
  const upTo = await endPlan(scene, request, dice, calls.length);
  for (const [i, one] of planned.entries()) one.approved = i < upTo;
  const keys: string[] = [];
  // Half of the plans run past their time.
  const expiresIn = dice.chance(0.5) ? dice.int(RUNS_OF_A_PLAN) : Infinity;
  for (let run = 0; run < RUNS_OF_A_PLAN; run += 1) {
    if (run === expiresIn) await world.advance(LIFE_S * 1000);
    const attempts = mutatedRun(calls, dice, keys);
    for (const attempt of attempts) {
      const wanted = isAllowed(planned, attempt, run >= expiresIn);
      const took = await tryUse(scene, request, attempt, dice);
      if (took !== wanted) {
        return { runs: run, says: wrong(`${JSON.stringify(attempt)} was ${took ? "taken" : "refused"}`) };
      }
    }
  }
  const used = await ctx.db.all<{ used_by: string | null }>(
    sql`SELECT used_by FROM requests WHERE plan = ${request.id} ORDER BY plan_ord`,
  );
  const isSame = used.every(
    ({ used_by: by }, i) => by === (planned[i]?.usedBy == null ? null : `key:${planned[i].usedBy}`),
  );
  return { runs: RUNS_OF_A_PLAN, says: isSame ? null : wrong("its uses are not as they were counted") };
}

async function makePlan({ world, person, agents }: Scene, calls: readonly Call[], name: string): Promise<Request> {
  const { request } = await createPlan(world.server.ctx, PEOPLE, {
    asker: agents.own.name,
    ref: `plan:${name}`,
    sameHash: name,
    words: "",
    audience: toPerson(person),
    timeoutSeconds: LIFE_S,
    uncharged: true,
    wire: { plan_id: name, spec: "{}" },
    evidence: [],
    calls: calls.map(({ fn, kwargs }, i) => ({
      door: "a2h",
      ref: `call:${name}.${i + 1}`,
      sameHash: name,
      wire: { call_id: `${name}.${i + 1}`, spec: "{}" },
      bound: bindCall(fn, kwargs),
    })),
  });
  return request;
}

/** Returns how many calls of the plan are approved. */
async function endPlan({ world, person }: Scene, { id, asker, digest }: Request, dice: Dice, count: number) {
  const { ctx } = world.server;
  const decide = async (decision: { kind: "approve"; upTo?: number } | { kind: "reject" }) => {
    const responder = await responderOf(ctx.db, person, "web");
    await decideRequest(ctx, { requestId: id, responder, decision: { ...decision, ...(digest && { digest }) } });
  };
  const upTo = dice.between(1, count);
  switch (dice.pick(["all", "all", "some", "some", "none", "withdrawn", "open"] as const)) {
    case "all":
      await decide({ kind: "approve" });
      return count;
    case "some":
      await decide({ kind: "approve", upTo });
      return upTo;
    case "none":
      await decide({ kind: "reject" });
      return 0;
    case "withdrawn":
      await cancelRequest(ctx, id, { kind: "agent", id: asker });
      return 0;
    case "open":
      return 0;
  }
}

/** Returns whether the rules of plans let the attempt use a call, and notes the use. */
function isAllowed(planned: readonly PlannedCall[], { call, key, asker }: Attempt, isOver: boolean): boolean {
  if (asker === "other") return false;
  const { digest } = bindCall(call.fn, call.kwargs);
  const former = planned.find(({ usedBy }) => usedBy === key);
  if (former) return former.digest === digest;
  const next = planned.find(({ usedBy }) => usedBy === null);
  if (isOver || next?.approved !== true || next.digest !== digest) return false;
  next.usedBy = key;
  return true;
}

/** Tries one use at one of the servers; a stranger comes by the API, as everybody does. */
async function tryUse(scene: Scene, { id, ref }: Request, attempt: Attempt, dice: Dice): Promise<boolean> {
  const name = ref.slice("plan:".length);
  const { fn, kwargs } = attempt.call;
  const node = dice.pick(scene.nodes);
  if (attempt.asker === "other" || dice.chance(0.1)) {
    const { status } = await node.call("POST", `/plans/${name}/uses`, {
      headers: { ...scene.agents[attempt.asker].headers, "idempotency-key": attempt.key },
      body: { fn, kwargs },
    });
    return status === 200;
  }
  try {
    await useCall(node.server.ctx, id, { key: `key:${attempt.key}`, digest: bindCall(fn, kwargs).digest });
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
