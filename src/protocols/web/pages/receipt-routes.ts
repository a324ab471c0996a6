import { z } from "zod";
import type { Request } from "../../../requests/model/request.ts";
import { Refusal } from "../../../refusals.ts";
import { readOutcome, readReceipt, readReceiptKeys } from "../../../requests/read/read-receipt.ts";
import { readForPeople, readRequest } from "../../../requests/read/read-request.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../../http/door.ts";
import { setRefusalHeaders, statusOf } from "../../http/errors.ts";
import { WireReceiptKeys } from "../../../wire/receipt.ts";
import { isId } from "../../http/ids.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { cookieName, cookieOf, keyHolder, personOfSession, signedInPerson } from "../../http/principals.ts";
import type { Markup } from "./html.ts";
import { noticeMarkup } from "../links/view.ts";
import { receiptPage } from "./receipt-page.ts";
import { sendStillPage } from "./still-page.ts";
import { ErrorBody } from "../../../wire/error.ts";

type OneReceipt = FastifyRequest<{ Params: { id: string } }>;

/** Signed receipts of decisions, and the keys to check them by (spec/security 4). */
export function receiptRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;

  return async (app) => {
    app.get(
      "/.well-known/jwks.json",
      {
        schema: {
          tags: ["receipts"],
          summary: "The public keys that sign receipts",
          response: { 200: jsonReply(WireReceiptKeys) },
        },
      },
      async (_request, reply) => {
        const set: WireReceiptKeys = await readReceiptKeys(ctx);
        return reply.header("cache-control", "public, max-age=300").send(set);
      },
    );

    app.get<{ Params: { id: string } }>(
      "/receipts/:id",
      {
        schema: {
          tags: ["receipts"],
          summary:
            "The signed receipt of a decision, as a compact JWS; for a browser that asks for HTML a page that says it",
          produces: ["application/jose", "text/html"],
          response: { 200: z.string(), 401: ErrorBody, 404: ErrorBody },
        },
      },
      async (http, reply) => sendReceipt(door, http, reply),
    );

    app.get<{ Params: { id: string } }>(
      "/receipts/:id/outcome",
      {
        schema: {
          tags: ["receipts"],
          summary: "The signed statement about the end of an approved call, as a compact JWS that names the receipt",
          produces: ["application/jose"],
          response: { 200: z.string(), 401: ErrorBody, 404: ErrorBody },
        },
      },
      async (http, reply) => {
        const request = await readableRequest(door, http);
        return reply.type("application/jose").send(await readOutcome(ctx, request, door.config.publicUrl));
      },
    );
  };
}

async function sendReceipt(door: DoorContext, http: OneReceipt, reply: FastifyReply): Promise<FastifyReply> {
  // A program that fetches the receipt must not get a browser's page from a cache.
  reply.header("vary", "Accept");
  if (!wantsPage(http)) return reply.type("application/jose").send((await signedFor(door, http)).jws);
  try {
    const { request, jws } = await signedFor(door, http);
    const page = await receiptPage(door.ctx, request, { jws, publicUrl: door.config.publicUrl });
    return sendStillPage(door, reply, 200, page);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    setRefusalHeaders(reply, error);
    return sendStillPage(door, reply, statusOf(error), { title: "Receipt", body: refusedMarkup(error) });
  }
}

/** Returns what was asked, and its receipt, for whoever may have it. @throws {Refusal} */
async function signedFor(door: DoorContext, http: OneReceipt): Promise<{ request: Request; jws: string }> {
  const request = await readableRequest(door, http);
  return { request, jws: (await readReceipt(door.ctx, request, door.config.publicUrl)).jws };
}

/** Returns the request of a receipt, for whoever may have that. @throws {Refusal} `request_not_found` */
async function readableRequest(door: DoorContext, http: OneReceipt): Promise<Request> {
  const { ctx } = door;
  const { id } = http.params;
  if (!isId(id)) throw new Refusal("request_not_found");
  const { mayRead, isAgent = false } = await readerOf(door, http);
  const request = await (isAgent ? readRequest : readForPeople)(ctx, id);
  if (!mayRead(request)) throw new Refusal("request_not_found");
  return request;
}

/** The receipts that a caller may have. An agent has none of an approval while it is frozen. */
interface ReceiptReader {
  mayRead: (request: Request) => boolean;
  isAgent?: boolean;
}

/** Returns what the caller may have receipts of: what it asked, what it decided, or as an admin anything. */
async function readerOf(door: DoorContext, http: FastifyRequest): Promise<ReceiptReader> {
  const bySession = http.headers.authorization === undefined && cookieOf(http, cookieName(door, "parley"));
  if (bySession) {
    const { person } = await signedInPerson(door, http);
    if ((await personOfSession(door, http))?.role === "admin") return { mayRead: () => true };
    return decidedBy(person);
  }
  const holder = await keyHolder(door, http);
  if ("open" in holder) return askedBy(holder.open);
  if (holder.scope === "admin") return { mayRead: () => true };
  if (holder.scope === "answer") return decidedBy(holder.person);
  return askedBy(holder.principal);
}

const decidedBy = (person: string | null): ReceiptReader => ({
  mayRead: ({ outcome }) => outcome?.by?.kind === "person" && outcome.by.id === person,
});

const askedBy = (principal: string): ReceiptReader => ({
  mayRead: ({ asker }) => asker === principal,
  isAgent: true,
});

/** A browser names HTML; who names the receipt's own type gets that. */
function wantsPage({ headers: { accept = "" } }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/jose\b/i.test(accept);
}

function refusedMarkup({ message }: Refusal): Markup {
  return noticeMarkup(
    message,
    "A receipt is shown once the request is over, to who asked, to the person who decided, and to an admin. Sign in here first, and open its address again.",
  );
}
