import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { FIRST_POLICY } from "../src/model/policy-text.ts";
import { createSignInLink } from "../src/verbs/create-sign-in-link.ts";
import { reloadPolicy } from "../src/verbs/policy-proposals.ts";
import { OPERATOR } from "../src/verbs/prepare-first-start.ts";
import { newFolder, serve, stop } from "./program.ts";
import { DATABASES, openWorld, type Node, type World } from "./world.ts";

const readyz = async ({ url }: { url: string }) => (await fetch(`${url}/readyz`)).text();
/** Lets the server's loops look until it says something. */
async function untilReady(world: World, words: string, node: Node = world): Promise<void> {
  for (let i = 0; i < 200 && (await readyz(node)) !== words; i += 1) await world.advance(500);
  assert.equal(await readyz(node), words);
}

/** Signs the operator in, and returns what lists the titles of what waits for them. */
async function operatorOf(world: World): Promise<() => Promise<string[]>> {
  const { code } = await createSignInLink(world.server.ctx, OPERATOR);
  const session = await world.call("POST", "/session", { body: { code } });
  const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return async () => {
    const inbox = await world.call("GET", "/people/me/asks", { headers: { cookie, "sec-fetch-site": "same-origin" } });
    return (inbox.body as { asks: { title: string }[] }).asks.map(({ title }) => title);
  };
}

for (const on of DATABASES) {
  describe(`a server and its policy file on ${on}`, () => {
    it("has one from the first start, says that it holds a mistake, and tells admins of it once", async () => {
      await using world = await openWorld({ on });
      const path = world.config.relay.policyFile;
      assert.equal(readFileSync(path, "utf8"), FIRST_POLICY);
      assert.equal(await readyz(world), "ready");

      writeFileSync(path, "version: 1\nrule: []\n");
      await untilReady(world, "ready\npolicy: stale");
      assert.equal((await fetch(`${world.url}/readyz`)).status, 200);
      const inbox = await operatorOf(world);
      for (let i = 0; i < 100 && (await inbox()).length === 0; i += 1) await world.advance(500);
      await world.advance(5000);
      assert.deepEqual(await inbox(), ["The policy file is not in force"]);

      writeFileSync(path, "version: 2\n");
      await untilReady(world, "ready");
    });
  });
}

describe("the policy file of several servers", () => {
  it("is read again by all of them when somebody says so", async () => {
    await using world = await openWorld({ on: "postgres" });
    const other = await world.addNode();
    await untilReady(world, "ready", other);
    writeFileSync(world.config.relay.policyFile, "version: [\n");
    await reloadPolicy(world.server.ctx);
    await untilReady(world, "ready\npolicy: stale", other);
    await untilReady(world, "ready\npolicy: stale");
  });
});

describe("parley serve", () => {
  it("reads the policy file again when it is told to by SIGHUP", async () => {
    const dataDir = newFolder();
    const run = await serve(dataDir);
    assert.equal(await readyz(run), "ready");
    writeFileSync(join(dataDir, "policy.yaml"), "version: [\n");
    run.child.kill("SIGHUP");
    let said = "";
    for (let i = 0; i < 200 && said !== "ready\npolicy: stale"; i += 1) said = await readyz(run);
    assert.equal(said, "ready\npolicy: stale");
    assert.equal(await stop(run), 0);
  });
});
