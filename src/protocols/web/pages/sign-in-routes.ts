import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { Refusal } from "../../../refusals.ts";
import { findSignedIn } from "../../../access/find-signed-in.ts";
import { signIn } from "../../../access/sign-in.ts";
import { signOut } from "../../../access/sign-out.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import { SignInCodeBody, WireSignedIn } from "../../../wire/session.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { isFromHere } from "../../http/reach.ts";
import { addressMac, cookieName, cookieOf, fromOurPage, participantCookie } from "../../http/principals.ts";
import { ErrorBody } from "../../../wire/error.ts";

const SESSION_SECONDS = 30 * 86_400;

const SIGNED_IN = jsonReply(WireSignedIn);
const refusals = { 400: ErrorBody, 401: ErrorBody, 403: ErrorBody, 429: ErrorBody } as const;

/**
 * Sessions of named people: a one-time code becomes a cookie (spec/security 3).
 *
 * The cookie carries authority, so whatever changes something under it must come from a page of ours.
 */
export function signInRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx, config } = door;
  const name = cookieName(door, "parley");
  const attributes = `Path=/; HttpOnly; SameSite=Lax${config.publicUrl.startsWith("https:") ? "; Secure" : ""}`;
  const cookie = (token: string, seconds: number) => `${name}=${token}; ${attributes}; Max-Age=${seconds}`;

  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));

    app.post(
      "/session",
      {
        config: { takesBody: true },
        schema: {
          tags: ["sessions"],
          summary: "Sign in with a one-time code",
          body: SignInCodeBody,
          response: { 200: SIGNED_IN, ...refusals },
        },
      },
      async (http, reply) => {
        // A page elsewhere must not sign a visitor in as somebody of its choice. Programs send neither header.
        if (isFromBrowser(http) && !fromOurPage(door, http)) throw new Refusal("origin_refused");
        const { token, person } = await signIn(ctx, {
          code: (http.body as SignInCodeBody).code,
          formerToken: cookieOf(http, name),
          countedBy: isFromHere(config, http) ? undefined : addressMac(door, http),
        });
        return reply.header("set-cookie", cookie(token, SESSION_SECONDS)).send(signedIn(person));
      },
    );

    app.get(
      "/session",
      { schema: { tags: ["sessions"], summary: "Who is signed in", response: { 200: SIGNED_IN, 401: ErrorBody } } },
      async (http, reply) => {
        const token = cookieOf(http, name);
        const found = token === undefined ? null : await findSignedIn(ctx, token);
        if (token === undefined || !found) throw new Refusal("key_required", {}, "Nobody is signed in.");
        // Being seen makes the session last, and the cookie with it.
        return reply.header("set-cookie", cookie(token, SESSION_SECONDS)).send(signedIn(found.person));
      },
    );

    app.delete(
      "/session",
      { schema: { tags: ["sessions"], summary: "Sign out", response: { 204: z.null(), 403: ErrorBody } } },
      async (http, reply) => {
        const token = cookieOf(http, name);
        if (token !== undefined) {
          if (!fromOurPage(door, http)) throw new Refusal("origin_refused");
          await signOut(ctx, token);
        }
        // The next person at the browser is another participant of the crowd too.
        const participant = token === undefined ? [] : [participantCookie(door, "", 0)];
        return reply
          .header("set-cookie", [cookie("", 0), ...participant])
          .code(204)
          .send();
      },
    );
  };
}

function signedIn({ id, name, role }: WireSignedIn["person"]): WireSignedIn {
  return { person: { id, name, role } };
}

function isFromBrowser({ headers }: FastifyRequest): boolean {
  return headers["sec-fetch-site"] !== undefined || headers.origin !== undefined;
}
