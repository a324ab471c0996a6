import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import {
  agentOf,
  appears,
  assertDone,
  beside,
  eventually,
  run,
  sharedSite,
  steps,
  timesOf,
  WAITS,
} from "../support/assign-site.ts";
import { isAlive, starttimeOf } from "../../src/workshop/sandbox/processes.ts";
import { killPid } from "../support/kill-pid.ts";

describe("an agent that is killed", { concurrency: true }, () => {
  const shared = sharedSite({ repos: [{ name: "shop", parallel: 9 }], assignment: { parallel: 9 } });
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  const pending = async (id: string): Promise<any> => {
    const { question } = await shared().until(id, (task) => task.question?.url.includes("/inbox/ask_") ?? false);
    return (await shared().person("GET", `/people/me/asks/${question.url.split("/").at(-1)}`)).body;
  };
  const decide = async (id: string) => shared().decide(await pending(id), { approved: true });

  const becameOf = async ({ id }: { id: string }) =>
    (await shared().person("GET", `/people/me/asks/${id}`)).body.call_outcome?.state;

  it("while it waits for a permission is resumed, and people are asked once", async () => {
    const site = shared();
    await site.submit("waits", {
      agent: "claude",
      prompt: steps({ touch: "half.txt" }, { run: "echo yes >> waits.txt" }),
    });
    const ask = await pending("waits");
    process.kill(await agentOf(site, "waits"), "SIGKILL");
    await site.until("waits", ({ state, attempts }) => attempts[0].resumes === 1 && state === "awaiting_answer");
    assert.equal((await pending("waits")).id, ask.id);
    await site.decide(ask, { approved: true });
    const task = await site.until("waits", "review");
    assertDone(site, "waits", task);
    assert.equal(site.git("shop", "show", `${task.commit}:waits.txt`), "yes");
    assert.equal(site.asked().filter((title) => title.includes(">> waits.txt")).length, 1);
  });

  it("after a permission was delivered asks again, and the decision before is shown", async () => {
    const site = shared();
    const line = "echo yes >> ran.txt; [ -e ../killed ] || { touch ../killed; kill -9 $PPID; }";
    await site.submit("did", { agent: "claude", prompt: steps({ run: line }) });
    const first = await pending("did");
    await site.decide(first, { approved: true, comment: "only this once" });
    await site.until("did", ({ state, attempts }) => attempts[0].resumes === 1 && state === "awaiting_answer");
    const second = await pending("did");
    assert.notEqual(second.id, first.id);
    assert.match(JSON.stringify(second), /earlier|before/i);
    // Nobody knows how far the first went.
    assert.equal(await becameOf(first), "unknown");
    await site.decide(second, { approved: true });
    assertDone(site, "did", await site.until("did", "review"));
    assert.equal(await becameOf(second), "done");
  });

  it("without a session to go on with begins again on the start commit", async () => {
    const site = shared();
    await site.submit("anew", { prompt: run(`echo junk >> junk.txt; ${WAITS}; ls > seen.txt`) });
    await site.until("anew", "running");
    await appears(beside(site, "anew", "times"));
    process.kill(await agentOf(site, "anew"), "SIGKILL");
    await site.until("anew", ({ attempts }) => attempts[0].resumes === 1);
    await eventually(
      () => timesOf(site, "anew") === "x\nx\n",
      () => "its second begin",
    );
    writeFileSync(beside(site, "anew", "go"), "");
    const task = await site.until("anew", "review");
    assertDone(site, "anew", task);
    assert.equal(site.git("shop", "show", `${task.commit}:junk.txt`), "junk");
    assert.match(site.git("shop", "for-each-ref", "--format=%(refname)", "refs/aa"), /\/anew-[0-9a-f]{8}\/1-wip$/m);
  });

  it("again and again is given up after two resumes, and its work is kept", async () => {
    const site = shared();
    const crashes = [1, 2, 3].flatMap((n) => [{ touch: `part-${n}.txt`, text: `${n}` }, { crash: true } as const]);
    await site.submit("dies", { agent: "claude", prompt: steps(...crashes) });
    const task = await site.until("dies", "failed");
    assert.match(task.error, /^the agent died 3 times; the last time: Claude Code ended without a result \(SIGKILL\)/);
    assert.deepEqual([task.status, task.attempts[0].resumes], ["error", 2]);
    const refs = site.git("shop", "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa");
    const own = refs.split("\n").filter((ref) => ref.includes("/dies-"));
    assert.deepEqual(
      own.map((ref) => ref.replace(/-[0-9a-f]{8}/, "")),
      ["refs/aa/dies/1-wip", "refs/aa/dies/1-wip2", "refs/aa/dies/1-wip3"],
    );
    assert.equal(site.git("shop", "show", `${own[2]}:part-3.txt`), "3");
  });

  it("together with its supervisor, or by the death of that alone, is resumed", async () => {
    const site = shared();
    await site.submit("orphan", {
      agent: "claude",
      prompt: steps({ touch: "half.txt" }, { run: "echo yes >> orphan.txt" }),
    });
    await pending("orphan");
    const agent = await agentOf(site, "orphan");
    const starttime = starttimeOf(agent);
    await killPid(site.mark("orphan").pid);
    await site.until("orphan", ({ state, attempts }) => attempts[0].resumes === 1 && state === "awaiting_answer");
    // The process that inherits the agent may take a while to notice its end.
    await eventually(
      () => !isAlive(agent, starttime),
      () => "the end of the agent whose supervisor died",
    );
    await decide("orphan");
    const task = await site.until("orphan", "review");
    assertDone(site, "orphan", task);
    assert.equal(site.asked().filter((title) => title.includes(">> orphan.txt")).length, 1);
  });
});
