import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { ONE_DATABASE, openWorld, type Reply, type World } from "../support/world.ts";

/** The cookie a browser would send back. */
const cookieIn = (reply: Reply) => reply.headers.get("set-cookie")?.split(";")[0] ?? assert.fail("no cookie was set");

const codeFor = async (world: World) => (await createSignInLink(world.server.ctx, OPERATOR)).code;

async function signIn(world: World, headers: Record<string, string> = {}): Promise<Reply> {
  return world.call("POST", "/session", { body: { code: await codeFor(world) }, headers });
}

for (const on of ONE_DATABASE) {
  describe(`sessions on ${on}`, () => {
    it("begin with a code from a link, and end when signed out", async () => {
      await using world = await openWorld({ on });
      const person = { id: "1", name: "operator", role: "admin" };
      const entered = await signIn(world, { origin: world.url, "sec-fetch-site": "same-origin" });
      assert.deepEqual([entered.status, entered.body], [200, { person }]);
      assert.equal(entered.headers.get("cache-control"), "no-store");
      const cookie = cookieIn(entered);

      const seen = await world.call("GET", "/session", { headers: { cookie } });
      assert.deepEqual([seen.status, seen.body, cookieIn(seen)], [200, { person }, cookie]);

      const left = await world.call("DELETE", "/session", { headers: { cookie, "sec-fetch-site": "same-origin" } });
      assert.equal(left.status, 204);
      assert.match(left.headers.get("set-cookie") ?? "", /^parley=; .*Max-Age=0/);
      const gone = await world.call("GET", "/session", { headers: { cookie } });
      assert.deepEqual(gone.body, { error: { code: "UNAUTHORIZED", message: "Nobody is signed in." } });
      assert.equal(gone.status, 401);
    });

    it("replace the session that was there", async () => {
      await using world = await openWorld({ on });
      const former = cookieIn(await signIn(world));
      await signIn(world, { cookie: former, origin: world.url });
      assert.equal((await world.call("GET", "/session", { headers: { cookie: former } })).status, 401);
    });
  });
}

describe("sign-in", () => {
  it("refuses codes that are wrong, used or malformed", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const code = await codeFor(world);
    const send = (body: unknown) => world.call("POST", "/session", { body });
    assert.equal((await send({ code: "wrong" })).body.error.code, "UNAUTHORIZED");
    assert.equal((await send({ code })).status, 200);
    assert.equal((await send({ code })).status, 401);
    assert.deepEqual((await send({})).body.error.details, { field: "code", constraint: "required" });
    assert.equal((await send({ code: 7 })).status, 400);
    assert.equal((await send("nonsense")).status, 400);
    assert.equal(
      (await world.call("POST", "/session", { body: "code=x", headers: { "content-type": "text/plain" } })).status,
      415,
    );
  });

  it("takes no code from another site, and lets none act under the cookie", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const elsewhere: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
    ];
    for (const headers of elsewhere) {
      const refused = await signIn(world, headers);
      assert.deepEqual([refused.status, refused.body.error.code], [403, "ORIGIN_REFUSED"]);
      assert.equal(refused.headers.get("set-cookie"), null);
    }
    const cookie = cookieIn(await signIn(world));
    const notOurs: Record<string, string>[] = [{}, { "sec-fetch-site": "same-site" }, { origin: "http://localhost:1" }];
    for (const headers of notOurs) {
      const refused = await world.call("DELETE", "/session", { headers: { cookie, ...headers } });
      assert.equal(refused.status, 403);
    }
    assert.equal((await world.call("GET", "/session", { headers: { cookie } })).status, 200);
  });

  it("binds its cookie to the host where people come by https", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_PUBLIC_URL: "https://parley.example" } });
    const entered = await signIn(world);
    assert.match(
      entered.headers.get("set-cookie") ?? "",
      /^__Host-parley=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=2592000$/,
    );
  });

  it("counts tries by address where others can reach the server", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_HOST: "0.0.0.0" } });
    for (let i = 0; i < 10; i += 1) {
      assert.equal((await world.call("POST", "/session", { body: { code: "wrong" } })).status, 401);
    }
    const limited = await signIn(world);
    assert.deepEqual([limited.status, limited.body.error.code], [429, "RATE_LIMITED"]);
    await world.advance(3_600_000);
    assert.equal((await signIn(world)).status, 200);
  });
});
