import { z } from "zod";
import { type ActivitySpan, type DeciderCounts, readActivity, readHours } from "../../../activity/read.ts";
import { DECIDERS, DECISION_KINDS, type DecisionFilter, type DecisionLine } from "../../../core/model/decision-line.ts";
import { ACTIVITY_SPANS, WireActivityHours, WireActivityPage, type WireDecisionLine } from "../../../wire/activity.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { text } from "../../../wire/fields.ts";
import { parseBody } from "../../http/body.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { cursorField, PAGE, pageAfter, placeText } from "../../http/list-pages.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";

const NAME = /^[\w:.-]{1,128}$/;
const moment = z.iso.datetime({ offset: true });
const List = z.object({
  from: moment.describe("What ended at it or later.").optional(),
  until: moment.describe("What ended before it.").optional(),
  kind: z.enum(DECISION_KINDS).optional(),
  by: z.enum(DECIDERS).optional(),
  agent: text(1, 256).describe("The one who asked.").optional(),
  state: z.enum(["waiting", "ended"]).describe("`ended` if left out.").optional(),
  ...cursorField,
});
const Span = z.object({ span: z.enum(ACTIVITY_SPANS).describe("`day` if left out.").optional() });

/** Mounts the routes by which admins read decisions: their list and their numbers. */
export function adminActivityRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    const tags = ["administration"];
    const refused = { 400: ErrorBody, ...ADMIN_REFUSALS };

    app.get(
      "/admin/activity",
      {
        schema: {
          tags,
          summary: "What was decided, and by whom, or what waits, the newest first",
          querystring: List,
          response: { 200: jsonReply(WireActivityPage), ...refused },
        },
      },
      async (http) => activityPage(door, http),
    );

    app.get(
      "/admin/activity/hours",
      {
        schema: {
          tags,
          summary: "How many decisions were made in a day, a week or a month, by time and by whom",
          querystring: Span,
          response: { 200: jsonReply(WireActivityHours), ...refused },
        },
      },
      async (http) => {
        await administrator(door, http);
        const { span = "day" } = http.query as z.output<typeof Span>;
        return hoursWire(span, await readHours(door.ctx, span));
      },
    );
  };
}

async function activityPage(door: DoorContext, http: FastifyRequest): Promise<WireActivityPage> {
  await administrator(door, http);
  const { from, until, state, cursor, kind, by, agent } = http.query as z.output<typeof List>;
  const filter: DecisionFilter = {
    kind,
    by,
    agent,
    isWaiting: state === "waiting",
    fromMs: from === undefined ? undefined : Date.parse(from),
    untilMs: until === undefined ? undefined : Date.parse(until),
  };
  const page = await readActivity(door.ctx, filter, { ...pageAfter(cursor, NAME), limit: PAGE });
  return {
    items: page.items.map(lineWire),
    next: placeText(page.next),
    ...(page.total !== undefined && { total: page.total }),
    at: timeText(page.at),
  };
}

function lineWire(line: DecisionLine): WireDecisionLine {
  const { id, kind, by, sentence, agent, result, createdAt, endedAt, jobId } = line;
  return {
    id,
    kind,
    sentence,
    agent,
    state: endedAt === null ? "waiting" : "ended",
    created_at: timeText(createdAt),
    ...(by !== null && { by }),
    ...(endedAt !== null && { ended_at: timeText(endedAt), wait_ms: endedAt - createdAt }),
    ...(endedAt !== null && result !== null && { result }),
    ...(jobId !== null && { job_id: jobId }),
  };
}

function hoursWire(span: ActivitySpan, hours: Awaited<ReturnType<typeof readHours>>): WireActivityHours {
  const { at, fromMs, stepMs, bars, before, medianMs, p95Ms, waiting } = hours;
  return {
    span,
    at: timeText(at),
    from: timeText(fromMs),
    step_ms: stepMs,
    bars: bars.map((counts, bar) => ({
      from: timeText(fromMs + bar * stepMs),
      until: timeText(Math.min(fromMs + (bar + 1) * stepMs, at)),
      counts,
    })),
    counts: bars.reduce(added),
    before: { from: timeText(2 * fromMs - at), until: timeText(fromMs), counts: before },
    waits: { median_ms: medianMs, p95_ms: p95Ms },
    waiting,
  };
}

const added = (one: DeciderCounts, other: DeciderCounts): DeciderCounts => ({
  people: one.people + other.people,
  rule: one.rule + other.rule,
  model: one.model + other.model,
  nobody: one.nobody + other.nobody,
  withdrawn: one.withdrawn + other.withdrawn,
});
