import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fateOfWork } from "../../src/tasks/model/keep-work.ts";
import { appears, assertDone, beside, eventually, openSite, run, steps, WAITS } from "../support/assign-site.ts";
import { gitIn } from "../support/git-in.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("what is left of work that is over", () => {
  it("goes when its time has come: trees after three days, names and logs after thirty, of what lives nothing", async () => {
    await using site = await openSite({ repos: [{ name: "shop", parallel: 4 }] });
    const refs = () => site.git("shop", "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa").split("\n");
    const refsOf = (id: string) => refs().filter((ref) => ref.includes(`/${id}-`));
    const stored = () =>
      gitIn(join(site.workDir, "stores/shop.git"), "for-each-ref", "--format=%(refname)", "refs/aa").split("\n");
    const tree = (id: string) => existsSync(join(site.folder(id), "tree"));

    for (const id of ["waits", "rejected", "changes"]) await site.submit(id);
    await site.submit("half", { prompt: run("echo half > half.txt; echo going; sleep 777") });
    await site.submit("lives", { prompt: run(WAITS) });
    for (const id of ["waits", "rejected", "changes"]) await site.until(id, "review");
    await site.until("half", "running");
    await appears(join(site.folder("half"), "tree/half.txt"));
    await site.assign("DELETE", "/assignment/shop/tasks/half");
    const { branch } = await site.task("rejected");
    await site.review("rejected", "reject");
    await site.until("rejected", () => !site.git("shop", "branch", "--list", branch));
    await appears(beside(site, "lives", "times"));
    assert.deepEqual([refsOf("half").length, refsOf("rejected").length, tree("waits")], [1, 1, true]);

    await site.kill();
    site.sleepFor(73 * HOUR_MS);
    await site.start();
    await eventually(
      () => !tree("waits"),
      () => "the end of the tree that waited for its review",
    );
    assert.equal(tree("lives"), true);
    assert.ok(existsSync(join(site.folder("waits"), "log.ndjson")), "its log stays");
    assert.deepEqual([refsOf("half").length, refsOf("rejected").length], [1, 1]);
    // The deleted workspace is created again, and the session that was deleted with it is not looked for.
    await site.review("changes", "request_changes", { comment: "Louder" });
    const again = await site.until("changes", ({ state, attempt }) => state === "review" && attempt === 2);
    assert.equal(again.attempts[1].resumes, 0);

    await site.kill();
    site.sleepFor(31 * DAY_MS);
    await site.start();
    await eventually(
      () => refsOf("half").length + refsOf("rejected").length === 0,
      () => `the end of old names: ${refs().join()}`,
    );
    await eventually(
      () => !existsSync(site.folder("half")) && !existsSync(site.folder("rejected")),
      () => "the end of old logs",
    );
    assert.deepEqual(
      stored().map((ref) => ref.replace(/-[0-9a-f]{8}/, "")),
      ["refs/aa/changes/1", "refs/aa/changes/2", "refs/aa/waits/1"],
    );
    assert.equal(refsOf("waits").length, 2, "what waits for its review keeps its names");
    assert.ok(existsSync(join(site.folder("waits"), "log.ndjson")), "and its log");
    writeFileSync(beside(site, "lives", "go"), "");
    assertDone(site, "lives", await site.until("lives", "review"));
  });

  it("is begun in a new session where the one it had was swept away with its home", async () => {
    await using site = await openSite();
    await site.submit("talks", { agent: "acp", prompt: steps({ touch: "a.txt", text: "a" }, { say: "First." }) });
    await site.until("talks", "review");
    await site.kill();
    site.sleepFor(73 * HOUR_MS);
    await site.start();
    await eventually(
      () => !existsSync(join(site.folder("talks"), "tree")),
      () => "the end of its tree",
    );
    await site.review("talks", "request_changes", { comment: "More" });
    const again = await site.until("talks", ({ state, attempt }) => state === "review" && attempt === 2);
    assert.equal(again.attempts[1].resumes, 0, "a session that is gone is not looked for");
  });

  it("stays while an attempt of its task lives or may begin", () => {
    const keptFor = { treesMs: 3, logsMs: 30 };
    const task = { generation: 2, state: "approved", isAlive: false, agoMs: 40 } as const;
    const fate = (generation: number, more: object, endedAgoMs: number | null = 40) =>
      fateOfWork({ generation, task: { ...task, ...more }, endedAgoMs }, keptFor);
    assert.deepEqual([fate(2, {}), fate(2, { agoMs: 4 }), fate(2, { agoMs: 2 })], ["all", "tree", "keep"]);
    assert.deepEqual([fate(2, { state: "review" }), fate(2, { state: "queued" })], ["tree", "keep"]);
    for (const generation of [1, 2, 3]) assert.equal(fate(generation, { isAlive: true }), "keep");
    assert.deepEqual([fate(1, {}), fate(1, {}, 4), fate(1, {}, 2), fate(1, {}, null)], ["all", "tree", "keep", "all"]);
    assert.equal(fate(3, {}), "keep", "a store that is older than its folders");
  });
});
