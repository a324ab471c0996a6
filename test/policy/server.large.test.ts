import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { FIRST_POLICY } from "../../src/policy/model/text.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { reloadPolicy } from "../../src/policy/proposals.ts";
import { OPERATOR } from "../support/identities.ts";
import { advanceUntil, until } from "../support/contract.ts";
import { messagesOf } from "../support/log-lines.ts";
import { newFolder, parley, serve, stop, until as untilFound } from "../support/program.ts";
import { DATABASES, openWorld, type Node, type World } from "../support/world.ts";

const readyz = async ({ url }: { url: string }) => (await fetch(`${url}/readyz`)).text();
/** Lets the server's loops look until it says something. */
async function untilReady(world: World, words: string, node: Node = world): Promise<void> {
  await advanceUntil(world, 500, async () => (await readyz(node)) === words);
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
      await advanceUntil(world, 500, async () => (await inbox()).length > 0);
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
  it("says in one sentence at start that the policy file holds a mistake, as lint and doctor do", async () => {
    const dataDir = newFolder();
    assert.equal(await stop(await serve(dataDir)), 0);
    const path = join(dataDir, "policy.yaml");
    writeFileSync(path, "version: 1\ndefaults: { other: ALLOW }\n");
    const why = "policy.yaml:2: defaults.other must be ESCALATE or DENY: ALLOW would allow whatever no rule speaks of.";
    const run = await serve(dataDir, { PARLEY_LOG_LEVEL: "fatal" });
    const then = "so people decide everything until it is mended";
    const said = await untilFound(() => run.err().includes("policy file") && messagesOf(run.err()), "the sentence");
    assert.ok(said.includes(`The policy file ${path} is not in force, ${then}: ${why}\n`), said);
    assert.equal(await readyz(run), "ready\npolicy: stale");
    assert.equal(await stop(run), 0);

    const store = ["--data-dir", dataDir];
    assert.deepEqual(await parley(["policy", "lint", ...store]), { code: 2, out: "", err: `parley: ${why}\n` });
    const examined = await parley(["doctor", "--quick", ...store]);
    assert.deepEqual([examined.code, examined.err], [1, ""]);
    assert.ok(examined.out.includes(`BROKEN  policy  the policy file can be in force\n                ${why}\n`));
    writeFileSync(path, "version: 1\n");
    assert.equal((await parley(["doctor", "--quick", ...store])).code, 0);
    const again = await serve(dataDir);
    assert.doesNotMatch(again.err(), /policy/);
    assert.equal(await stop(again), 0);
  });

  it("reads the policy file again when it is told to by SIGHUP", async () => {
    const dataDir = newFolder();
    const run = await serve(dataDir);
    assert.equal(await readyz(run), "ready");
    writeFileSync(join(dataDir, "policy.yaml"), "version: [\n");
    run.child.kill("SIGHUP");
    await until(async () => (await readyz(run)) === "ready\npolicy: stale");
    assert.equal(await stop(run), 0);
  });
});
