import { yieldAfterLarge } from "../../lib/event-loop.ts";
import type { Request, Audience } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { cancelRequest, escalateRequest } from "../../requests/end/end.ts";
import { claimDecision } from "../../requests/decide/claim-decision.ts";
import { escalationOf } from "../../requests/create/known-recipients.ts";
import { listPending, readRequest, readDetails } from "../../requests/read/read-request.ts";
import { readReceipt } from "../../requests/read/read-receipt.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import type { Asker } from "./addressees.ts";
import { actorOf, callerFrom, type A2hCaller, type AgentCaller } from "./caller.ts";
import type { ChannelRules } from "./contact-channel.ts";
import { createCall, createContact } from "./create.ts";
import { escalationTargets, readEscalation } from "./escalation.ts";
import { checked, checkedBody } from "./fields.ts";
import { isFixed } from "./fixed.ts";
import { printRequest } from "./print.ts";
import { awaited, findOwnRequest, tellingWho } from "./requests.ts";
import { respond } from "./respond.ts";
import { bodyOf, queryNumber, routeOptions, sendJson, type Mount } from "./route.ts";
import { readCall, readContact } from "./specs.ts";
import { selectionOf, type RefKind } from "./written.ts";
import {
  CancellationBody,
  ClaimBody,
  FunctionCallResponseBody,
  HumanContactResponseBody,
  MailEscalationBody,
  NewFunctionCallBody,
  NewHumanContactBody,
} from "../../wire/a2h/new-request.ts";
import {
  WireFunctionCall,
  WireFunctionCallPage,
  WireHumanContact,
  WireHumanContactPage,
} from "../../wire/a2h/request.ts";

interface WithId {
  Params: { id: string };
}

const FAMILIES = [
  { path: "function_calls", kind: "call", full: false, called: "function call" },
  { path: "human_contacts", kind: "contact", full: false, called: "human contact" },
  { path: "contact_requests", kind: "contact", full: true, called: "human contact, by its older name" },
] as const satisfies readonly { path: string; kind: RefKind; full: boolean; called: string }[];

/** The schemas of each kind of request: its body, and its reply. */
const SCHEMAS = {
  call: {
    newBody: NewFunctionCallBody,
    answer: FunctionCallResponseBody,
    reply: WireFunctionCall,
    page: WireFunctionCallPage,
  },
  contact: {
    newBody: NewHumanContactBody,
    answer: HumanContactResponseBody,
    reply: WireHumanContact,
    page: WireHumanContactPage,
  },
} as const;

/** Creating, reading, answering, cancelling and escalating calls and contacts (spec/a2h 6). */
export function callRoutes(mount: Mount): void {
  for (const family of FAMILIES) {
    if (mount.full || !family.full) createAndRead(mount, family);
    if (mount.full && !family.full) agentRoutes(mount, family);
  }
}

/** Returns how the channels of a request are read. */
export function rulesFor({ door }: Mount, caller: A2hCaller): ChannelRules {
  return rulesOf(door, caller.scope === "agent" && caller.isOpen);
}

/** Returns the same for a caller of which it is known whether it has a key. */
export function rulesOf(door: DoorContext, isOpen: boolean): ChannelRules {
  const { whom, patterns } = door.ctx.addressed.recipients;
  return {
    catalogue: door.channels,
    recipients: whom === "listed" ? patterns : null,
    isOpen,
    joint: true,
    composite: true,
  };
}

/** Returns who asks, as far as it matters for whom. */
export function askerOf({ known }: Mount, { principal, channel, conversation }: AgentCaller): Asker {
  return { principal, channel, conversation, known };
}

function createAndRead(mount: Mount, { path, kind, called }: (typeof FAMILIES)[number]): void {
  const { app, door, prefix } = mount;
  const { ctx } = door;
  const { newBody, reply: schema } = SCHEMAS[kind];

  app.post(
    `/${path}`,
    routeOptions(mount, { noun: "call", summary: `Ask people: a ${called}`, body: newBody, reply: schema }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent"]);
      const body = bodyOf(http);
      await yieldAfterLarge(http.body as Buffer);
      const rules = rulesFor(mount, caller);
      const { request, replayed } =
        kind === "call"
          ? await createCall(
              ctx,
              door.policy.current().policy,
              askerOf(mount, caller),
              checked((problems) => readCall(body, problems, rules)),
            )
          : await createContact(
              ctx,
              askerOf(mount, caller),
              checked((problems) => readContact(body, problems, rules)),
            );
      if (replayed) reply.header("idempotency-replayed", "true");
      if (door.config.email.templates === "off" && hasTemplate(request))
        reply.header("parley-notice", "email-template-off");
      reply.header("location", `${prefix}/${path}/${String(request.wire["call_id"])}`);
      return send(reply, replayed ? await readRequest(ctx, request.id) : request);
    },
  );

  app.get<WithId>(
    `/${path}/:id`,
    routeOptions(mount, {
      noun: "call",
      summary: `Read a ${called}, or wait for its end with ?wait=`,
      reply: schema,
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent", "answer", "admin"]);
      const ask = await findOwnRequest(door, caller, kind, http.params.id);
      return send(reply, await awaited(door, http, reply, { caller, request: ask }));
    },
  );

  async function send(reply: FastifyReply, ask: Request): Promise<FastifyReply> {
    return sendJson(reply, printRequest(ask, await readDetails(ctx, ask), await proofOf(door, ask)));
  }
}

/** Returns the receipt of an approved prompt, so that its hook needs no further request (spec/a2h 21). */
async function proofOf(
  { ctx, config }: DoorContext,
  ask: Request,
): Promise<{ receipt?: string; receipt_key?: string }> {
  if (ask.promptOf === undefined || ask.outcome?.approved !== true) return {};
  const { jws, keyId } = await readReceipt(ctx, ask, config.publicUrl);
  return { receipt: jws, receipt_key: keyId };
}

/** Where templates are off one is taken and not used, which the reply says. */
function hasTemplate({ wire }: Request): boolean {
  const spec = String(wire["spec"]);
  // Most have none, and are not read again for it.
  if (!spec.includes('"template"')) return false;
  const { channel, escalation } = JSON.parse(spec) as Record<string, unknown>;
  const isMailed = (at: unknown): boolean => {
    if (typeof at !== "object" || at === null) return false;
    const { email } = at as { email?: { template?: unknown } };
    return email?.template !== undefined || Object.values(at).some(isMailed);
  };
  return isMailed(channel) || isMailed(escalation);
}

function agentRoutes(mount: Mount, { path, kind, called }: (typeof FAMILIES)[number]): void {
  const { app, door } = mount;
  const { ctx } = door;
  const { answer, reply: schema, page } = SCHEMAS[kind];

  app.get(
    `/agent/${path}/pending`,
    routeOptions(mount, { noun: "call", summary: `Every open ${called}, oldest first`, reply: page }),
    async (http, reply) => sendJson(reply, await pendingPage(door, http, kind)),
  );

  app.post<WithId>(
    `/agent/${path}/:id/respond`,
    routeOptions(mount, {
      noun: "call",
      summary: `Answer a ${called}`,
      body: answer,
      reply: schema,
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["answer", "agent"]);
      const request = await findOwnRequest(door, caller, kind, http.params.id);
      const body = bodyOf(http);
      const decided = await tellingWho(door, request, () => respond(ctx, caller, request, body));
      if (decided.repeated) reply.header("idempotency-replayed", "true");
      return sendJson(reply, printRequest(decided.request, await readDetails(ctx, decided.request)));
    },
  );

  app.post<WithId>(
    `/agent/${path}/:id/cancel`,
    routeOptions(mount, {
      noun: "call",
      summary: `Withdraw a ${called}`,
      body: CancellationBody,
      bodyOptional: true,
      reply: schema,
    }),
    async (http, reply) => {
      const { ask, by } = await ownOrAny(door, http, kind);
      const { reason } = checkedBody(CancellationBody, bodyOf(http));
      const over = await tellingWho(door, ask, () => cancelRequest(ctx, ask.id, by, reason));
      return sendJson(reply, printRequest(over, await readDetails(ctx, over)));
    },
  );

  if (kind === "call") claimRoute(mount);

  app.post<WithId>(
    `/agent/${path}/:id/escalate_email`,
    routeOptions(mount, {
      noun: "call",
      summary: `Ask more people about a ${called} by mail`,
      body: MailEscalationBody,
      reply: schema,
    }),
    async (http, reply) => {
      const escalated = await escalate(mount, http, kind);
      return sendJson(reply, printRequest(escalated, await readDetails(ctx, escalated)));
    },
  );
}

/** Gives the decision to one run of the agent, which goes on with it. */
function claimRoute(mount: Mount): void {
  const { app, door } = mount;
  app.post<WithId>(
    "/agent/function_calls/:id/claim",
    routeOptions(mount, {
      noun: "call",
      summary: "Claim the decision on a function call for one run",
      body: ClaimBody,
      reply: WireFunctionCall,
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent"]);
      const { id } = await findOwnRequest(door, caller, "call", http.params.id);
      const { run } = checkedBody(ClaimBody, bodyOf(http));
      const claimed = await claimDecision(door.ctx, id, run);
      return sendJson(reply, printRequest(claimed, await readDetails(door.ctx, claimed)));
    },
  );
}

/** Returns a page of the open requests of a kind as JSON text: an agent's own, a person's, or for admins everybody's. */
async function pendingPage(door: DoorContext, http: FastifyRequest, kind: RefKind): Promise<string> {
  const { ctx } = door;
  const caller = await callerFrom(door, http, ["agent", "answer", "admin"]);
  const limit = queryNumber(http, "limit", { min: 1, max: 1000, usual: 100 });
  const offset = queryNumber(http, "offset", { min: 0, max: 1_000_000, usual: 0 });
  const whose =
    caller.scope === "agent"
      ? { asker: caller.principal, ...(caller.conversation !== null && { conversation: caller.conversation }) }
      : caller.scope === "answer"
        ? { person: caller.person }
        : {};
  const { items, total } = await listPending(ctx, { ...whose, kinds: selectionOf(kind) }, { limit, offset });
  const texts = await Promise.all(items.map(async (request) => printRequest(request, await readDetails(ctx, request))));
  const rest: Omit<WireFunctionCallPage, "items"> = { total, limit, offset, has_more: offset + items.length < total };
  return `{"items":[${texts.join(",")}],${JSON.stringify(rest).slice(1)}`;
}

/** Has more people asked by mail, as the body says; returns the request as it is then. */
async function escalate(mount: Mount, http: FastifyRequest<WithId>, kind: RefKind): Promise<Request> {
  const { door } = mount;
  const { ask: request, by, caller } = await ownOrAny(door, http, kind);
  // It asks by mail, which is another place than its conversation.
  if (caller.scope === "agent" && caller.conversation !== null) throw new Refusal("scope_missing", { scope: "agent" });
  const body = bodyOf(http);
  const rules = { ...rulesFor(mount, caller), joint: false, composite: false };
  const { words, targets } = checked((problems) => {
    const escalation = readEscalation(body, problems, request);
    return escalation && escalationTargets(escalation, problems, rules);
  });
  const more: Audience = { kind: "any", of: targets.map((target) => ({ afterMs: 0, node: { kind: "leaf", target } })) };
  // An admin may add anybody; whoever asked may not.
  const parts =
    caller.scope === "admin"
      ? { added: more, informed: null }
      : await escalationOf(door.ctx, { asked: request.audience, more, fixed: isFixed(request) });
  return tellingWho(door, request, () => escalateRequest(door.ctx, request.id, { ...parts, words, by }));
}

/** Returns the request that the path names, for the agent whose it is and for admins, and who is calling. */
async function ownOrAny(door: DoorContext, http: FastifyRequest<WithId>, kind: RefKind) {
  const caller = await callerFrom(door, http, ["agent", "admin"]);
  const request = await findOwnRequest(door, caller, kind, http.params.id);
  return { ask: request, caller, by: actorOf(caller) };
}
