import { z } from "zod";
import { Refusal } from "../../../refusals.ts";
import { examineStore } from "../../../doctor/examine.ts";
import { readChannels } from "../../../requests/read/figures.ts";
import { CHANNELS } from "../../../channels/kinds.ts";
import { readChannelTest, startChannelTest } from "../../../requests/create/test-channel.ts";
import { verifyAudit } from "../../../core/verify-audit.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import {
  NewChannelTestBody,
  WireAuditChain,
  WireChannelReport,
  WireChannelTest,
  WireHealthReport,
} from "../../../wire/server-state.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { isId } from "../../http/ids.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";
import { ErrorBody } from "../../../wire/error.ts";

const HowMuch = z.object({ full: z.enum(["true", "false"]).optional() });

/** How the server does: its channels, a test message on one, its promises, and its record. For admins. */
export function adminStateRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    channelRoutes(app, door);
    soundnessRoutes(app, door);
  };
}

/** The ways to reach people: how each does, and trying one. */
function channelRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/channels",
    {
      schema: {
        tags: ["administration"],
        summary: "Which ways to reach people are configured, and what became of their messages",
        response: { 200: jsonReply(WireChannelReport), ...ADMIN_REFUSALS },
      },
    },
    async (http) => channelStates(door, http),
  );

  app.post(
    "/admin/channel_tests",
    {
      config: { takesBody: true },
      schema: {
        tags: ["administration"],
        summary: "Send a test message to oneself, or to a person, on one channel",
        body: NewChannelTestBody,
        response: { 202: jsonReply(WireChannelTest), 400: ErrorBody, ...ADMIN_REFUSALS, 404: ErrorBody },
      },
    },
    async (http, reply) => reply.code(202).send(await startTest(door, http)),
  );

  app.get<{ Params: { id: string } }>(
    "/admin/channel_tests/:id",
    {
      schema: {
        tags: ["administration"],
        summary: "How far a test message has come",
        response: { 200: jsonReply(WireChannelTest), ...ADMIN_REFUSALS, 404: ErrorBody },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { id } = http.params;
      if (!isId(id)) throw new Refusal("request_not_found");
      const test: WireChannelTest = await readChannelTest(ctx, id);
      return test;
    },
  );
}

/** Whether what is stored keeps its promises, and the record its order. */
function soundnessRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/health",
    {
      schema: {
        tags: ["administration"],
        summary: "Whether the rows keep every promise, as `parley doctor` finds; all of them with full=true",
        querystring: HowMuch,
        response: { 200: jsonReply(WireHealthReport), ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      const quick = (http.query as z.output<typeof HowMuch>).full !== "true";
      const findings = await examineStore(ctx, { quick });
      const report: WireHealthReport = {
        holds: findings.every(({ offenders }) => offenders.length === 0),
        quick,
        findings: findings.map(({ check, promise, offenders }) => ({ check, promise, offenders: [...offenders] })),
      };
      return report;
    },
  );

  app.get(
    "/admin/audit/chain",
    {
      schema: {
        tags: ["administration"],
        summary: "Whether every entry of the record follows from the one before it",
        response: { 200: jsonReply(WireAuditChain), ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { entries, brokenAt, unsealed } = await verifyAudit(ctx);
      return { holds: brokenAt === null, entries, broken_at: brokenAt, unsealed } satisfies WireAuditChain;
    },
  );
}

/** Returns of each channel whether it is configured, and what became of its messages. */
async function channelStates(door: DoorContext, http: FastifyRequest): Promise<WireChannelReport> {
  await administrator(door, http);
  const figures = new Map((await readChannels(door.ctx)).map((one) => [one.channel, one]));
  const configured = new Set<string>(door.channels.list().map(({ name }) => name)).add("push");
  return {
    channels: CHANNELS.map((channel) => {
      const { sentAt, failedAt, failingSince, failed, error, retrying } = figures.get(channel) ?? NOTHING_SENT;
      const at = (ms: number | null) => (ms === null ? null : timeText(ms));
      const failing = { failed_at: at(failedAt), failed, failing_since: at(failingSince) };
      const state = { sent_at: at(sentAt), ...failing, error, retrying };
      return { channel, configured: configured.has(channel), ...state };
    }),
  };
}

/** Sends a test message on one channel, to the admin or to a person whom they name. */
async function startTest(door: DoorContext, http: FastifyRequest): Promise<WireChannelTest> {
  const by = await administrator(door, http);
  const { channel, person = by.kind === "human" ? by.id : undefined } = http.body as NewChannelTestBody;
  if (person === undefined) {
    throw new Refusal("invalid_input", { field: "person", constraint: "required" }, "person is required");
  }
  if (!isId(person)) throw new Refusal("person_not_found", { person });
  if (channel !== "push" && !door.channels.list().some(({ name }) => name === channel)) {
    throw new Refusal("channel_unavailable", { channel });
  }
  return startChannelTest(door.ctx, { channel, person });
}

const NOTHING_SENT = { sentAt: null, failedAt: null, failed: 0, failingSince: null, error: null, retrying: 0 } as const;
