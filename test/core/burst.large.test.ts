import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, it } from "node:test";
import { openPair } from "../proof/freeze-pair.ts";
import { openDoor } from "../proof/race-door.ts";
import { openLog } from "../proof/race-log.ts";

const BURSTS = 2;
const PEOPLE = 200;
const NEED = 50;
/** No person of a burst is refused for what others have answered. */
const ROOMY = {
  PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "100000",
  PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "100000",
};

/** Keeps one core busy until it is disposed of. */
function busyLoop(): Disposable {
  const child = spawn(process.execPath, ["-e", "for (;;);"]);
  const endWithUs = () => child.kill("SIGKILL");
  process.once("exit", endWithUs);
  return {
    [Symbol.dispose]() {
      process.off("exit", endWithUs);
      child.kill("SIGKILL");
    },
  };
}

describe("200 people who answer one question at once, through two servers beside two busy programs", () => {
  it("are answered exactly: 50 counted, 150 too late, in every burst (spec/ask-a-human 11, race 1)", async () => {
    await using pair = await openPair(ROOMY);
    using _one = busyLoop();
    using _two = busyLoop();
    const log = openLog();
    const door = openDoor(pair.urls, log);
    for (let burst = 0; burst < BURSTS; burst += 1) {
      const made = await door.create({ client: 0, node: 0 }, `asker-${burst}`, {
        need: NEED,
        options: 2,
        timeoutSeconds: 3600,
      });
      const ask = log.asks.get(made.ask ?? "");
      assert.ok(ask, `the question was refused: ${made.status}`);
      const answers = await Promise.all(
        Array.from({ length: PEOPLE }, (_, i) => door.answer({ client: i, node: i % 2 }, `person-${burst}-${i}`, ask)),
      );
      const counts = [201, 410].map((status) => answers.filter((one) => one.status === status).length);
      assert.deepEqual(counts, [NEED, PEOPLE - NEED], `burst ${burst}`);
    }
    door.close();
  });
});
