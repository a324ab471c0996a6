import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { html } from "./html.ts";

/** Where the app shows something of its own; every other address is not its. */
const APP_PATHS = [
  "/",
  "/index.html",
  "/q/:id",
  "/me",
  "/leaderboard",
  "/inbox",
  "/inbox/:id",
  "/console",
  "/console/*",
];

/** Files whose name never changes, so their content is asked for every time. */
const PLAIN_FILES = ["sw.js", "theme.js", "manifest.webmanifest"];

/** A file in a folder, and no way out of it. */
const FILE_NAME = ":name(^\\w[\\w.-]*$)";

/** Frames Prompt Pad, and makes what somebody submits in it a task. */
const PAD_PATH = "/embed/prompt-pad.html";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types parley",
].join("; ");

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
} as const;

const HSTS = "max-age=31536000";
const FOR_EVER = "public, max-age=31536000, immutable";

export interface PagesOptions {
  /** The built web app. */
  distDir: string;
  /** Whether people reach this server by https only. */
  hsts?: boolean;
  /** The origin of the one page that may be framed, at one address; nothing is framed without it. */
  promptPad?: string;
}

/**
 * The web app is served, with the headers of every page (spec/security 2).
 *
 * Files named after their content may be kept for ever, the page itself never without asking. While the app has not
 * been built, each of its addresses says what to do about that.
 */
export async function pages(app: FastifyInstance, options: PagesOptions): Promise<void> {
  app.addHook("onSend", async (_request, reply) => {
    reply.headers(PAGE_HEADERS);
    if (options.hsts) reply.header("strict-transport-security", HSTS);
    if (reply.statusCode >= 400) reply.header("cache-control", "no-store");
  });

  if (!existsSync(join(options.distDir, "index.html"))) {
    for (const path of [...APP_PATHS, PAD_PATH]) {
      app.get(path, { schema: { hide: true } }, (_request, reply) => sendNotBuilt(reply));
    }
    return;
  }

  await app.register(fastifyStatic, {
    root: options.distDir,
    serve: false,
    index: false,
    preCompressed: true,
    dotfiles: "ignore",
    cacheControl: false,
  });

  for (const path of APP_PATHS) {
    app.get(path, { schema: { hide: true } }, (_request, reply) => sendFresh(reply, "index.html"));
  }
  if (options.promptPad !== undefined) {
    const { promptPad } = options;
    const page = padPage(readFileSync(join(options.distDir, "index.html"), "utf8"), promptPad);
    app.get(PAD_PATH, { schema: { hide: true }, onSend: framing(promptPad) }, (_request, reply) =>
      reply.header("cache-control", "no-cache").type("text/html; charset=utf-8").send(page),
    );
  }
  for (const file of PLAIN_FILES) {
    app.get(`/${file}`, { schema: { hide: true } }, (_request, reply) => sendFresh(reply, file));
  }
  app.get<Named>(`/icons/${FILE_NAME}`, { schema: { hide: true } }, (http, reply) => {
    return sendFresh(reply, `icons/${http.params.name}`);
  });
  app.get<Named>(`/assets/${FILE_NAME}`, { schema: { hide: true } }, (http, reply) => {
    return reply.header("cache-control", FOR_EVER).sendFile(`assets/${http.params.name}`);
  });
}

/**
 * Returns a handler for a missing page. A browser gets the app with status 404; the app shows a screen for it.
 * Any other client, such as one of an API, gets the refusal as it is.
 */
export function missingPage(options: PagesOptions): (http: FastifyRequest, reply: FastifyReply) => boolean {
  const page = join(options.distDir, "index.html");
  return (http, reply) => {
    const isPage = /\btext\/html\b/.test(http.headers.accept ?? "");
    if (!isPage || !["GET", "HEAD"].includes(http.method) || !existsSync(page)) return false;
    reply.headers(PAGE_HEADERS).header("cache-control", "no-store").header("vary", "Accept");
    if (options.hsts) reply.header("strict-transport-security", HSTS);
    void reply.code(404).type("text/html; charset=utf-8").send(readFileSync(page));
    return true;
  };
}

/** The app, with the page that it may frame. */
function padPage(app: string, origin: string): string {
  return app.replace("</head>", `${html`<meta name="prompt-pad" content="${origin}" />`.text}</head>`);
}

/** The policy of every page, but for one origin that may be framed. */
function framing(origin: string) {
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.header("content-security-policy", `${CONTENT_SECURITY_POLICY}; frame-src ${origin}`);
  };
}

interface Named {
  Params: { name: string };
}

/** Sends a file that a browser may keep, but must ask about each time. */
function sendFresh(reply: FastifyReply, file: string): FastifyReply {
  return reply.header("cache-control", "no-cache").sendFile(file);
}

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .header("cache-control", "no-store")
    .type("text/plain; charset=utf-8")
    .send("The web app has not been built yet: run `npm run setup`, then start the server again.\n");
}
