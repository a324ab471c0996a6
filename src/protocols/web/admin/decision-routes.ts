import { z } from "zod";
import { Refusal } from "../../../refusals.ts";
import { forgetCached, listCached, type CachedDecision } from "../../../asks/respond/forget-decisions.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import { WireDecisionPage, WireForgotten, type WireCachedDecision } from "../../../wire/relay/cached-decision.ts";
import { text } from "../../../wire/fields.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { cursorField, PAGE, pageAfter, placeText } from "../../http/list-pages.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";
import { ErrorBody } from "../../../wire/error.ts";

/** SHA-256 of what was decided upon. */
const KEY = /^[\w:-]{1,128}$/;

const OfRole = z.object({
  role: text(1, 128).describe("A role's id: those of every version of it.").optional(),
});
const List = OfRole.extend(cursorField);
/** Decisions that are repeated instead of asking again (spec/relay 9), for admins to see and to end. */
export function adminDecisionRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;
  const tags = ["administration"];

  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));

    app.get(
      "/admin/decisions",
      {
        schema: {
          tags,
          summary: "Decisions that are repeated, and how often they were, the newest first",
          querystring: List,
          response: { 200: jsonReply(WireDecisionPage), 400: ErrorBody, ...ADMIN_REFUSALS },
        },
      },
      async (http) => decisionPage(door, http),
    );

    app.delete(
      "/admin/decisions",
      {
        schema: {
          tags,
          summary: "Forget all of them, or those of one role",
          querystring: OfRole,
          response: { 200: jsonReply(WireForgotten), 400: ErrorBody, ...ADMIN_REFUSALS },
        },
      },
      async (http) => {
        const by = await administrator(door, http);
        const { role } = http.query as z.output<typeof OfRole>;
        const forgotten = await forgetCached(ctx, role === undefined ? "all" : { role }, by);
        return { forgotten } satisfies WireForgotten;
      },
    );

    app.delete<{ Params: { key: string } }>(
      "/admin/decisions/:key",
      {
        schema: {
          tags,
          summary: "Forget one: the same is asked anew",
          response: { 200: jsonReply(WireForgotten), ...ADMIN_REFUSALS, 404: ErrorBody },
        },
      },
      async (http) => {
        const by = await administrator(door, http);
        const { key } = http.params;
        if (!KEY.test(key)) throw new Refusal("policy_entry_not_found", {}, "There is no such decision.");
        return { forgotten: await forgetCached(ctx, { key }, by) } satisfies WireForgotten;
      },
    );
  };
}

/** Returns a page of the decisions that are repeated. */
async function decisionPage(door: DoorContext, http: FastifyRequest): Promise<WireDecisionPage> {
  await administrator(door, http);
  const { role, cursor } = http.query as z.output<typeof List>;
  const page = { ...(role && { role }), ...pageAfter(cursor, KEY), limit: PAGE };
  const { decisions, next, count } = await listCached(door.ctx, page);
  return { decisions: decisions.map(cachedDecision), next: placeText(next), count };
}

/** Returns an earlier decision that may be repeated. */
function cachedDecision(one: CachedDecision): WireCachedDecision {
  return {
    key: one.key,
    text: one.text,
    json: one.json ?? null,
    role: one.role,
    source: one.source,
    answered_by: one.answeredBy,
    model: one.attestation?.model ?? null,
    hits: one.hits,
    created_at: timeText(one.createdAt),
    expires_at: timeText(one.createdAt + one.ttlS * 1000),
    last_hit_at: one.lastHitAt === null ? null : timeText(one.lastHitAt),
  };
}
