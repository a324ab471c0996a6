import { createHash } from "node:crypto";
import { sameText } from "../../lib/keyring.ts";
import type { AddressedAsk, Decision } from "../../model/addressed-ask.ts";
import { optionsOf } from "../../model/ask-view.ts";
import { valueOf } from "../../model/heard-decision.ts";
import { Refusal } from "../../refusals.ts";
import { findSignedIn } from "../../verbs/find-signed-in.ts";
import { closingSentence } from "../../verbs/hear.ts";
import { decideByLink, readLink, type LinkReading } from "../../verbs/open-link.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../door.ts";
import { refusalFrom, setRefusalHeaders, statusOf } from "../door-errors.ts";
import { cookieName, cookieOf, fromOurPage } from "../door-principals.ts";
import { html, type Markup } from "./html.ts";
import * as view from "./link-view.ts";

/** Nobody reads and decides faster than this; what follows every link and presses every button does. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 15 * 60_000;
const BODY_BYTES = 262_144;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;

interface OneLink {
  Params: { token: string };
}

/**
 * The page of a one-time link, for whoever got it in a message: no script, no session, no account (channels.md, section
 * 3.1). Looking changes nothing; deciding takes a press, a moment, a choice, and for a call the code of the message, so
 * that a machine that follows links and presses buttons decides nothing.
 */
export function linkPage(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;

  return async (app) => {
    app.setErrorHandler((error, request, reply) => sendTrouble(error, request, reply));

    app.get<OneLink>("/r/:token", { schema: { hide: true } }, async (request, reply) => {
      const { token } = request.params;
      return send(reply, 200, await shown(token, await readLink(ctx, token), null));
    });

    app.post<OneLink>("/r/:token/open", { bodyLimit: BODY_BYTES, ...FORM }, async (request, reply) => {
      refuseForeign(request);
      const { token } = request.params;
      const reading = await readLink(ctx, token);
      if (reading.ask.state !== "open") return send(reply, 200, await shown(token, reading, null));
      const nonce = Buffer.from(ctx.random(16)).toString("base64url");
      reply.header("set-cookie", openCookie(token, nonce));
      return send(reply, 200, await decidable(request, token, reading, { nonce, said: {}, wrong: null }));
    });

    app.post<OneLink>("/r/:token/decide", { bodyLimit: BODY_BYTES, ...FORM }, async (request, reply) => {
      refuseForeign(request);
      const { token } = request.params;
      const reading = await readLink(ctx, token);
      const given = formOf(request);
      const nonce = given.get("nonce") ?? "";
      if (reading.ask.state === "open") {
        const problem = nonceProblem(request, token, nonce);
        if (problem !== null) return send(reply, 403, await shown(token, reading, problem));
        const wrong = await decide(request, token, reading, given);
        if (wrong !== null) {
          const said = Object.fromEntries(["choice", "comment", "text"].map((name) => [name, given.get(name) ?? ""]));
          return send(
            reply,
            wrong.status,
            await decidable(request, token, reading, { nonce, said, wrong: wrong.says }),
          );
        }
      }
      return reply.code(303).header("location", `/r/${token}`).send();
    });
  };

  /** Sends a decision; returns what is wrong with it, or nothing when it was taken, or came too late to be. */
  async function decide(
    request: FastifyRequest,
    token: string,
    { ask }: LinkReading,
    given: URLSearchParams,
  ): Promise<{ status: number; says: string } | null> {
    const decision = decisionOf(ask, given);
    if (!decision) return { status: 400, says: ask.form.kind === "approval" ? CHOOSE : ANSWER };
    const signedIn = await signedInBy(request);
    try {
      const code = given.get("code") ?? "";
      await decideByLink(ctx, token, { decision, code, ...(signedIn !== undefined && { signedIn }) });
      return null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (OVER.has(error.code)) return null;
      const errors = error.details["errors"] as { path: string; message: string }[] | undefined;
      const where = errors?.map(({ path, message }) => `${path || "The answer"} ${message}`).join("; ");
      return { status: statusOf(error), says: where === undefined ? error.message : `${error.message} ${where}.` };
    }
  }

  async function signedInBy(request: FastifyRequest): Promise<string | undefined> {
    const token = cookieOf(request, cookieName(door, "parley"));
    if (token === undefined || !fromOurPage(door, request)) return undefined;
    return (await findSignedIn(ctx, token))?.person.id;
  }

  async function shown(token: string, { ask, locked }: LinkReading, wrong: string | null): Promise<Page> {
    const body = view.askMarkup(ask);
    if (ask.state !== "open") {
      const sentence = await closingSentence(ctx.db, ask);
      const outcome = view.outcomeMarkup(sentence.charAt(0).toUpperCase() + sentence.slice(1));
      return { title: view.titleOf(ask), body: html`${outcome}${body}` };
    }
    const end =
      locked && ask.form.kind === "approval"
        ? html`<p class="wrong">${LOCKED}</p>`
        : view.continueMarkup(`/r/${token}/open`, wrong);
    return { title: view.titleOf(ask), body: html`${body}${end}` };
  }

  async function decidable(
    request: FastifyRequest,
    token: string,
    { ask, delivery }: LinkReading,
    form: Pick<view.LinkForm, "nonce" | "said" | "wrong">,
  ): Promise<Page> {
    const isOwn = delivery.person !== null && (await signedInBy(request)) === delivery.person;
    const asksCode = ask.form.kind === "approval" && !isOwn;
    const decision = view.decisionMarkup(ask, { ...form, action: `/r/${token}/decide`, asksCode });
    return { title: view.titleOf(ask), body: html`${view.askMarkup(ask)}${decision}` };
  }

  // What was opened is proved by the cookie alone, so nothing is stored by whoever only looks.

  function openCookie(token: string, nonce: string): string {
    const at = String(ctx.clock.now());
    const secure = door.config.publicUrl.startsWith("https:") ? "; Secure" : "";
    const value = `${at}.${nonce}.${macOf(token, at, nonce)}`;
    return `${nameOf(token)}=${value}; Path=/r/; Max-Age=${LONGEST_MS / 1000}; HttpOnly; SameSite=Strict${secure}`;
  }

  function macOf(token: string, at: string, nonce: string): string {
    return ctx.keyring.mac("delivery", `opened ${token} ${at} ${nonce}`);
  }

  function nonceProblem(request: FastifyRequest, token: string, given: string): string | null {
    const [at = "", nonce = "", mac = ""] = (cookieOf(request, nameOf(token)) ?? "").split(".");
    if (!sameText(mac, macOf(token, at, nonce)) || !sameText(given, nonce)) return OPEN_AGAIN;
    const since = ctx.clock.now() - Number(at);
    if (since < SHORTEST_MS) return TOO_FAST;
    return since > LONGEST_MS ? OPEN_AGAIN : null;
  }

  function send(reply: FastifyReply, status: number, { title, body }: Page): FastifyReply {
    const styleNonce = Buffer.from(ctx.random(16)).toString("base64url");
    return reply
      .code(status)
      .headers(headersWith(styleNonce))
      .type("text/html; charset=utf-8")
      .send(view.documentOf({ styleNonce, title, body }));
  }

  function sendTrouble(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = refusalFrom(error);
    if (!refusal) {
      ctx.log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, "a request failed");
      return send(reply, 500, { title: "Error", body: view.noticeMarkup("Something went wrong", TRY_AGAIN) });
    }
    setRefusalHeaders(reply, refusal);
    const says = refusal.code === "link_dead" ? DEAD : refusal.message;
    return send(reply, statusOf(refusal), { title: "Parley", body: view.noticeMarkup(refusal.message, says) });
  }

  function headersWith(styleNonce: string): Record<string, string> {
    return {
      "content-security-policy": `default-src 'none'; style-src 'nonce-${styleNonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex",
      "cross-origin-opener-policy": "same-origin",
      ...(door.config.publicUrl.startsWith("https:") && { "strict-transport-security": "max-age=31536000" }),
    };
  }
}

interface Page {
  title: string;
  body: Markup;
}

/** A page that tells nobody where it came from tells no origin either; the nonce proves more than that would. */
const FORM = { config: { originless: true }, schema: { hide: true } } as const;

const CHOOSE = "Choose whether to approve or to reject.";
const ANSWER = "Choose or write an answer.";
const TOO_FAST = "That was faster than anybody reads. Press Continue, and decide again.";
const OPEN_AGAIN = "This page was open for too long, or its cookie is missing. Press Continue, and decide again.";
const LOCKED = "Too many wrong codes: this link decides nothing any more. Use the inbox, or another message.";
const DEAD = "It may be incomplete, or what it was about has been over for a week.";
const TRY_AGAIN = "Nothing was decided. Try again in a moment.";

/** The page then shows how it ended. */
const OVER: ReadonlySet<string> = new Set(["already_decided", "request_expired", "request_cancelled"]);

/** Several links may be open at once, each with a cookie of its own; its name says nothing of the link. */
function nameOf(token: string): string {
  return `parley_r_${createHash("sha256").update(`cookie ${token}`).digest("hex").slice(0, 12)}`;
}

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
function decisionOf(ask: AddressedAsk, given: URLSearchParams): Decision | null {
  const { form } = ask;
  const choice = given.get("choice") ?? "";
  const at = /^option:(\d{1,2})$/.exec(choice)?.[1];
  const option = at === undefined ? undefined : optionsOf(ask)[Number(at)];
  const written = (name: string, most: number): string | undefined => {
    const words = (given.get(name) ?? "").replaceAll("\r\n", "\n").replaceAll("\0", "").toWellFormed();
    return words.trim() === "" ? undefined : words.slice(0, most);
  };
  if (form.kind === "approval") {
    const comment = written("comment", 5000) ?? option?.promptFill;
    const said = { ...(comment !== undefined && { comment }), digest: given.get("digest") ?? "" };
    if (choice === "approve") return { kind: "approve", ...said };
    if (choice === "reject") return { kind: "reject", ...said };
    return option ? { kind: "reject", ...said, option: option.name } : null;
  }
  const text = written("text", 40_000) ?? option?.promptFill;
  if (form.kind === "value") return text === undefined ? null : valueOf(ask, text);
  if (text === undefined && !option) return null;
  return { kind: "reply", ...(text !== undefined && { text }), ...(option && { option: option.name }) };
}
