import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ROOMY } from "../support/contract.ts";
import { noteRoutes } from "../support/reach.ts";
import { openWorld } from "../support/world.ts";

const PAGE = "https://app.example.com";
const EVERY_METHOD = 6;
/** No page of another origin may ask here, also not a listed one (spec/a2h 21). */
const CLOSED = "/hooks/claude";

describe("a preflight of any route", () => {
  const routesOfServer = noteRoutes();

  it("allows the methods that are served there, and no other", async () => {
    await using world = await openWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_CORS_ORIGINS: PAGE } });
    const served = new Map<string, Set<string>>();
    for (const { method, url } of routesOfServer(world.url)) {
      // An address of the assignment protocol gets that protocol's list (spec/assignment 1).
      if (url.startsWith("/assignment") || url === CLOSED) continue;
      const path = url.replaceAll(/:(\w+)(?:\([^)]*\))?/g, "x-$1").replace("*", "rest");
      served.set(path, (served.get(path) ?? new Set()).add(method));
    }
    const closed = await world.call("OPTIONS", CLOSED, {
      headers: { origin: PAGE, "access-control-request-method": "POST" },
    });
    assert.deepEqual([closed.status, closed.headers.get("access-control-allow-origin")], [405, null]);
    assert.equal((await world.call("POST", CLOSED, { headers: { origin: PAGE }, body: {} })).status, 403);
    assert.ok([...served.values()].some((methods) => methods.has("PATCH")));
    for (const [path, methods] of served) {
      // Where every method is declined in the same words, a preflight is too.
      if (methods.size === EVERY_METHOD) continue;
      const headers = { origin: PAGE, "access-control-request-method": "PATCH" };
      const reply = await world.call("OPTIONS", path, { headers });
      const allowed = (reply.headers.get("access-control-allow-methods") ?? "").split(", ");
      assert.deepEqual([path, reply.status, allowed], [path, 204, [...methods].filter((one) => one !== "HEAD").sort()]);
    }
  });
});
