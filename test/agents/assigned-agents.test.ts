import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openAssigned, WORDS, type AgentName, type AssignedSite } from "./assigned.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";

const POLICY = `version: 7
rules:
  - { id: touch, when: { action: execute, resource: "touch *" }, decision: ESCALATE }
defaults: { read: ALLOW, other: ESCALATE }
`;

describe("work that is given to real agents in the sandbox", () => {
  let site: AssignedSite;
  before(async () => {
    site = await openAssigned({ policy: POLICY });
  });
  after(() => site?.[Symbol.asyncDispose]());

  for (const name of Object.keys(REAL_AGENTS) as AgentName[]) {
    const { write, run, people } = WORDS[name];
    const question = { message: `Which port for ${name}?`, max_wait_seconds: 3600 };

    it(
      `is done by ${name}, which asks what it may and what it does not know`,
      { skip: isMissing(REAL_AGENTS[name]) },
      async () => {
        const prompt = site.play(
          `work-${name}`,
          write("hello.txt", "hello\n"),
          run("echo ran > ran.txt"),
          run("touch asked.txt"),
          run("touch denied.txt"),
          ...people("contact_human", question),
        );
        await site.submit(name, { agent: name, prompt });
        const first = await site.askOf(name);
        assert.match(JSON.stringify(first), /touch asked\.txt/);
        await site.decide(first, { approved: true });
        const second = await site.askOf(name, first.id);
        assert.match(JSON.stringify(second), /touch denied\.txt/);
        await site.decide(second, { approved: false, comment: "we keep no such file" });
        await site.decide(await site.titled(question.message), { text: "Port 4711, please." });
        const task = await site.until(name, "review");

        const { commit } = task;
        const files = site.git("shop", "diff-tree", "-r", "--name-only", "--no-commit-id", commit).split("\n");
        assert.deepEqual(files, ["asked.txt", "hello.txt", "ran.txt"]);
        assert.equal(site.git("shop", "show", `${commit}:hello.txt`), "hello");
        assert.equal(site.git("shop", "rev-parse", `${commit}^`), site.git("shop", "rev-parse", "main"));
        assert.match(JSON.stringify(site.model.latest()), /we keep no such file/);
        assert.match(site.model.results().at(-1) ?? "", /Port 4711, please\./);
        assert.equal(task.sandbox, "bubblewrap");
        assert.equal(task.attempts[0].agentVersion, REAL_AGENTS[name].version);
        await site.assertQuiet(name);
      },
    );
  }
});
