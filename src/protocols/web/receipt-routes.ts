import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { AddressedAsk } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { readAddressed } from "../../requests/read.ts";
import { readReceipt, readReceiptKeys } from "../../requests/read-receipt.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { isId } from "../http/ids.ts";
import { cookieName, cookieOf, keyHolder, personOfSession, signedInPerson } from "../http/principals.ts";

const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Signed receipts of decisions, and the keys to check them by (spec/security 4). */
export function receiptRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx, config } = door;

  return async (app) => {
    app.get(
      "/.well-known/jwks.json",
      {
        schema: {
          tags: ["receipts"],
          summary: "The public keys that sign receipts",
          response: { 200: z.object({ keys: z.array(z.looseObject({})) }) },
        },
      },
      async (_request, reply) => reply.header("cache-control", "public, max-age=300").send(await readReceiptKeys(ctx)),
    );

    app.get<{ Params: { id: string } }>(
      "/receipts/:id",
      {
        schema: {
          tags: ["receipts"],
          summary: "The signed receipt of a decision, as a compact JWS",
          produces: ["application/jose"],
          response: { 200: z.string(), 401: Refused, 404: Refused },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        if (!isId(id)) throw new Refusal("request_not_found");
        const mayRead = await readerOf(request);
        const ask = await readAddressed(ctx, id);
        if (!mayRead(ask)) throw new Refusal("request_not_found");
        return reply.type("application/jose").send(await readReceipt(ctx, ask, config.publicUrl));
      },
    );
  };

  /** Returns what the caller may have receipts of: what it asked, what it decided, or as an admin anything. */
  async function readerOf(request: FastifyRequest): Promise<(ask: AddressedAsk) => boolean> {
    const bySession = request.headers.authorization === undefined && cookieOf(request, cookieName(door, "parley"));
    if (bySession) {
      const { person } = await signedInPerson(door, request);
      if ((await personOfSession(door, request))?.role === "admin") return () => true;
      return ({ outcome }) => outcome?.by?.kind === "person" && outcome.by.id === person;
    }
    const holder = await keyHolder(door, request);
    if ("open" in holder) return ({ asker }) => asker === holder.open;
    if (holder.scope === "admin") return () => true;
    if (holder.scope === "answer") {
      return ({ outcome }) => outcome?.by?.kind === "person" && outcome.by.id === holder.person;
    }
    return ({ asker }) => asker === holder.principal;
  }
}
