import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually, openSite, run, timesOf } from "../support/assign-site.ts";

/** All 200 take a while; what a restart breaks shows with fewer too. */
const COUNT = Number(process.env["TEST_ASSIGN_TASKS"] ?? 40);

describe("a long line of tasks", () => {
  it("is worked off in the order of submission, each done once, over a restart and a crash", async () => {
    await using site = await openSite({
      repos: [
        { name: "shop", parallel: 2 },
        { name: "blog", parallel: 2 },
      ],
      assignment: { parallel: 4 },
    });
    const submit = (i: number) => {
      const prompt = run(`echo ${i} > done.txt; echo x >> ../times`);
      return site.submit(`card-${i}`, { prompt }, i % 2 === 0 ? "shop" : "blog");
    };
    for (let i = 0; i < COUNT; i += 1) await submit(i);
    const done = () => Number(site.query("SELECT count(*) AS n FROM tasks WHERE state = 'review'")[0]?.["n"]);
    const atLeast = (count: number) =>
      eventually(
        () => done() >= count,
        () => `${count} done: ${done()}\n${site.run.err()}`,
        600_000,
      );
    await atLeast(COUNT / 4);
    assert.equal(await site.stop(), 0);
    await site.start();
    await atLeast(COUNT / 2);
    await site.kill();
    await site.start();
    await atLeast(COUNT);

    const attempts = site.query(`SELECT a.repo, a.id, a.n, a.resumes, a.outcome, a.commit_sha, t.place
      FROM task_attempts a JOIN tasks t ON t.repo = a.repo AND t.id = a.id ORDER BY a.started_at, t.place`);
    assert.equal(attempts.length, COUNT);
    for (const repo of ["shop", "blog"]) {
      const own = attempts.filter((one) => one["repo"] === repo);
      const places = own.map(({ place }) => Number(place));
      assert.deepEqual(
        places,
        [...places].sort((one, other) => one - other),
        `the order in which tasks of ${repo} began`,
      );
      const refs = site.git(repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/aa", "refs/heads/aa");
      const commits = refs.split("\n").map((line) => line.split(" ")[1]);
      assert.deepEqual(
        commits.sort(),
        own.flatMap(({ commit_sha: commit }) => [String(commit), String(commit)]).sort(),
      );
    }
    assert.deepEqual(
      new Set(attempts.map(({ n, resumes, outcome }) => `${n} ${resumes} ${outcome}`)),
      new Set(["1 0 completed"]),
    );
    for (let i = 0; i < COUNT; i += 1) assert.equal(timesOf(site, `card-${i}`), "x\n");
    const reviews = site.asked();
    assert.deepEqual([reviews.length, new Set(reviews).size], [COUNT, COUNT]);
    assert.deepEqual(await site.processes(), []);
  });
});
