import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findLiveAttempts } from "../../src/tasks/store/attempts.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { openAssignment } from "../support/assignment.ts";
import { until } from "../support/contract.ts";
import { Dice } from "../support/secret-corpus.ts";
import { DATABASES } from "../support/world.ts";

const SENDERS = 4;
const TURNS = 12;

for (const on of DATABASES) {
  describe(`tasks that many change at once, on ${on}`, () => {
    it("are all as the doctor wants them, and nobody is refused for another's sake", async () => {
      await using scene = await openAssignment(on);
      const { ana, runner, world } = scene;
      const nodes = [world, ...(on === "postgres" ? [await scene.addNode()] : [])];
      const headers = { authorization: `Bearer ${ana.key}` };
      const ids = Array.from({ length: 6 }, (_, i) => `t${i}`);
      const statuses: number[] = [];
      let isOver = false;

      const send = async (seed: number) => {
        const dice = new Dice(seed);
        for (let turn = 0; turn < TURNS; turn += 1) {
          const node = dice.one(nodes);
          const id = dice.one(ids);
          const dependencies = [dice.one(ids), dice.one(ids)].filter((one) => one !== id);
          const reply =
            dice.below(4) === 0
              ? await node.call("DELETE", `/assignment?id=${id}`, { headers })
              : await node.call("POST", "/assignment", { headers, body: { id, prompt: "Do it", dependencies } });
          statuses.push(reply.status);
        }
      };
      // Work that a rival has taken away is given up, as the code that runs attempts does.
      const lose = () => undefined;
      const work = () =>
        until(async () => {
          const id = await runner.start();
          if (id !== undefined) await runner.complete("shop", id, `${id} ${statuses.length}`).catch(lose);
          return isOver;
        });
      const bury = () =>
        until(async () => {
          for (const attempt of await findLiveAttempts(world.server.ctx.db)) {
            if (attempt.state === "ending") await runner.bury(attempt.repo, attempt.id).catch(lose);
          }
          return isOver;
        });
      const working = Promise.all([work(), work(), bury()]);
      await Promise.all(Array.from({ length: SENDERS }, (_, i) => send(i + 1)));
      isOver = true;
      await working;

      assert.deepEqual(
        statuses.filter((status) => ![200, 202, 404, 409].includes(status)),
        [],
      );
      assert.ok(statuses.filter((status) => status === 202).length > SENDERS * 3);
      const findings = await examineStore(world.server.ctx, { quick: false });
      assert.deepEqual(
        findings.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });
  });
}
