import { z } from "zod";
import { Refusal } from "../../refusals.ts";
import { forgetCached, listCached } from "../../verbs/forget-decisions.ts";
import type { Door, DoorContext } from "../door.ts";
import { parseBody } from "../door-body.ts";
import { fields, optional, textField } from "../door-fields.ts";
import { administrator } from "../door-principals.ts";
import { cachedDecision } from "./admin-relay-wire.ts";
import { ADMIN_REFUSALS } from "./admin-routes.ts";

const MOST = 200;
/** SHA-256 of what was decided upon. */
const KEY = /^[\w:-]{1,128}$/;

const OfRole = fields({
  role: optional(textField("role", 1, 128, { description: "A role's id: those of every version of it." })),
});
const Item = z.looseObject({ key: z.string(), hits: z.number().int() });
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const Forgotten = z.object({ forgotten: z.number().int() });

/** Decisions that are repeated instead of asking again (contract-relay.md, section 9), for admins to see and to end. */
export function adminCacheRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;
  const tags = ["administration"];

  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));

    app.get(
      "/admin/decisions",
      {
        schema: {
          ...{
            tags,
            summary: "The newest 200 decisions that are repeated, and how often they were",
            querystring: OfRole,
          },
          response: { 200: z.object({ decisions: z.array(Item) }), 400: Refused, ...ADMIN_REFUSALS },
        },
      },
      async (request) => {
        await administrator(door, request);
        const decisions = await listCached(ctx, { ...(request.query as z.output<typeof OfRole>), limit: MOST });
        return { decisions: decisions.map(cachedDecision) as z.output<typeof Item>[] };
      },
    );

    app.delete(
      "/admin/decisions",
      {
        schema: {
          ...{ tags, summary: "Forget all of them, or those of one role", querystring: OfRole },
          response: { 200: Forgotten, 400: Refused, ...ADMIN_REFUSALS },
        },
      },
      async (request) => {
        const by = await administrator(door, request);
        const { role } = request.query as z.output<typeof OfRole>;
        return { forgotten: await forgetCached(ctx, role === undefined ? "all" : { role }, by) };
      },
    );

    app.delete<{ Params: { key: string } }>(
      "/admin/decisions/:key",
      {
        schema: {
          ...{ tags, summary: "Forget one: the same is asked anew" },
          response: { 200: Forgotten, ...ADMIN_REFUSALS, 404: Refused },
        },
      },
      async (request) => {
        const by = await administrator(door, request);
        const { key } = request.params;
        if (!KEY.test(key)) throw new Refusal("policy_entry_not_found", {}, "There is no such decision.");
        return { forgotten: await forgetCached(ctx, { key }, by) };
      },
    );
  };
}
