import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { describe } from "node:test";
import { systemClock as clock } from "../../src/lib/clock.ts";
import { findRecorded, recordTree } from "../../src/workshop/recorded-tree.ts";
import { until } from "../support/contract.ts";
import { itWith } from "../support/parts.ts";
import { killPid } from "../support/kill-pid.ts";

const itWithPs = await itWith("ps");

describe("the record of what an agent started, for systems without /proc", () => {
  itWithPs("knows a process whose parent has gone, until it has ended itself, and no stranger", async () => {
    const attemptId = `recorded-${process.pid}`;
    // A child between the shell and the grandchild, which goes after a while.
    const script = "(setsid sleep 777 & echo $!; sleep 4; :) & echo $!; wait; exec sleep 777";
    const shell = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const { pid = 0 } = shell;
    const pids = [pid];
    const record = recordTree(attemptId, pid, clock);
    try {
      for await (const line of createInterface({ input: shell.stdout })) {
        if (pids.push(Number(line)) === 3) break;
      }
      const found = () => findRecorded(attemptId);
      await until(async () => {
        const known = await found();
        return pids.every((one) => known.includes(one));
      });
      await until(async () => (await found()).length === 2);
      await record.close();

      await killPid(pid);
      const [left = 0, ...more] = await findRecorded(attemptId);
      assert.ok(pids.includes(left) && left !== pid && more.length === 0);
      await killPid(left);
      assert.deepEqual(await findRecorded(attemptId), []);
      assert.deepEqual(await findRecorded("nobody"), []);
    } finally {
      await record.close();
      for (const one of pids) await killPid(one);
      await findRecorded(attemptId);
    }
  });
});
