import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findTask, findTaskMemory, listReviewed } from "../../src/tasks/store/tasks.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { enrol } from "../support/addressed.ts";
import { sharedAssignment, shaOf, type AssignmentScene, type Sender } from "../support/assignment.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const codeOf = ({ status, body }: Reply): unknown[] => [status, body.error?.code];

/** A task whose first attempt is up for review. */
async function upForReview({ ana, runner }: AssignmentScene, id: string): Promise<string> {
  await ana.submit(id);
  while ((await runner.start()) !== id);
  return runner.complete("shop", id);
}

async function dana({ world, sender }: AssignmentScene): Promise<Sender & { person: string }> {
  const person = await enrol(world.server.ctx, "Dana", [], { seesAll: true });
  return { ...(await sender({ person })), person };
}

const review = (by: Sender, id: string, body: Record<string, unknown>): Promise<Reply> =>
  by.call("POST", `/assignment/tasks/${encodeURIComponent(id)}/review`, { body: { attempt: 1, ...body } });

for (const on of DATABASES) {
  describe(`reviews of finished work on ${on}`, () => {
    const shared = sharedAssignment(on);

    it("approve it, and leave word of what is to be done in git", async () => {
      const by = await dana(shared());
      const commit = await upForReview(shared(), "fine");
      const reply = await review(by, "fine", { verdict: "approve", comment: "Good." });
      assert.deepEqual([reply.status, reply.body.state, reply.body.commit], [200, "approved", commit]);
      const { db } = shared().world.server.ctx;
      assert.deepEqual((await findTaskMemory(db, "shop", "fine"))?.after, { kind: "approve", attempt: 1, commit });
      assert.ok((await listReviewed(db, ["shop"], 100)).some(({ id }) => id === "fine"));
      const { reviews } = (await shared().ana.call("GET", "/assignment/tasks/fine")).body;
      assert.deepEqual(
        reviews.map(({ at: _, ...said }: Record<string, unknown>) => said),
        [{ attempt: 1, verdict: "approve", comment: "Good.", comments: [], by: "Dana" }],
      );
      const { items } = await readAudit({ db }, { callId: "shop/fine", afterSeq: 0, limit: 20 });
      assert.deepEqual(
        items.map(({ action }) => action),
        ["task.queued", "task.preparing", "task.running", "task.committing", "task.review", "task.approved"],
      );
      assert.deepEqual(items.at(-1)?.["actor"], { kind: "human", id: by.person });
    });

    it("reject it, in the reviewer's words", async () => {
      const by = await dana(shared());
      const commit = await upForReview(shared(), "bad");
      const reply = await review(by, "bad", { verdict: "reject", comment: "Not what we need" });
      const { status, state, error, commit: shown } = reply.body;
      assert.deepEqual(
        [status, state, error, shown],
        ["error", "rejected", "rejected by Dana: Not what we need", undefined],
      );
      const memory = await findTaskMemory(shared().world.server.ctx.db, "shop", "bad");
      assert.deepEqual(memory?.after, { kind: "reject", attempt: 1, commit });
    });

    it("ask for changes, and the next attempt knows which", async () => {
      const { ana, runner, world } = shared();
      const by = await dana(shared());
      await upForReview(shared(), "almost");
      const comments = [{ path: "src/vat.ts", line: 12, text: "Round to cents.", more: "ignored" }];
      const reply = await review(by, "almost", { verdict: "request_changes", comments });
      assert.deepEqual([reply.body.status, reply.body.commit, reply.body.attempt], ["queued", undefined, 1]);
      const { db } = world.server.ctx;
      assert.deepEqual((await findTaskMemory(db, "shop", "almost"))?.feedback, {
        attempt: 1,
        comment: null,
        comments: [{ path: "src/vat.ts", line: 12, text: "Round to cents." }],
      });
      assert.equal(
        (await findTask(db, "shop", "almost"))?.started,
        0,
        "a person's wish counts as no start of Parley's",
      );
      while ((await runner.start()) !== "almost");
      await runner.complete("shop", "almost", "rounded");
      const late = await review(by, "almost", { verdict: "approve" });
      assert.deepEqual(codeOf(late), [409, "REVIEW_CONFLICT"]);
      assert.deepEqual(late.body.error.details, { state: "review", attempt: 2 });
      assert.equal((await review(by, "almost", { verdict: "approve", attempt: 2 })).body.commit, shaOf("rounded"));
      const verdicts = (await ana.call("GET", "/assignment/tasks/almost")).body.reviews;
      assert.deepEqual(
        verdicts.map(({ verdict }: { verdict: string }) => verdict),
        ["request_changes", "approve"],
      );
    });

    it("are given once, by persons, of work that is there", async () => {
      const { ana } = shared();
      const by = await dana(shared());
      await upForReview(shared(), "once");
      const verdict = "approve";
      assert.deepEqual(codeOf(await review(ana, "once", { verdict })), [403, "FORBIDDEN"]);
      assert.deepEqual(codeOf(await review(by, "nowhere", { verdict })), [404, "TASK_NOT_FOUND"]);
      assert.deepEqual(codeOf(await review(by, "once", { verdict: "yes" })), [400, "VALIDATION_ERROR"]);
      assert.deepEqual(codeOf(await review(by, "once", { verdict, attempt: "1" })), [400, "VALIDATION_ERROR"]);
      assert.deepEqual(codeOf(await review(by, "once", { verdict, comments: [{ path: "a" }] })), [
        400,
        "VALIDATION_ERROR",
      ]);
      const replies = await Promise.all(Array.from({ length: 5 }, () => review(by, "once", { verdict })));
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
      assert.deepEqual(replies.find(({ status }) => status === 409)?.body.error, {
        code: "REVIEW_CONFLICT",
        message: "This work is not up for review any more.",
        details: { state: "approved", attempt: 1 },
      });
    });
  });
}
