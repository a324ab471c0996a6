import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import { openScene } from "../support/a2h.ts";
import { advanceUntil, fresh, MINUTE } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { DATABASES } from "../support/world.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A program whose function says that it runs, and never returns. */
const PROGRAM = `import { Parley } from "@parley/sdk";
const { TEST_TO: to, TEST_KEY: idempotencyKey } = process.env;
const deploy = new Parley().requireApproval(() => {
  console.log("running");
  return new Promise((resolve) => setTimeout(resolve, 2 ** 30));
}, { name: "deploy", to });
await deploy({ version: "1.4.2" }, { idempotencyKey });
`;

for (const on of DATABASES) {
  describe(`a process that is killed while its approved function runs, on ${on}`, () => {
    it("leaves a call that has started, is unknown after an hour, and does not run in another process", async () => {
      await using scene = await openScene(on, { at: Date.now() });
      const name = fresh("Ana Ruiz");
      const { person } = await scene.human(name);
      const ana = await decider(scene.world, person, person);
      const idempotencyKey = fresh("deploy");
      const env = { PATH: process.env["PATH"], PARLEY_URL: scene.world.url, PARLEY_KEY: scene.agent.key };
      const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], {
        cwd: ROOT,
        env: { ...env, TEST_TO: name, TEST_KEY: idempotencyKey },
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await ana.decides({ approved: true });
        const [said] = (await once(child.stdout, "data")) as [Buffer];
        assert.equal(String(said).trim(), "running");
      } finally {
        child.kill("SIGKILL");
      }
      await once(child, "exit");

      const stateOf = async () =>
        (await scene.agent.call("GET", `//a2h/v1alpha1/function_calls/${idempotencyKey}`)).body.status.outcome.state;
      assert.equal(await stateOf(), "started");
      let ran = 0;
      const parley = new Parley({ url: scene.world.url, key: scene.agent.key });
      const deploy = parley.requireApproval((_: { version: string }) => (ran += 1), { name: "deploy", to: name });
      for (const state of ["started", "unknown"]) {
        await assert.rejects(deploy({ version: "1.4.2" }, { idempotencyKey }), { code: "already_claimed" });
        assert.deepEqual([ran, await stateOf(), (await ana.inbox()).length], [0, state, 0]);
        if (state === "started") await advanceUntil(scene.world, MINUTE, async () => (await stateOf()) === "unknown");
      }
    });
  });
}
