import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { Refusal } from "../../refusals.ts";
import { cancelRequest } from "../../requests/end/end.ts";
import { bindCall } from "../../requests/model/bound-call.ts";
import { PLAN_DOOR, planRef } from "../../requests/model/plan.ts";
import type { Request } from "../../requests/model/request.ts";
import { readPlan, readPlanCalls } from "../../requests/plans/read-plan.ts";
import { useCall } from "../../requests/plans/use-call.ts";
import { readAnyByRef, readDetails, readRequest } from "../../requests/read/read-request.ts";
import { CALL_ID, CancellationBody } from "../../wire/a2h/new-request.ts";
import { NewPlanBody, PlanUseBody, WirePlan, WirePlanUse } from "../../wire/a2h/plan.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { refuseKeyAsName } from "../http/key-as-name.ts";
import { askerOf, rulesFor } from "./call-routes.ts";
import { actorOf, callerFrom, type A2hCaller } from "./caller.ts";
import { askPlan } from "./create-plan.ts";
import { checked, checkedBody, complain, refuse, type Problem } from "./fields.ts";
import { readNewPlan, readUse } from "./plan-specs.ts";
import { printPlan, printUse } from "./print-plan.ts";
import { awaited, tellingWho, within } from "./requests.ts";
import { bodyOf, routeOptions, sendJson, type Mount } from "./route.ts";

interface WithId {
  Params: { id: string };
}

/** Images come in the body. */
const PLAN_BODY_BYTES = 4_194_304;
/** A table of evidence has up to 10,000 cells. */
const MOST_VALUES = 300_000;
const LONGEST_KEY = 256;

/** Creating, reading, withdrawing and using plans (spec/a2h 22). */
export function planRoutes(mount: Mount): void {
  createRoute(mount);
  readAndCancel(mount);
  useRoute(mount);
}

function createRoute(mount: Mount): void {
  const { app, door, prefix } = mount;
  app.post(
    "/plans",
    routeOptions(mount, {
      noun: "plan",
      summary: "Ask people about several function calls at once",
      body: NewPlanBody,
      bodyBytes: PLAN_BODY_BYTES,
      reply: WirePlan,
      replies: { 201: "As asked" },
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent"]);
      const body = bodyOf(http, { maxValues: MOST_VALUES });
      await yieldAfterLarge(http.body as Buffer);
      const rules = rulesFor(mount, caller);
      const plan = checked((problems) => readNewPlan(body, problems, rules));
      const { policy } = door.policy.current();
      const asked = await askPlan(door.ctx, policy, askerOf(mount, caller), { plan, key: keyOf(http) });
      if (asked.replayed) reply.header("idempotency-replayed", "true");
      reply.header("location", `${prefix}/plans/${String(asked.request.wire["plan_id"])}`).code(201);
      return send(door, reply, asked.replayed ? await readRequest(door.ctx, asked.request.id) : asked.request);
    },
  );
}

function readAndCancel(mount: Mount): void {
  const { app, door } = mount;
  app.get<WithId>(
    "/plans/:id",
    routeOptions(mount, { noun: "plan", summary: "Read a plan, or wait for its end with ?wait=", reply: WirePlan }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent", "admin"]);
      const plan = await findOwnPlan(door, caller, http.params.id);
      return send(door, reply, await awaited(door, http, reply, { caller, request: plan }));
    },
  );

  app.post<WithId>(
    "/plans/:id/cancel",
    routeOptions(mount, {
      noun: "plan",
      summary: "Withdraw a plan",
      body: CancellationBody,
      bodyOptional: true,
      reply: WirePlan,
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent", "admin"]);
      const plan = await findOwnPlan(door, caller, http.params.id);
      const { reason } = checkedBody(CancellationBody, bodyOf(http));
      const over = await tellingWho(door, plan, () => cancelRequest(door.ctx, plan.id, actorOf(caller), reason));
      return send(door, reply, over);
    },
  );
}

function useRoute(mount: Mount): void {
  const { app, door } = mount;
  app.post<WithId>(
    "/plans/:id/uses",
    routeOptions(mount, {
      noun: "plan",
      summary: "Use the next approved call of a plan, once",
      body: PlanUseBody,
      reply: WirePlanUse,
    }),
    async (http, reply): Promise<WirePlanUse> => {
      const caller = await callerFrom(door, http, ["agent"]);
      const plan = await findOwnPlan(door, caller, http.params.id);
      const { call, callId, run } = checked((problems) => readUse(bodyOf(http), problems));
      const key = keyOf(http);
      // A run uses several calls, each under the run's name for it.
      const named = run !== undefined && callId !== undefined ? `run:${callId} ${run}` : door.ctx.newId("use");
      const used = await useCall(door.ctx, plan.id, {
        key: key === undefined ? named : `key:${key}`,
        ...(call && { digest: bindCall(call.fn, call.kwargs).digest }),
        ...(callId !== undefined && { callId }),
      });
      if (used.repeated) reply.header("idempotency-replayed", "true");
      return printUse(plan, used);
    },
  );
}

/** Returns a plan: of an agent its own, of an admin any. @throws {Refusal} `request_not_found`, `ref_ambiguous` */
async function findOwnPlan(
  { ctx }: DoorContext,
  caller: Exclude<A2hCaller, { scope: "answer" }>,
  id: string,
): Promise<Request> {
  if (!CALL_ID.test(id)) throw new Refusal("request_not_found");
  const found =
    caller.scope === "agent" ? await readPlan(ctx, caller.principal, id) : await readAnyByRef(ctx, planRef(id));
  if (found.door !== PLAN_DOOR) throw new Refusal("request_not_found");
  return caller.scope === "agent" ? within(found, caller) : found;
}

async function send({ ctx }: DoorContext, reply: FastifyReply, plan: Request): Promise<FastifyReply> {
  return sendJson(reply, printPlan(plan, await readPlanCalls(ctx, plan), await readDetails(ctx, plan)));
}

/** Returns the Idempotency-Key of a request. @throws {Refusal} `invalid_input`, `key_required` for a credential */
function keyOf(http: FastifyRequest): string | undefined {
  const key = http.headers["idempotency-key"];
  if (key === undefined) return undefined;
  refuseKeyAsName(key);
  if (typeof key === "string" && key.length >= 1 && key.length <= LONGEST_KEY) return key;
  const problems: Problem[] = [];
  complain(problems, ["headers", "Idempotency-Key"], "too_long", `must be between 1 and ${LONGEST_KEY} characters`);
  throw refuse(problems);
}
