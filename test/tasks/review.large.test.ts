import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beside, run, sharedSite, steps } from "../support/assign-site.ts";
import { readFileSync } from "node:fs";

describe("what people say of finished work", { concurrency: true }, () => {
  const ways = ["ff", "merge", "squash"] as const;
  const shared = sharedSite({
    repos: [
      { name: "shop", parallel: 4 },
      ...ways.map((how) => ({ name: how, on_approve: how, target: "done" })),
      { name: "nowhere", on_approve: "ff", target: "done" },
      { name: "used", on_approve: "ff", target: "main" },
    ],
    assignment: { parallel: 6 },
  });
  const review = (repo: string, id: string, verdict: string, more = {}) =>
    shared().assign("POST", `/assignment/${repo}/tasks/${id}/review`, { body: { verdict, attempt: 1, ...more } });

  it("goes back to the same session in the same tree, and one commit on the same start commit comes of it", async () => {
    const site = shared();
    const all = steps({ touch: "kept.txt", text: "kept" }, { say: "First." });
    await site.submit("changes", { agent: "acp", prompt: all });
    const first = await site.until("changes", "review");
    const comments = [{ path: "kept.txt", line: 1, text: "Say it louder" }];
    const reply = await review("shop", "changes", "request_changes", { comment: "Nearly", comments });
    assert.equal(reply.status, 200, reply.text);
    const second = await site.until("changes", ({ state, attempt }) => state === "review" && attempt === 2);
    assert.notEqual(second.commit, first.commit);
    assert.equal(site.git("shop", "rev-parse", `${second.commit}^`), site.git("shop", "rev-parse", `${first.commit}^`));
    assert.equal(site.git("shop", "show", `${second.commit}:kept.txt`), "kept");
    assert.match(site.git("shop", "log", "-1", "--format=%B", second.commit), /^AA-Attempt: 2$/m);
    assert.equal(site.git("shop", "rev-parse", second.branch), second.commit);
    assert.equal(site.git("shop", "rev-parse", first.ref), first.commit);
    const sessions = site.log("changes").flatMap((line) => (line.type === "session" ? [line.session] : []));
    assert.deepEqual([sessions.length, new Set(sessions).size], [2, 1], "the session is resumed");
    const said = readFileSync(beside(site, "changes", `home/.fake-agent/${sessions[0]}.json`), "utf8");
    assert.match(said, /Say it louder/);
    const [message] = second.attempts;
    assert.equal(message.outcome, "completed");
    assert.equal(site.asked().filter((title) => title.startsWith("Review") && title.includes("changes")).length, 2);
  });

  it("is refused of an attempt that is not the newest, and from whoever is nobody", async () => {
    const site = shared();
    await site.submit("conflicts");
    await site.until("conflicts", "review");
    const { status, body } = await review("shop", "conflicts", "approve", { attempt: 7 });
    assert.deepEqual([status, body.error.code, body.error.details.state], [409, "REVIEW_CONFLICT", "review"]);
  });

  it("drops the branch of rejected work, and keeps its commit", async () => {
    const site = shared();
    await site.submit("rejected");
    const { commit, branch, ref } = await site.until("rejected", "review");
    await review("shop", "rejected", "reject", { comment: "No" });
    const task = await site.until("rejected", () => !site.git("shop", "branch", "--list", branch));
    assert.match(task.error, /^rejected by .*: No$/);
    assert.equal(site.git("shop", "rev-parse", ref), commit);

    // Given again, it has one again.
    await site.submit("rejected");
    const again = await site.until("rejected", "review");
    assert.equal(again.branch, branch);
    assert.equal(site.git("shop", "rev-parse", branch), again.commit);
  });

  for (const how of ways) {
    it(`brings approved work into the target by ${how}`, async () => {
      const site = shared();
      site.git(how, "branch", "done");
      const main = site.git(how, "rev-parse", "main");
      for (const id of ["one", "two"]) await site.submit(id, {}, how);
      const [one, two] = [await site.until("one", "review", how), await site.until("two", "review", how)];
      const target = () => site.git(how, "rev-parse", "done");
      await review(how, "one", "approve");
      await site.until("one", () => target() !== main, how);
      const after = target();
      assert.equal(site.git(how, "show", "done:one.txt"), "one");
      if (how === "ff") assert.equal(after, one.commit);
      if (how === "merge") assert.equal(site.git(how, "rev-parse", "done^2"), one.commit);
      if (how === "squash") assert.equal(site.git(how, "rev-parse", "done^"), main);
      await review(how, "two", "approve");
      if (how === "ff") {
        const log = await site.until("two", ({ state }) => state === "approved", how);
        assert.equal(log.commit, two.commit);
        assert.equal(target(), after, "it is not its descendant, and is left as it is");
      } else {
        await site.until("two", () => target() !== after, how);
        assert.equal(site.git(how, "show", "done:one.txt"), "one");
        assert.equal(site.git(how, "show", "done:two.txt"), "two");
      }
      assert.equal(site.git(how, "rev-parse", "main"), main);
      assert.equal(site.git(how, "status", "--porcelain"), "");
    });
  }

  it("says what is in the way of the target, and holds nothing else up", async () => {
    const site = shared();
    const told = async (repo: string): Promise<string> => {
      const log = await site.assign("GET", `/assignment/${repo}/tasks/card/log`, {
        headers: { accept: "application/x-ndjson" },
      });
      return log.text;
    };
    for (const repo of ["nowhere", "used"]) {
      await site.submit("card", {}, repo);
      await site.until("card", "review", repo);
      await review(repo, "card", "approve");
    }
    const main = site.git("used", "rev-parse", "main");
    await site.submit("after", { prompt: run("true") }, "nowhere");
    await site.until("after", "review", "nowhere");
    assert.match(await told("nowhere"), /has no branch/);
    assert.match(await told("used"), /checked out.*git merge --ff-only/s);
    assert.equal(site.git("used", "rev-parse", "main"), main);
  });
});
