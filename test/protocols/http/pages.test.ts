import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import Fastify, { type FastifyInstance } from "fastify";
import { pages } from "../../../src/protocols/web/pages/pages.ts";
import { openWorld, type Reply, type World } from "../../support/world.ts";

const PAGES = [
  "/",
  "/q/q_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  "/me",
  "/leaderboard",
  "/inbox",
  "/inbox/ask_1",
  "/console",
  "/console/anything",
];

describe("pages", () => {
  let world: World;
  before(async () => {
    world = await openWorld({ on: "sqlite" });
  });
  after(() => world[Symbol.asyncDispose]());

  it("carry every header that keeps foreign text from becoming a program", async () => {
    for (const path of PAGES) {
      const { status, headers } = await world.call("GET", path);
      assert.equal(status, 200, path);
      assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
      assert.equal(headers.get("cache-control"), "no-cache");
      assert.equal(
        headers.get("content-security-policy"),
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; " +
          "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types parley",
      );
      assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
      assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("x-robots-tag"), "noindex");
      assert.equal(headers.get("strict-transport-security"), null, "plain http has nothing to be strict about");
    }
  });

  it("frame nothing, but for the bridge, which frames Prompt Pad alone and is told where that is", async () => {
    const plain = (await world.call("GET", "/")).headers.get("content-security-policy");
    const bridge = await world.call("GET", "/embed/prompt-pad.html");
    assert.equal(bridge.status, 200);
    assert.equal(bridge.headers.get("content-security-policy"), `${plain}; frame-src https://prompt-pad.danmercer.net`);
    assert.match(bridge.text, /<meta name="prompt-pad" content="https:\/\/prompt-pad\.danmercer\.net" \/>/);
    assert.equal(bridge.headers.get("referrer-policy"), "no-referrer");
    for (const [tag] of bridge.text.matchAll(/<script[^>]*>/g)) assert.match(tag, /\ssrc="\//);
  });

  it("hold no script, style or handler of their own", async () => {
    const { text } = await world.call("GET", "/");
    assert.doesNotMatch(text, /<style|\sstyle=|\son[a-z]+=/i);
    for (const [tag] of text.matchAll(/<script[^>]*>/g)) assert.match(tag, /\ssrc="\//);
    for (const [, address] of text.matchAll(/(?:src|href)="([^"]*)"/g)) assert.match(address ?? "", /^\/[^/]/);
  });

  it("are revalidated, while what is named after its content is kept for ever", async () => {
    const page = await world.call("GET", "/");
    const app = Fastify();
    await app.register(pages, { distDir: fileURLToPath(new URL("../../../web/dist/", import.meta.url)) });
    const { headers } = await app.inject({ url: "/" });
    const again = await app.inject({ url: "/", headers: { "if-none-match": String(headers.etag) } });
    assert.equal(again.statusCode, 304);
    await app.close();

    const asset = /src="(\/assets\/[^"]+)"/.exec(page.text)?.[1] ?? "";
    const script = await world.call("GET", asset, { headers: { "accept-encoding": "gzip" } });
    assert.equal(script.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(script.headers.get("content-encoding"), "gzip");
    assert.match(script.headers.get("content-type") ?? "", /^(text|application)\/javascript/);

    const worker = await world.call("GET", "/sw.js");
    assert.equal(worker.headers.get("cache-control"), "no-cache");
    assert.match(worker.headers.get("content-type") ?? "", /^(text|application)\/javascript/);
  });

  it("know nothing outside the app's own folder", async () => {
    const outside = [
      "/assets/..%2f..%2fpackage.json",
      "/icons/%2e%2e%2findex.html",
      "/assets/.hidden",
      "/assets/",
      "/icons/%00.png",
      "/assets/%zz",
      "/assets/nothing.js",
      "/inbox/ask_1/more",
    ];
    for (const path of outside) {
      const reply: Reply = await world.call("GET", path);
      assert.ok([400, 403, 404].includes(reply.status), `${path} → ${reply.status}`);
      assert.doesNotMatch(reply.text, /<html/i);
    }
    assert.equal((await world.call("POST", "/me", { body: {} })).status, 405);
  });

  it("show a browser that there is nothing at an address, and tell a client in JSON", async () => {
    const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
    const known = await world.call("GET", "/me");
    for (const path of ["/nothing", "/inbox/ask_1/more", "/q", "/agent/nothing", "/wp-login.php?x=<script>"]) {
      const shown = await world.call("GET", path, { headers: browser });
      assert.deepEqual([shown.status, shown.text], [404, known.text], path);
      for (const name of ["content-security-policy", "x-robots-tag", "referrer-policy", "content-type"])
        assert.equal(shown.headers.get(name), known.headers.get(name), name);
      assert.equal(shown.headers.get("cache-control"), "no-store");
      for (const accept of ["*/*", "application/json"]) {
        const told = await world.call("GET", path, { headers: { accept } });
        assert.deepEqual([told.status, told.body.error.code], [404, "NOT_FOUND"], path);
      }
    }
    const head = await world.call("HEAD", "/nothing", { headers: browser });
    assert.deepEqual([head.status, head.text], [404, ""]);
    const post = await world.call("POST", "/nothing", { headers: browser, body: {} });
    assert.deepEqual([post.status, post.body.error.code], [404, "NOT_FOUND"]);
    const wrongHost = await world.call("GET", "/nothing", {
      headers: { ...browser, "x-forwarded-host": "evil.example" },
    });
    assert.doesNotMatch(wrongHost.text, /evil/);
    // Every known path that is not the wanted one has its own words.
    const gone = await world.call("GET", "/agent/questions/q_none", { headers: { ...browser, "x-agent-id": "ana" } });
    assert.match(gone.headers.get("content-type") ?? "", /json/);
    const a2h = await world.call("GET", "/humanlayer/v1/nothing", { headers: browser });
    assert.deepEqual([a2h.status, a2h.body.error.code], [404, "not_found"]);
  });

  it("loads at most 32 kB of JavaScript, as it travels, before a question can be answered", async () => {
    const { text } = await world.call("GET", "/");
    let bytes = 0;
    for (const [, address] of text.matchAll(/<script[^>]* src="([^"]+)"/g)) {
      const raw = readFileSync(new URL(`../../../web/dist${address}.gz`, import.meta.url));
      bytes += raw.byteLength;
    }
    assert.ok(bytes > 10_000 && bytes <= 32_000, `${bytes} bytes`);
  });
});

describe("pages without a built app", () => {
  let app: FastifyInstance;
  const folder = mkdtempSync(join(tmpdir(), "parley-unbuilt-"));
  before(async () => {
    mkdirSync(join(folder, "dist"));
    app = Fastify();
    await app.register(pages, { distDir: join(folder, "dist") });
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("say in a sentence what to do", async () => {
    for (const url of PAGES) {
      const { statusCode, body } = await app.inject({ url });
      assert.equal(statusCode, 503);
      assert.match(body, /npm run setup/);
    }
  });
});
