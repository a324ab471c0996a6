import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import {
  appears,
  assertDone,
  beside,
  eventually,
  run,
  sharedSite,
  steps,
  type AssignSite,
} from "../support/assign-site.ts";
import { itWith } from "../support/parts.ts";
import { parley } from "../support/program.ts";
import { call } from "../support/world.ts";

const SANDBOXES = [
  { sandbox: "auto", it: await itWith("bubblewrap") },
  { sandbox: "off", it },
] as const;

/** Returns the replies that a fake agent got to its steps. */
const heard = (site: AssignSite, id: string): string => {
  const session = site.log(id).findLast((line) => line.type === "session")?.session;
  return readFileSync(beside(site, id, `home/.fake-agent/${session}.json`), "utf8");
};

for (const { sandbox, it } of SANDBOXES) {
  describe(`an agent at work, with assignment.sandbox: ${sandbox}`, { concurrency: true }, () => {
    const shared = sharedSite({
      repos: [{ name: "shop", parallel: 6 }],
      assignment: { sandbox, parallel: 6 },
    });

    it("asks a person over MCP, and goes on with the answer, though the server is killed meanwhile", async () => {
      const site = shared();
      const ask = { mcp: "contact_human", input: { message: "Which currency, please?" } };
      await site.submit("mcp", { agent: "claude", prompt: steps({ touch: "half.txt" }, ask, { say: "Thank you." }) });
      const waiting = await site.until("mcp", "awaiting_answer");
      assert.equal(waiting.sandbox, sandbox === "auto" ? "bubblewrap" : "none");
      const [found] = (await site.inbox(1)) as [{ id: string; words: string }];
      assert.match(found.words, /Which currency, please\?\n\nFor task mcp \(Do it\) in shop, by claude\./);
      const { askId, summary, url } = waiting.question;
      assert.deepEqual([askId, summary], [found.id, "Which currency, please?"]);
      assert.equal(url, `${site.url}/inbox/${found.id}`);
      await site.kill();
      await site.start();
      const [again] = (await site.inbox(1)) as [{ id: string }];
      assert.equal(again.id, found.id);
      assert.equal((await site.task("mcp")).state, "awaiting_answer");
      await site.decide(again, { text: "Euros" });
      const task = await site.until("mcp", "review");
      assertDone(site, "mcp", task);
      assert.match(heard(site, "mcp"), /Euros/);
      assert.equal(task.attempts[0].resumes, 0);
      const [asked] = task.asks;
      assert.deepEqual([asked.askId, asked.state, asked.answer], [found.id, "ANSWERED", "Euros"]);
    });
  });
}

describe("what an agent may do", { concurrency: true }, () => {
  const shared = sharedSite({
    repos: [{ name: "shop", parallel: 6 }, { name: "gone" }],
    assignment: { parallel: 6, turns: 3 },
    agents: { elsewhere: { type: "command", command: ["no-such-program-here"] } },
  });

  it("is ended over its limits, in a sentence, and its work is kept", async () => {
    const site = shared();
    const talk = [1, 2, 3, 4, 5].map((n) => ({ say: `Still at it, ${n}` }));
    const all = steps({ touch: "half.txt", text: "half" }, ...talk, { hang: true });
    await site.submit("talks", { agent: "claude", prompt: all });
    const task = await site.until("talks", "failed");
    assert.deepEqual([task.status, task.error], ["error", "The agent took more than 3 turns, which is the limit."]);
    assert.deepEqual(await site.processes("talks"), []);
    const [wip = ""] = site.git("shop", "for-each-ref", "--format=%(refname)", "refs/aa/talks-*/*").split("\n");
    assert.match(wip, /\/1-wip$/);
    assert.equal(site.git("shop", "show", `${wip}:half.txt`), "half");
  });

  it("is not started where it is not, and the task in line says why; others go on", async () => {
    const site = shared();
    await site.submit("not-here", { agent: "elsewhere" });
    await site.submit("here");
    await site.until("here", "review");
    const task = await site.task("not-here");
    assert.deepEqual(
      [task.status, task.state, task.attempt, task.blockedReason],
      ["queued", "queued", 0, "no-such-program-here is not on the PATH"],
    );
    const { body } = await site.assign("DELETE", "/assignment/shop/tasks/not-here");
    assert.equal(body.state, "canceled");
  });

  it("is not begun in a repository that is not there, and the task says so", async () => {
    const site = shared();
    renameSync(site.checkout("gone"), `${site.checkout("gone")}-away`);
    await site.submit("lost", {}, "gone");
    const { error, status } = await site.until("lost", "failed", "gone");
    assert.equal(status, "error");
    assert.match(error, /gone/);
  });

  it("has a token that is good for its own questions, and a key that neither reviews, answers, submits nor sees others", async () => {
    const site = shared();
    await site.submit("other", { agent: "claude", prompt: steps({ run: "echo other >> ran.txt" }) });
    const other = await site.until("other", ({ question }) => question?.url.includes("/inbox/ask_") ?? false);
    const tells = 'printf "%s %s" "$PARLEY_MCP_URL" "$PARLEY_MCP_TOKEN" > ../told.new; mv ../told.new ../told';
    await site.submit("curious", { prompt: run(`env > ../env; ${tells}; while [ ! -e ../go ]; do sleep 0.1; done`) });
    await site.until("curious", "running");
    await appears(beside(site, "curious", "told"));
    const [url = "", token = ""] = readFileSync(beside(site, "curious", "told"), "utf8").split(" ");
    assert.doesNotMatch(readFileSync(beside(site, "curious", "env"), "utf8"), /parley_(agent|assign)_/);

    const made = await parley(["keys", "create", site.attemptId("curious"), "--scope", "agent"], {
      PARLEY_DATA_DIR: site.dataDir,
    });
    const inboxId = other.question.url.split("/").at(-1);
    const { askId } = other.question;
    const tries: [string, string, object?][] = [
      ["POST", "/assignment", { id: "sly", prompt: "Do more" }],
      ["GET", "/assignment"],
      ["GET", "/assignment/shop/tasks/other"],
      ["GET", "/assignment/shop/tasks/other/log"],
      ["GET", "/assignment/shop/tasks/curious"],
      ["DELETE", "/assignment/shop/tasks/other"],
      ["POST", "/assignment/shop/tasks/other/review", { verdict: "approve", attempt: 1 }],
      ["GET", "/people/me/asks"],
      ["POST", `/people/me/asks/${inboxId}/decision`, { approved: true }],
      ["GET", `/asks/${askId}`],
      ["GET", `/asks/${askId}/answer?wait=0`],
      ["DELETE", `/asks/${askId}`],
      ["POST", "/answers", { type: "Answer", ask_id: askId, status: "ANSWERED", answer_json: { approved: true } }],
      ["POST", "/jobs/claim", { kinds: ["aa/shop"], worker_id: "sly", wait: "0" }],
      ["GET", "/admin/assignments"],
    ];
    for (const key of [token, made.out.trim()]) {
      for (const [method, path, body] of tries) {
        const headers = { authorization: `Bearer ${key}` };
        const reply = await call(`${site.url}${path}`, method, { headers, ...(body && { body }) });
        const isRefused = [400, 401, 403, 404].includes(reply.status) && !reply.text.includes("echo other");
        assert.ok(isRefused, `${method} ${path} was answered ${reply.status} ${reply.text}`);
      }
    }
    const listed = await call(url, "POST", {
      headers: { authorization: `Bearer ${made.out.trim()}`, accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    });
    assert.equal(listed.status, 401, "the endpoint takes the attempt's token alone");
    assert.equal((await site.task("other")).state, "awaiting_answer");
    writeFileSync(beside(site, "curious", "go"), "");
    await site.until("curious", "review");
    const late = await call(url, "POST", { headers: { authorization: `Bearer ${token}` }, body: {} }).catch(() => null);
    assert.equal(late, null, "nobody listens there any more");
    await eventually(
      () => site.query("SELECT key_id FROM task_attempts WHERE id = 'curious' AND key_id IS NOT NULL").length === 1,
      () => "the key of the attempt",
    );
    const [row] = site.query(
      `SELECT k.* FROM keys k JOIN task_attempts a ON a.key_id = k.key_id WHERE a.id = 'curious'`,
    );
    assert.notEqual(row?.["revoked_at"] ?? null, null, "its key is worth nothing any more");
    await site.assign("DELETE", "/assignment/shop/tasks/other");
  });
});
