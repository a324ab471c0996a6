import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../support/assign-site.ts";
import { openAssigned, WORDS, type AssignedSite } from "./assigned.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { killPid } from "../support/kill-pid.ts";

const POLICY = `version: 7
rules:
  - { id: touch, when: { action: execute, resource: "touch *" }, decision: ESCALATE }
defaults: { read: ALLOW, other: ESCALATE }
`;

describe("a real agent that is killed, or sent back to its work", () => {
  let site: AssignedSite;
  before(async () => {
    site = await openAssigned({ policy: POLICY });
  });
  after(async () => {
    await site?.[Symbol.asyncDispose]();
  });

  /** The agent's own processes are killed, and not the jail around them. */
  async function killAgent(id: string): Promise<void> {
    const lineOf = (pid: number): string => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    };
    const own = (await site.processes(id)).filter((pid) => /stream-json|app-server/.test(lineOf(pid)));
    assert.ok(own.length > 0, "an agent runs");
    for (const pid of own.reverse()) await killPid(pid);
  }

  const asksAgain = async (id: string) => {
    const { state } = await site.until(id, (task) => {
      return task.state === "review" || (task.attempts[0].resumes === 1 && task.state === "awaiting_answer");
    });
    assert.equal(state, "awaiting_answer");
  };
  const assertOneCommit = (task: { commit: string }) => {
    assert.equal(site.git("shop", "rev-parse", `${task.commit}^`), site.git("shop", "rev-parse", "main"));
  };
  const inTree = (id: string, name: string) => join(site.folder(id), "tree", name);

  for (const name of ["claude", "codex"] as const) {
    const { run } = WORDS[name];
    const skip = isMissing(REAL_AGENTS[name]);

    it(`is resumed as ${name} while a permission is pending, and people are asked once`, { skip }, async () => {
      const id = `pending-${name}`;
      await site.submit(id, { agent: name, prompt: site.play(id, run("echo 1 > one.txt"), run(`touch ${id}.txt`)) });
      const ask = await site.askOf(id);
      // Agents save their session within a moment.
      await pause(1500);
      await killAgent(id);
      await asksAgain(id);
      assert.equal((await site.askOf(id)).id, ask.id);
      await site.decide(ask, { approved: true });
      const task = await site.until(id, "review");
      assert.ok(site.git("shop", "ls-tree", "--name-only", task.commit).includes(`${id}.txt`));
      assert.equal(site.asked().filter((title) => title.includes(`touch ${id}`)).length, 1);
      const sessions = site.log(id).flatMap((line) => (line.type === "session" ? [line.session] : []));
      assert.equal(new Set(sessions).size, 1, sessions.join(" "));
      assertOneCommit(task);
      await site.assertQuiet(id);
    });

    it(
      `is resumed as ${name} after a permission was delivered, and people see what they decided`,
      { skip },
      async () => {
        const id = `delivered-${name}`;
        const line = `touch ${id}.txt; while [ ! -e go.txt ]; do sleep 0.1; done`;
        await site.submit(id, { agent: name, prompt: site.play(id, run(line)) });
        const first = await site.askOf(id);
        await site.decide(first, { approved: true, comment: "only this once" });
        await eventually(
          () => existsSync(inTree(id, `${id}.txt`)),
          () => "the command runs",
        );
        await pause(1500);
        await killAgent(id);
        await asksAgain(id);
        const second = await site.askOf(id, first.id);
        assert.match(second.words, /Asked before: operator approved this, and said: "only this once"/);
        writeFileSync(inTree(id, "go.txt"), "");
        await site.decide(second, { approved: true });
        assertOneCommit(await site.until(id, "review"));
        await site.assertQuiet(id);
      },
    );
  }

  it(
    "goes on as claude with its session where a person wants changes",
    { skip: isMissing(REAL_AGENTS.claude) },
    async () => {
      const { write, run } = WORDS.claude;
      const id = "changes";
      const first = write("title.txt", "one\n");
      await site.submit(id, { agent: "claude", prompt: site.play(id, first) });
      const one = await site.until(id, "review");
      site.play("more", first, run("echo two > title.txt"));
      const comments = [{ path: "title.txt", line: 1, text: "Two, please." }];
      const reply = await site.review(id, "request_changes", { comment: "Play: more.", comments });
      assert.equal(reply.status, 200, reply.text);
      const two = await site.until(id, ({ state, attempt }) => state === "review" && attempt === 2);
      assert.notEqual(two.commit, one.commit);
      assert.equal(site.git("shop", "show", `${two.commit}:title.txt`), "two");
      assertOneCommit(two);
      assert.match(site.git("shop", "log", "-1", "--format=%B", two.commit), /\nAA-Task: changes\nAA-Attempt: 2\n/);
      const told = JSON.stringify(site.model.latest());
      assert.match(told, /Two, please\./);
      const rows = site.query(`SELECT session_id FROM task_attempts WHERE id = '${id}'`);
      assert.deepEqual(rows.length, 2);
      assert.equal(rows[0]?.["session_id"], rows[1]?.["session_id"]);
    },
  );
});
