import { z } from "zod";
import { Refusal } from "../../refusals.ts";
import { forgetCached, listCached } from "../../asks/forget-decisions.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { parseBody } from "../http/body.ts";
import { fields, optional, textField } from "../../wire/fields.ts";
import { administrator } from "../http/principals.ts";
import { cursorField, nextField, PAGE, pageAfter, placeText } from "./admin-pages.ts";
import { cachedDecision } from "./admin-relay-wire.ts";
import { ADMIN_REFUSALS } from "./admin-routes.ts";

/** SHA-256 of what was decided upon. */
const KEY = /^[\w:-]{1,128}$/;

const OfRole = fields({
  role: optional(textField("role", 1, 128, { description: "A role's id: those of every version of it." })),
});
const List = OfRole.extend(cursorField);
const Item = z.looseObject({ key: z.string(), hits: z.number().int() });
const Page = z.object({
  decisions: z.array(Item),
  next: nextField,
  count: z.number().int().meta({ description: "How many there are, on all pages." }),
});
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const Forgotten = z.object({ forgotten: z.number().int() });

/** Decisions that are repeated instead of asking again (spec/relay 9), for admins to see and to end. */
export function adminCacheRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;
  const tags = ["administration"];

  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));

    app.get(
      "/admin/decisions",
      {
        schema: {
          tags,
          summary: "Decisions that are repeated, and how often they were, the newest first",
          querystring: List,
          response: { 200: Page, 400: Refused, ...ADMIN_REFUSALS },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { role, cursor } = request.query as z.output<typeof List>;
        const found = await listCached(ctx, { ...(role && { role }), ...pageAfter(cursor, KEY), limit: PAGE });
        return {
          decisions: found.decisions.map(cachedDecision) as z.output<typeof Item>[],
          next: placeText(found.next),
          count: found.count,
        };
      },
    );

    app.delete(
      "/admin/decisions",
      {
        schema: {
          tags,
          summary: "Forget all of them, or those of one role",
          querystring: OfRole,
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
          tags,
          summary: "Forget one: the same is asked anew",
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
