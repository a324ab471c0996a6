import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openAssigned, WORDS, type AgentName, type AssignedSite } from "../assigned.ts";
import { isMissing, REAL_AGENTS } from "../real-agents.ts";

const PEOPLE_TAKE_S = Number(process.env["PEOPLE_TAKE_S"] ?? 420);
const POLICY = `version: 7
rules:
  - { id: all, when: { action: execute }, decision: ESCALATE }
defaults: { read: ALLOW, other: ESCALATE }
`;

// How long an agent waits is its own affair, and no held clock shows it.
describe(`a person who takes ${PEOPLE_TAKE_S} seconds over work in the sandbox`, { concurrency: true }, () => {
  let site: AssignedSite;
  before(async () => {
    site = await openAssigned({ policy: POLICY });
  });
  after(async () => {
    await site?.[Symbol.asyncDispose]();
  });

  for (const name of Object.keys(REAL_AGENTS) as AgentName[]) {
    const { run, people } = WORDS[name];
    const skip = isMissing(REAL_AGENTS[name]);
    const assertOneRun = async (id: string, task: { attempts: { resumes: number }[] }) => {
      assert.deepEqual([task.attempts.length, task.attempts[0]?.resumes], [1, 0]);
      assert.equal(site.asked().filter((title) => title.includes(`${id}.`)).length, 1, "asked once");
      await site.assertQuiet(id);
    };

    it(`is waited for by ${name} with a command that must be allowed`, { skip }, async () => {
      const id = `leave-${name}`;
      await site.submit(id, { agent: name, prompt: site.play(id, run(`touch ${id}.txt`)) });
      const ask = await site.askOf(id);
      await pause(PEOPLE_TAKE_S * 1000);
      await site.decide(ask, { approved: true });
      const task = await site.until(id, "review");
      assert.equal(site.git("shop", "diff-tree", "-r", "--name-only", "--no-commit-id", task.commit), `${id}.txt`);
      await assertOneRun(id, task);
    });

    it(`is waited for by ${name} with a question of contact_human`, { skip }, async () => {
      const id = `question-${name}`;
      const message = `Which port for ${id}.txt?`;
      await site.submit(id, { agent: name, prompt: site.play(id, ...people("contact_human", { message })) });
      const ask = await site.titled(message);
      await pause(PEOPLE_TAKE_S * 1000);
      await site.decide(ask, { text: `Port 4711 for ${id}` });
      const task = await site.until(id, "review");
      assert.match(site.resultsOf(id).at(-1) ?? "", new RegExp(`Port 4711 for ${id}`));
      await assertOneRun(id, task);
    });
  }
});
