import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { run, sharedSite, type AssignSite } from "../support/assign-site.ts";
import { parley } from "../support/program.ts";

/** Two tasks that change the same line, and one that needs both. */
async function conflicting(site: AssignSite, repo: string, name: string, resolves: string): Promise<string> {
  for (const side of ["left", "right"]) {
    await site.submit(`${name}-${side}`, { prompt: run(`printf 'one\\n${side}\\nthree\\n' > prices.txt`) }, repo);
  }
  const dependencies = [`${name}-left`, `${name}-right`];
  await site.submit(name, { prompt: run(resolves), dependencies }, repo);
  return name;
}

const RESOLVED = "cat prices.txt > ../seen; printf 'one\\nboth\\nthree\\n' > prices.txt";

describe("tasks that depend on others", { concurrency: true }, () => {
  const shared = sharedSite({
    repos: [
      { name: "shop", parallel: 4 },
      { name: "diamond" },
      { name: "agent", on_conflict: "agent" },
      { name: "careful", start_dependents_on: "approved" },
      { name: "fresh", on_stale: "rerun" },
    ],
    assignment: { parallel: 6 },
  });
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  async function conflictAsk(id: string): Promise<any> {
    const { reviewUrl, blockedReason, conflict, blockedBy } = await shared().until(id, "conflict");
    assert.equal(blockedReason, `${id}-left and ${id}-right do not merge in prices.txt: a person was asked`);
    const dependencies = [`${id}-left`, `${id}-right`];
    assert.deepEqual([conflict, blockedBy], [{ dependencies, paths: ["prices.txt"], waits: false }, []]);
    const ask = (await shared().person("GET", `/people/me/asks/${reviewUrl.split("/").at(-1)}`)).body;
    assert.match(ask.words, /prices\.txt/);
    return ask;
  }

  it("start with all that their dependencies did, and add one commit", async () => {
    const site = shared();
    const all: [string, string[]][] = [
      ["d", ["b", "c"]],
      ["c", ["a"]],
      ["b", ["a"]],
      ["a", []],
    ];
    // The last one is submitted first.
    for (const [id, dependencies] of all) {
      await site.submit(id, { dependencies, prompt: run(`ls > saw-${id}.txt; echo ${id} > ${id}.txt`) }, "diamond");
    }
    const { commit } = await site.until("d", "review", "diamond");
    assert.equal(
      site.git("diamond", "show", `${commit}:saw-d.txt`),
      "README.md\na.txt\nb.txt\nc.txt\nprices.txt\nsaw-a.txt\nsaw-b.txt\nsaw-c.txt\nsaw-d.txt",
    );
    const subjects = site.git(
      "diamond",
      "log",
      "--no-merges",
      "--format=%(trailers:key=AA-Task,valueonly,separator=)",
      commit,
    );
    assert.deepEqual(subjects.split("\n").sort(), ["a", "b", "c", "d"]);
    const used = site.git("diamond", "log", "-1", "--format=%(trailers:key=AA-Depends-On,valueonly)", commit).trim();
    const commits = await Promise.all(["c", "b"].map(async (id) => (await site.task(id, "diamond")).commit));
    assert.deepEqual(used.split("\n"), [`c ${commits[0]}`, `b ${commits[1]}`]);
    assert.equal(site.git("diamond", "status", "--porcelain"), "");
  });

  it("that do not merge are put to a person once, who leaves them to the agent", async () => {
    const site = shared();
    const id = await conflicting(site, "shop", "left-to-agent", RESOLVED);
    const ask = await conflictAsk(id);
    assert.deepEqual(ask.options.map(({ name }: { name: string }) => name).sort(), ["give_up", "resolve", "wait"]);
    await site.decide(ask, { option: "resolve" });
    const { commit, attempt } = await site.until(id, "review");
    assert.equal(attempt, 1);
    assert.equal(site.git("shop", "show", `${commit}:prices.txt`), "one\nboth\nthree");
    const parents = await Promise.all(["left", "right"].map(async (side) => (await site.task(`${id}-${side}`)).commit));
    assert.deepEqual(site.git("shop", "log", "-1", "--format=%P", commit).split(" "), parents);
    for (const one of site.git("shop", "rev-list", commit).split("\n")) {
      assert.doesNotMatch(site.git("shop", "show", `${one}:prices.txt`), /<<<<<<</, "no commit holds a marker");
    }
    const { conflict, blockedReason } = await site.task(id);
    assert.deepEqual([conflict, blockedReason], [undefined, undefined]);
    assert.equal(site.asked().filter((title) => title.startsWith("Conflict") && title.includes(id)).length, 1);
  });

  it("are not committed while a conflict marker is left", async () => {
    const site = shared();
    const id = await conflicting(site, "shop", "unresolved", "echo done > done.txt");
    await site.decide(await conflictAsk(id), { option: "resolve" });
    const { error, status } = await site.until(id, "failed");
    assert.deepEqual([status, error], ["error", "Conflict markers are left in prices.txt."]);
    assert.match(site.git("shop", "for-each-ref", "refs/aa"), new RegExp(`refs/aa/${id}-[0-9a-f]{8}/1-wip$`, "m"));
  });

  it("that do not merge may be given up", async () => {
    const site = shared();
    const id = await conflicting(site, "shop", "given-up", RESOLVED);
    await site.decide(await conflictAsk(id), { option: "give_up" });
    const { error, status } = await site.until(id, "failed");
    assert.equal(status, "error");
    assert.match(error, /^given up by .*: its dependencies do not merge$/);
  });

  it("that do not merge may wait until one of them has another commit", async () => {
    const site = shared();
    const id = await conflicting(site, "shop", "waits", "cat prices.txt > seen.txt");
    await site.decide(await conflictAsk(id), { option: "wait" });
    const waiting = await site.task(id);
    const dependencies = [`${id}-left`, `${id}-right`];
    const reason = `waits for another commit of ${id}-left or ${id}-right, which do not merge in prices.txt`;
    assert.deepEqual(
      [waiting.state, waiting.blockedReason, waiting.blockedBy, waiting.conflict, waiting.reviewUrl],
      ["conflict", reason, dependencies, { dependencies, paths: ["prices.txt"], waits: true }, undefined],
    );
    const shown = await parley(["task", "show", id], site.env);
    assert.match(shown.out, new RegExp(`^${id}: conflict: ${reason}\n[^]*^clash   prices\\.txt$`, "m"));
    const told = site.query(`SELECT data_json FROM task_board_events WHERE id = '${id}' ORDER BY seq`);
    const events = told.map(({ data_json: data }) => JSON.parse(String(data)) as Record<string, unknown>);
    const states = events.filter(({ state }) => state === "conflict");
    assert.deepEqual(
      states.map(({ blockedReason, conflict }) => [blockedReason, (conflict as { waits: boolean }).waits]),
      [
        [`${id}-left and ${id}-right do not merge in prices.txt: a person was asked`, false],
        [reason, true],
      ],
    );
    await site.submit(`${id}-right`, { prompt: run("echo right > right.txt") });
    const { commit } = await site.until(id, "review");
    assert.equal(site.git("shop", "show", `${commit}:seen.txt`), "one\nleft\nthree");
    assert.equal(site.git("shop", "show", `${commit}:right.txt`), "right");
  });

  it("that do not merge are the agent's in a repository that says so", async () => {
    const site = shared();
    const id = await conflicting(site, "agent", "by-agent", RESOLVED);
    const { commit } = await site.until(id, "review", "agent");
    assert.equal(site.git("agent", "show", `${commit}:prices.txt`), "one\nboth\nthree");
    assert.equal(site.asked().filter((title) => title.startsWith("Conflict") && title.includes(id)).length, 0);
  });

  it("wait for approval in a repository that says so, and are not released by a rejection", async () => {
    const site = shared();
    await site.submit("base", {}, "careful");
    await site.submit("next", { dependencies: ["base"], prompt: run("cat base.txt > next.txt") }, "careful");
    const done = await site.until("base", "review", "careful");
    const waiting = await site.task("next", "careful");
    assert.deepEqual([waiting.state, waiting.blockedBy], ["blocked", ["base"]]);
    const review = (attempt: number, verdict: string) =>
      site.assign("POST", "/assignment/careful/tasks/base/review", { body: { verdict, attempt } });
    assert.equal((await review(1, "reject")).status, 200);
    assert.match((await site.task("next", "careful")).blockedReason, /base/);
    await site.submit("base", { prompt: run("echo better > base.txt") }, "careful");
    await site.until("base", "review", "careful");
    assert.equal((await site.task("next", "careful")).state, "blocked");
    assert.equal((await review(2, "approve")).status, 200);
    const next = await site.until("next", "review", "careful");
    assert.equal(site.git("careful", "show", `${next.commit}:next.txt`), "better");
    assert.notEqual(done.commit, (await site.task("base", "careful")).commit);
  });

  it("are marked when a dependency has another commit, or done again where the repository says so", async () => {
    const site = shared();
    for (const repo of ["shop", "fresh"]) {
      await site.submit("from", { prompt: run("echo one > from.txt") }, repo);
      await site.submit("then", { dependencies: ["from"], prompt: run("cat from.txt > then.txt") }, repo);
    }
    const before = {
      shop: await site.until("then", "review", "shop"),
      fresh: await site.until("then", "review", "fresh"),
    };
    for (const repo of ["shop", "fresh"]) await site.submit("from", { prompt: run("echo two > from.txt") }, repo);
    const marked = await site.until("then", ({ stale }) => stale === true, "shop");
    assert.deepEqual([marked.state, marked.commit], ["review", before.shop.commit]);
    const again = await site.until("then", ({ state, attempt }) => state === "review" && attempt === 2, "fresh");
    assert.equal(again.stale, false);
    assert.equal(site.git("fresh", "show", `${again.commit}:then.txt`), "two");
    assert.equal(site.git("fresh", "rev-parse", `${again.branch}`), again.commit);
    const parent = site.git("fresh", "rev-parse", `${again.commit}^`);
    assert.equal(parent, (await site.task("from", "fresh")).commit);
  });
});
