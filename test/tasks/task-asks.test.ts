import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Task, TaskState } from "../../src/tasks/model/task.ts";
import type { ReviewFacts } from "../../src/tasks/model/task-asks.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { listReviews } from "../../src/tasks/store/reviews.ts";
import { findTask, findTaskMemory, lockTask, updateTask, type TaskPatch } from "../../src/tasks/store/tasks.ts";
import { transact } from "../../src/core/store/transact.ts";
import { moveTaskIn } from "../../src/tasks/move.ts";
import { reviewTask } from "../../src/tasks/review.ts";
import { submitTask } from "../../src/tasks/submit.ts";
import { newConflict } from "../../src/tasks/model/conflict.ts";
import { askAboutConflictIn, askForReviewIn } from "../../src/tasks/ask-people.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { enrol, providerOf } from "../support/addressed.ts";
import { fresh, until } from "../support/contract.ts";
import { sharedRelay, type RelayScene } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const COMMIT = "9f1c2ab04d7e5c6b8a90123456789abcdef01234";
const PROMPT = "Add VAT to the export\n\nOnly for shops in the EU.";
const BY = { kind: "agent", id: "agent:planner" } as const;
const DAY_MS = 86_400_000;
const FACTS: ReviewFacts = {
  changed: true,
  diffstat: { files: 2, insertions: 41, deletions: 7 },
  branch: "aa/card-1-3f2a9c01",
  files: " src/export.ts | 40 +++\n src/vat.ts | 8 +",
  ref: "refs/aa/card-1-3f2a9c01/1",
  warnings: [],
};

/** A task in the repository `shop`, as it is submitted. */
async function submitted({ world }: RelayScene, more: { id?: string; prompt?: string } = {}): Promise<Task> {
  const input = { repo: "shop", id: fresh("card"), prompt: PROMPT, agent: null, base: null, startOn: null, ...more };
  return (await submitTask(world.server.ctx, { ...input, dependencies: [], principal: BY.id, by: BY })).task;
}

async function move(
  { world }: RelayScene,
  { repo, id }: Task,
  states: readonly [TaskState, TaskPatch][],
): Promise<Task> {
  const { ctx } = world.server;
  return transact(ctx, async (tx) => {
    let task = (await lockTask(tx, repo, id)) ?? assert.fail("there is no such task");
    for (const [state, patch] of states) task = await moveTaskIn(ctx, tx, task, { to: state, ...patch });
    return task;
  });
}

/** A task whose work is up for review, and the ask about it. */
async function reviewed(
  scene: RelayScene,
  more: Parameters<typeof submitted>[1] = {},
  people = scene.world.server.ctx.relay.people,
): Promise<Task> {
  const server = scene.world.server.ctx;
  const ctx = { ...server, relay: { ...server.relay, people } };
  const one = await submitted(scene, more);
  const steps = [
    ["preparing", { attempt: 1 }],
    ["running", {}],
    ["committing", {}],
  ] as const;
  const task = await move(
    scene,
    one,
    steps.map(([state, patch]) => [state, patch]),
  );
  return transact(ctx, async (tx) => {
    const attempt = {
      attemptId: "none",
      n: 1,
      agent: "claude",
      sandbox: "none",
      usage: { turns: 12, costUsd: 0.341 },
      jobId: "none",
    } as const;
    const reviewAsk = await askForReviewIn(ctx, tx, task, { attempt, facts: FACTS });
    return moveTaskIn(ctx, tx, task, { to: "review", commit: COMMIT, changed: true, reviewAsk });
  });
}

/** A task whose dependencies do not merge, and the ask about it. */
async function conflicted(scene: RelayScene): Promise<Task> {
  const { ctx } = scene.world.server;
  const task = await move(scene, await submitted(scene), [["preparing", { attempt: 1 }]]);
  return transact(ctx, async (tx) => {
    const found = { paths: ["src/a.ts"], deps: ["card-b", "card-c"] };
    const reviewAsk = await askAboutConflictIn(ctx, tx, task, found);
    return moveTaskIn(ctx, tx, task, { to: "conflict", reviewAsk, conflict: newConflict(found) });
  });
}

const askOf = ({ reviewAsk }: Task): string => reviewAsk ?? assert.fail("nobody was asked");

for (const on of DATABASES) {
  describe(`what people are asked about tasks, on ${on}`, () => {
    const sms = providerOf("sms");
    const scene = sharedRelay(on, { channels: [sms] });
    const ctx = () => scene().world.server.ctx;
    const now = async ({ repo, id }: Task) => (await findTask(ctx().db, repo, id)) ?? assert.fail("it is gone");
    const reviewsOf = ({ repo, id }: Task) => listReviews(ctx().db, repo, id);
    const stateOf = async (askId: string) => (await findRequest(ctx().db, askId))?.request.state;

    it("shows what the work is, without a deadline, and approves what a person approves", async () => {
      const dana = await scene().person();
      const task = await reviewed(scene());
      const { body } = await dana.whole(askOf(task));
      assert.equal(body.title, `Review ${task.id}: Add VAT to the export`);
      assert.deepEqual(
        [body.kind, body.agent, body.expires_at, body.run],
        ["reply", "claude", null, `shop / ${task.id}`],
      );
      assert.match(body.words, /^Add VAT to the export\n\nOnly for shops/);
      assert.match(body.words, /attempt 1 by claude, on aa\/card-1-3f2a9c01\.\nIt ran without a sandbox/);
      assert.match(body.words, /2 files, \+41 -7:\n src\/export\.ts \| 40/);
      assert.match(body.words, /Used: 12 turns, 0\.34 USD\./);
      assert.deepEqual(
        body.options.map(({ name, interactive }: { name: string; interactive: boolean }) => [name, interactive]),
        [
          ["approve", false],
          ["request_changes", true],
          ["reject", false],
        ],
      );

      assert.equal((await dana.decide(askOf(task), { option: "approve" })).status, 200);
      const after = await now(task);
      assert.deepEqual([after.state, after.reviewAsk], ["approved", null]);
      const [review] = await reviewsOf(task);
      assert.deepEqual([review?.decision, review?.comment, review?.principal], ["approve", null, dana.id]);
    });

    it("puts the task in line again for changes, which need words; words alone ask for changes", async () => {
      const dana = await scene().person();
      const task = await reviewed(scene());
      for (const decision of [{ option: "request_changes" }, { text: "Request changes" }]) {
        const refused = await dana.decide(askOf(task), decision);
        assert.equal(refused.status, 400, refused.text);
      }
      assert.equal((await now(task)).state, "review");
      assert.equal((await dana.decide(askOf(task), { option: "request_changes", text: "Round up." })).status, 200);
      assert.deepEqual([(await now(task)).state, (await reviewsOf(task))[0]?.comment], ["queued", "Round up."]);
      const { feedback } = (await findTaskMemory(ctx().db, "shop", task.id)) ?? {};
      assert.deepEqual(feedback, { attempt: 1, comment: "Round up.", comments: [] });

      const other = await reviewed(scene());
      assert.equal((await dana.decide(askOf(other), { text: "Use cents." })).status, 200);
      assert.deepEqual(
        [(await now(other)).state, (await reviewsOf(other))[0]?.decision],
        ["queued", "request_changes"],
      );
    });

    it("rejects with the person's words, and takes no second decision", async () => {
      const dana = await scene().person();
      const task = await reviewed(scene());
      await dana.decide(askOf(task), { option: "reject", text: "Not what we need." });
      const after = await now(task);
      assert.deepEqual([after.state, after.error], ["rejected", `rejected by ${dana.name}: Not what we need.`]);
      assert.equal((await dana.decide(askOf(task), { option: "approve" })).status, 409);
      assert.equal((await reviewsOf(task)).length, 1);
    });

    it("closes what people see of a review that came by another way, with what was said", async () => {
      const dana = await scene().person();
      const task = await reviewed(scene());
      const input = { repo: "shop", id: task.id, attempt: 1, comments: [], person: dana.id, name: dana.name } as const;
      await reviewTask(ctx(), { ...input, decision: "approve", comment: "Good." });
      const { body } = await dana.whole(askOf(task));
      assert.deepEqual([body.state, body.outcome.option, body.outcome.text], ["answered", "Approve", "Good."]);
      assert.deepEqual([(await now(task)).state, (await reviewsOf(task)).length], ["approved", 1]);
    });

    it("reviews once when several decide at once, here and there", async () => {
      const people = await Promise.all([1, 2, 3].map(() => scene().person()));
      const task = await reviewed(scene());
      const id = askOf(task);
      const byDoor = reviewTask(ctx(), {
        repo: "shop",
        id: task.id,
        attempt: 1,
        comments: [],
        person: people[0]?.id ?? "",
        name: "x",
        decision: "reject",
        comment: null,
      }).then(
        () => 200,
        () => 409,
      );
      const byPeople = people.map(async (one) => (await one.decide(id, { option: "approve" })).status);
      const replies = await Promise.all([byDoor, ...byPeople]);
      assert.deepEqual(replies.sort(), [200, 409, 409, 409]);
      assert.equal((await reviewsOf(task)).length, 1);
    });

    it("withdraws what is asked about work that was taken back, and nobody decides it any more", async () => {
      const dana = await scene().person();
      const task = await reviewed(scene());
      // A crash between the task's move and the closing leaves this state.
      await transact(ctx(), (tx) => updateTask(tx, task, { reviewAsk: null }));
      await until(async () => {
        await scene().world.advance(1000);
        return (await stateOf(askOf(task))) === "cancelled";
      });
      assert.equal((await dana.decide(askOf(task), { option: "approve" })).status, 409);
      assert.equal((await now(task)).state, "review");
    });

    it("leaves a conflict to the agent, waits, or gives up, as a person says", async () => {
      const dana = await scene().person();
      const task = await conflicted(scene());
      const { body } = await dana.whole(askOf(task));
      assert.match(body.words, /card-b, card-c\.\n\nIn conflict:\n- src\/a\.ts/);
      assert.equal((await dana.decide(askOf(task), { text: "whatever" })).status, 400);
      assert.equal((await dana.decide(askOf(task), { option: "resolve" })).status, 200);
      const resolved = await now(task);
      assert.deepEqual([resolved.state, resolved.resolveConflict, resolved.reviewAsk], ["queued", true, null]);

      const waiting = await conflicted(scene());
      await dana.decide(askOf(waiting), { option: "wait" });
      const { state, reviewAsk, blockedReason } = await now(waiting);
      assert.deepEqual(
        [state, reviewAsk, blockedReason],
        ["conflict", null, "waits for another commit of card-b or card-c, which do not merge in src/a.ts"],
      );

      const given = await conflicted(scene());
      await dana.decide(askOf(given), { option: "give_up" });
      const after = await now(given);
      assert.deepEqual(
        [after.state, after.error],
        ["failed", `given up by ${dana.name}: its dependencies do not merge`],
      );
    });

    it("fails a task about whose conflict nobody says anything for seven days", async () => {
      const task = await conflicted(scene());
      await scene().world.advance(7 * DAY_MS + 1000);
      await until(async () => {
        await scene().world.advance(500);
        return (await now(task)).state === "failed";
      });
      assert.match((await now(task)).error ?? "", /nobody said within seven days/);
      assert.equal(await stateOf(askOf(task)), "expired");
    });

    it("reaches whoever is usually asked on their channel, and takes what they write there", async () => {
      const [name, to] = [fresh("Cy"), "+4912345678"];
      const cy = await enrol(ctx(), name, [{ channel: "sms", target: { to } }], {
        identities: [{ kind: "phone", value: to }],
      });
      const task = await reviewed(scene(), {}, { default: name, public: false });
      const notice = await until(async () => {
        await scene().world.advance(500);
        return sms.sent.find(({ view }) => view.requestId === task.reviewAsk);
      });
      const say = async (id: string, text: string) =>
        handleInbound(ctx(), "http://parley.test", {
          provider: "sms",
          id: `${task.id} ${id}`,
          at: 0,
          trust: "verified",
          content: { text },
          match: { delivery: notice.delivery },
          sender: { kind: "phone", id: to },
        });
      const asked = await say("1", "#2");
      assert.equal(asked.kind, "not_understood", JSON.stringify(asked));
      assert.equal((await now(task)).state, "review");
      assert.equal((await say("2", "Round the tax up.")).kind, "accepted");
      assert.deepEqual([(await now(task)).state, (await reviewsOf(task))[0]?.comment], ["queued", "Round the tax up."]);
      assert.equal((await reviewsOf(task))[0]?.principal, cy);
    });

    it("takes secrets out of what it shows of the prompt", async () => {
      const dana = await scene().person();
      const task = await reviewed(scene(), { prompt: "Use AKIAIOSFODNN7EXAMPLZ for the bucket" });
      const { body } = await dana.whole(askOf(task));
      assert.doesNotMatch(JSON.stringify(body), /AKIAIOSFODNN7/);
      assert.match(body.words, /\[secret:/);
    });
  });
}
