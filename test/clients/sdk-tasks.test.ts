import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ParleyError } from "@parley/sdk/errors";
import { Tasks } from "@parley/sdk/tasks";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { OPERATOR } from "../support/identities.ts";

describe("tasks by the SDK", () => {
  let scene: AssignmentScene;
  const clientOf = async (input: Parameters<AssignmentScene["sender"]>[0] = {}, repo?: string): Promise<Tasks> => {
    const { key } = await scene.sender(input);
    return new Tasks({ url: scene.world.url, key, repo, retries: 0 });
  };
  before(async () => {
    scene = await openAssignment("sqlite");
  });
  after(() => scene[Symbol.asyncDispose]());

  it("are submitted once, followed, reviewed, and cancelled", async () => {
    const tasks = await clientOf({ person: OPERATOR }, "shop");
    const input = { id: "fix-total", prompt: "The total of an empty cart is NaN." };
    const [idempotencyKey, { runner }] = ["key-1", scene];
    const first = await tasks.submit(input, { idempotencyKey });
    assert.deepEqual([first.id, first.repo, first.state], ["fix-total", "shop", "queued"]);
    assert.equal((await tasks.submit(input, { idempotencyKey })).id, first.id);
    const board = await tasks.board();
    assert.deepEqual([board.serverName, board.tasks.map(({ id }) => id)], ["Parley on studio", ["fix-total"]]);

    const stop = new AbortController();
    const states: unknown[] = [];
    const following = (async () => {
      for await (const event of tasks.events("fix-total", { signal: stop.signal })) {
        if (event.type === "state") states.push(event["state"]);
        if (states.at(-1) === "review") return;
      }
    })();
    assert.equal(await runner.start(), "fix-total");
    await runner.complete("shop", "fix-total");
    await following;
    stop.abort();
    assert.deepEqual(
      (await tasks.log("fix-total")).filter(({ type }) => type === "state").map((event) => event["state"]),
      states,
    );

    const { prompt, attempt } = await tasks.task("fix-total");
    assert.equal(prompt, input.prompt);
    assert.equal((await tasks.review("fix-total", { verdict: "approve", attempt })).state, "approved");
    await tasks.submit({ id: "add-tax", prompt: "Add the tax." });
    assert.equal((await tasks.cancel("add-tax")).state, "canceled");
  });

  it("leave a worker what reviews are to become in its repository", async () => {
    const worker = await clientOf({ scope: "executor" }, "shop");
    const { reviewed } = await worker.reviewedWork();
    assert.deepEqual(reviewed, []);
    await worker.noteSettled({ id: "fix-total", n: 1, commit: "0".repeat(40), message: "Merged." });
  });

  it("say why something is refused", async () => {
    const refused = (by: Promise<unknown>, status: number, code: ParleyError["code"]): Promise<void> =>
      assert.rejects(by, (error) => {
        assert.ok(error instanceof ParleyError, String(error));
        assert.deepEqual([error.status, error.code], [status, code]);
        return true;
      });
    const tasks = await clientOf();
    await refused(tasks.task("none"), 404, "TASK_NOT_FOUND");
    await refused(tasks.log("none"), 404, "TASK_NOT_FOUND");
    await refused(tasks.cancel("none"), 404, "TASK_NOT_FOUND");
    await refused(tasks.submit({ id: "x", prompt: "" }), 400, "VALIDATION_ERROR");
    await refused(tasks.review("none", { verdict: "approve", attempt: 1 }), 403, "FORBIDDEN");
    await refused((await clientOf({}, "elsewhere")).board(), 404, "REPO_NOT_FOUND");
    await refused((await clientOf({ scope: "agent" })).board(), 403, "FORBIDDEN");
    await refused(new Tasks({ url: scene.world.url, retries: 0 }).board(), 401, "UNAUTHORIZED");
  });
});
