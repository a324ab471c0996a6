import { closingSentence } from "../../../requests/end/closing-sentence.ts";
import type { Context } from "../../../context.ts";
import type { Request, Decision } from "../../../requests/model/request.ts";
import { optionsOf } from "../../../requests/model/view.ts";
import { decisionOfReply } from "../../../requests/model/decision-of-reply.ts";
import { shapeOf } from "../../../requests/model/schema-shape.ts";
import { Refusal } from "../../../refusals.ts";
import { findSignedIn } from "../../../access/find-signed-in.ts";
import { decideByLink, readLink, type LinkReading } from "../../../requests/links/open-link.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../../http/door.ts";
import { logFailure, refusalFrom, setRefusalHeaders, statusOf } from "../../http/errors.ts";
import { cookieName, cookieOf, fromOurPage } from "../../http/principals.ts";
import { drawnAsk } from "../drawing/draw-thread.ts";
import { secretRows } from "../inbox/arguments.ts";
import { html } from "../pages/html.ts";
import { seenBox } from "./arguments.ts";
import * as view from "./view.ts";
import { wholeNumber } from "../../http/query.ts";
import { openedCookie, openedProblem } from "./cookie.ts";
import { sendStillPage, type StillPage } from "../pages/still-page.ts";

const BODY_BYTES = 262_144;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;

interface OneLink {
  Params: { token: string };
}

/**
 * The page of a one-time link, for whoever got it in a message: no script, no session, no account (spec/channels 3.1).
 * Looking changes nothing; deciding takes a press, a moment, an answer, and the code of the message, so
 * that a machine that follows links and presses buttons decides nothing.
 */
export function linkPage(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;

  return async (app) => {
    app.setErrorHandler((error, http, reply) => sendTrouble(door, error, http, reply));

    app.get<OneLink>("/r/:token", { schema: { hide: true } }, async (http, reply) => {
      const { token } = http.params;
      return sendStillPage(door, reply, 200, await shown(ctx, token, await readLink(ctx, token), null));
    });

    app.post<OneLink>("/r/:token/open", { bodyLimit: BODY_BYTES, ...FORM }, async (http, reply) => {
      refuseForeign(http);
      const { token } = http.params;
      const reading = await readLink(ctx, token);
      if (reading.request.state !== "open")
        return sendStillPage(door, reply, 200, await shown(ctx, token, reading, null));
      const nonce = Buffer.from(ctx.random(16)).toString("base64url");
      reply.header("set-cookie", openedCookie(door, token, nonce));
      const page = await decidable(door, http, { token, reading }, { nonce, values: {}, wrong: null });
      return sendStillPage(door, reply, 200, page);
    });

    app.post<OneLink>("/r/:token/decide", { bodyLimit: BODY_BYTES, ...FORM }, async (http, reply) => {
      refuseForeign(http);
      const { token } = http.params;
      const reading = await readLink(ctx, token);
      const given = formOf(http);
      const nonce = given.get("nonce") ?? "";
      if (reading.request.state === "open") {
        const problem = openedProblem(door, http, token, nonce);
        if (problem !== null) return sendStillPage(door, reply, 403, await shown(ctx, token, reading, problem));
        const wrong = await decide(door, http, { token, reading }, given);
        if (wrong !== null) {
          const form = { nonce, values: Object.fromEntries(given), wrong: wrong.says };
          return sendStillPage(door, reply, wrong.status, await decidable(door, http, { token, reading }, form));
        }
      }
      return reply.code(303).header("location", `/r/${token}`).send();
    });
  };
}

/** A link, with what it leads to. */
interface FollowedLink {
  token: string;
  reading: LinkReading;
}

/** Sends a decision; returns what is wrong with it, or nothing when it was taken, or came too late to be. */
async function decide(
  door: DoorContext,
  http: FastifyRequest,
  { token, reading, reading: { request } }: FollowedLink,
  given: URLSearchParams,
): Promise<{ status: number; says: string } | null> {
  const decision = decisionOf(request, given);
  if (!decision) return { status: 400, says: request.form.kind === "approval" ? CHOOSE : ANSWER };
  if (decision.kind === "approve" && !hasSeenSecrets(request, given)) return { status: 400, says: UNSEEN };
  const signedIn = await signedInBy(door, http);
  try {
    const code = given.get("code") ?? "";
    await decideByLink(door.ctx, token, { decision, code, read: reading, ...(signedIn !== undefined && { signedIn }) });
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (OVER.has(error.code)) return null;
    const errors = error.details["errors"] as { path: string; message: string }[] | undefined;
    const where = errors?.map(({ path, message }) => `${path || "The answer"} ${message}`).join("; ");
    return { status: statusOf(error), says: where === undefined ? error.message : `${error.message} ${where}.` };
  }
}

/** Nobody approves a part of a call that they have not looked at. */
function hasSeenSecrets({ wire, form }: Request, given: URLSearchParams): boolean {
  if (form.kind !== "approval") return true;
  return secretRows({ wire }, form.kwargs).every((secret, at) => !secret || given.has(seenBox(at)));
}

async function signedInBy(door: DoorContext, http: FastifyRequest): Promise<string | undefined> {
  const token = cookieOf(http, cookieName(door, "parley"));
  if (token === undefined || !fromOurPage(door, http)) return undefined;
  return (await findSignedIn(door.ctx, token))?.person.id;
}

/** Returns the page of a link as it is before it is opened, or once the ask is over. */
async function shown(
  { db }: Context,
  token: string,
  { request, locked }: LinkReading,
  wrong: string | null,
): Promise<StillPage> {
  const body = await drawnAsk(request);
  if (request.state !== "open") {
    const sentence = await closingSentence(db, request);
    const outcome = view.outcomeMarkup(sentence.charAt(0).toUpperCase() + sentence.slice(1));
    return { title: view.titleOf(request), body: html`${outcome}${body}` };
  }
  const end = locked ? html`<p class="wrong">${LOCKED}</p>` : view.continueMarkup(`/r/${token}/open`, wrong);
  return { title: view.titleOf(request), body: html`${body}${end}` };
}

/** Returns the page on which the ask is decided. A signed-in recipient of the message needs no code. */
async function decidable(
  door: DoorContext,
  http: FastifyRequest,
  { token, reading: { request, delivery } }: FollowedLink,
  form: Pick<view.LinkForm, "nonce" | "values" | "wrong">,
): Promise<StillPage> {
  const isOwn = delivery.person !== null && (await signedInBy(door, http)) === delivery.person;
  const decision = view.decisionMarkup(request, { ...form, action: `/r/${token}/decide`, asksCode: !isOwn });
  const body = html`${await drawnAsk(request, form.values)}${decision}`;
  return { title: view.titleOf(request), body };
}

function sendTrouble(door: DoorContext, error: unknown, http: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalFrom(error);
  if (!refusal) {
    logFailure(door.ctx, error, http);
    return sendStillPage(door, reply, 500, {
      title: "Error",
      body: view.noticeMarkup("Something went wrong", TRY_AGAIN),
    });
  }
  setRefusalHeaders(reply, refusal);
  const says = refusal.code === "link_dead" ? DEAD : refusal.message;
  return sendStillPage(door, reply, statusOf(refusal), {
    title: "Parley",
    body: view.noticeMarkup(refusal.message, says),
  });
}

/** A page that tells nobody where it came from tells no origin either; the nonce proves more than that would. */
const FORM = { config: { originless: true }, schema: { hide: true } } as const;

const CHOOSE = "Choose whether to approve or to reject.";
const ANSWER = "Choose or write an answer.";
const UNSEEN = "Open each argument that holds a secret, and tick that you have seen all of it.";
const LOCKED = "Too many wrong codes: this link decides nothing any more. Use the inbox, or another message.";
const DEAD =
  "It may be incomplete, what it was about may have been over for a week, or it stood in words that a program can read. Use the newest message, or the inbox.";
const TRY_AGAIN = "Nothing was decided. Try again in a moment.";

/** The page then shows how it ended. */
const OVER: ReadonlySet<string> = new Set(["already_decided", "request_expired", "request_cancelled"]);

function refuseForeign({ headers }: FastifyRequest): void {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") throw new Refusal("origin_refused");
}

function formOf({ headers, body }: FastifyRequest): URLSearchParams {
  if (!FORM_TYPE.test(headers["content-type"] ?? "")) {
    throw new Refusal("unsupported_media_type", {}, "This page takes forms only.");
  }
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : "");
}

/** Returns what was chosen and written, or null where nothing was. */
function decisionOf(request: Request, given: URLSearchParams): Decision | null {
  const { form } = request;
  const choice = given.get("choice") ?? "";
  const option = optionsOf(request)[optionAt(choice) ?? -1];
  const written = (name: string, most: number): string | undefined => {
    const words = (given.get(name) ?? "").replaceAll("\r\n", "\n").replaceAll("\0", "").toWellFormed();
    return words.trim() === "" ? undefined : words.slice(0, most);
  };
  if (form.kind === "approval") {
    const comment = written("comment", 5000) ?? option?.promptFill;
    const decision = { ...(comment !== undefined && { comment }), digest: given.get("digest") ?? "" };
    if (choice === "approve") return { kind: "approve", ...decision };
    if (choice === "reject") return { kind: "reject", ...decision };
    return option ? { kind: "reject", ...decision, option: option.name } : null;
  }
  if (form.kind === "value") return valueDecision(request, given, written);
  const text = written("text", 40_000) ?? option?.promptFill;
  if (text === undefined && !option) return null;
  return { kind: "reply", ...(text !== undefined && { text }), ...(option && { option: option.name }) };
}

function optionAt(choice: string): number | null {
  return choice.startsWith("option:") ? wholeNumber(choice.slice("option:".length), { min: 0, max: 99 }) : null;
}

/** Returns the decision of a form for a value. Buttons, fields and text are read as on every channel. */
function valueDecision(
  request: Request,
  given: URLSearchParams,
  written: (name: string, most: number) => string | undefined,
): Decision | null {
  const text = written("text", 40_000);
  const shape = request.form.kind === "value" && request.form.schema ? shapeOf(request.form.schema) : null;
  if (shape?.kind === "object" && text === undefined) {
    const fields = shape.fields.map((_, i) => written(`field:${i}`, 40_000) ?? null);
    return decisionOfReply(request, { content: { fields } }, "");
  }
  const index = optionAt(given.get("choice") ?? "");
  if (index === null) return text === undefined ? null : { kind: "value", text };
  const comment = written("comment", 5000);
  const choice = { kind: "option", index, ...(comment !== undefined && { text: comment }) } as const;
  return decisionOfReply(request, { content: { choice } }, "");
}
