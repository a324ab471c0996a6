import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { openAssignments, type AssignmentWorld } from "../../browser/assignment-world.ts";
import type { Reply } from "../../support/world.ts";

const A2H = "/a2h/v1alpha1";

describe("a coding agent's work in the inbox of whoever is asked to review it", () => {
  let shop: AssignmentWorld;
  let ana: Asking;
  let bo: Asking;
  let operator: Asking;
  type Asking = (method: string, path: string, body?: unknown) => Promise<Reply>;

  const by = async (scope: "answer" | "admin", person?: string): Promise<Asking> => {
    const { text } = await createKey(shop.world.server.ctx, {
      name: `${scope}-${person ?? "admin"}`,
      scope,
      ...(person === undefined ? { expiresInMs: 86_400_000 } : { person }),
    });
    return (method, path, body) =>
      shop.world.call(method, path, {
        headers: { authorization: `Bearer ${text}` },
        ...(body !== undefined && { body }),
      });
  };
  before(async () => {
    shop = await openAssignments();
    const admin = await by("admin");
    const enrol = async (name: string, inboxScope: string): Promise<string> => {
      const prioritizedContactChannels = [{ inbox: {} }];
      const input = { name, description: "", prioritizedContactChannels, inboxScope };
      return (await admin("POST", `${A2H}/humans`, input)).body.id;
    };
    ana = await by("answer", await enrol("Ana Ruiz", "all"));
    bo = await by("answer", await enrol("Bo Lind", "addressed"));
    operator = await by("answer", "1");
  });
  after(() => shop?.[Symbol.asyncDispose]());

  /** Has work done, and returns where it stands in the inbox. */
  const reviewed = async (id: string): Promise<string> => {
    await shop.give(id, "Write it down", { does: [{ write: "NOTES.md", text: "Noted.\n" }] });
    await shop.reaches(id, "review");
    const { reviewUrl } = await shop.read(id);
    return `/people/me/asks/${new URL(reviewUrl).pathname.split("/").at(-1)}`;
  };

  it("is shown and reviewed by somebody who runs no server, and by nobody who is not asked", async () => {
    const item = await reviewed("seen");
    const { task } = (await ana("GET", item)).body;
    assert.deepEqual(task, { repo: "shop", id: "seen", attempt: 1, about: "review", agent: null, sandbox: null });
    const whole = await ana("GET", `${item}/task`);
    assert.deepEqual([whole.body.prompt, whole.body.state], ["Write it down", "review"]);
    const patch = await ana("GET", `${item}/task/diff?against=base`);
    assert.equal(patch.headers.get("content-type"), "text/x-patch; charset=utf-8");
    assert.match(patch.text, /^\+Noted\.$/m);
    assert.equal((await ana("GET", "/admin/assignments")).status, 403);

    for (const path of ["", "/task", "/task/diff"]) assert.equal((await bo("GET", item + path)).status, 404, path);
    const verdict = { verdict: "approve", attempt: 1 };
    assert.equal((await bo("POST", `${item}/task/review`, verdict)).status, 404);
    assert.equal((await shop.world.call("GET", `${item}/task`)).status, 401);
    assert.equal((await shop.world.call("POST", `${item}/task/review`, { body: verdict })).status, 401);
    assert.equal((await shop.read("seen")).state, "review");

    const comments = [{ path: "NOTES.md", line: 1, text: "Say when." }];
    const said = { verdict: "reject", attempt: 1, comment: "Not like this.", comments };
    const after = await ana("POST", `${item}/task/review`, said);
    assert.deepEqual(
      [after.status, after.body.state, after.body.error],
      [200, "rejected", "rejected by Ana Ruiz: Not like this."],
    );
    assert.deepEqual(after.body.reviews[0].comments, comments);
    assert.equal((await ana("GET", item)).body.state, "answered");
  });

  it("takes one verdict, on the attempt that was looked at", async () => {
    const item = await reviewed("once");
    const early = await ana("POST", `${item}/task/review`, { verdict: "approve", attempt: 2 });
    assert.equal(early.status, 409);
    assert.equal((await ana("POST", `${item}/task/review`, { verdict: "perhaps", attempt: 1 })).status, 400);
    const both = await Promise.all(
      [ana, operator].map((one) => one("POST", `${item}/task/review`, { verdict: "approve", attempt: 1 })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    assert.equal((await shop.read("once")).reviews.length, 1);
  });

  it("is told from what an agent wants, which is not reviewed", async () => {
    await shop.give("wish", "Try the release", { does: [{ run: "make stage" }] });
    await shop.reaches("wish", "awaiting_answer");
    const { question } = await shop.read("wish");
    const item = `/people/me/asks/${new URL(question.url).pathname.split("/").at(-1)}`;
    const { task, fn } = (await ana("GET", item)).body;
    assert.deepEqual(
      [fn, task],
      ["Bash", { repo: "shop", id: "wish", attempt: 1, about: "wish", agent: "claude", sandbox: "none" }],
    );
    assert.equal((await ana("GET", `${item}/task`)).status, 404);
    assert.equal((await ana("POST", `${item}/task/review`, { verdict: "approve", attempt: 1 })).status, 404);
  });
});
