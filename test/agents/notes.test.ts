import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openAssigned, WORDS, type AgentName, type AssignedSite } from "./assigned.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";

const POLICY = `version: 7
rules:
  - { id: touch, when: { action: execute, resource: "touch *" }, decision: ESCALATE }
defaults: { read: ALLOW, other: ESCALATE }
`;

/* eslint-disable @typescript-eslint/no-explicit-any -- tests read bodies of every shape */

describe("a note to a real agent at work", () => {
  let site: AssignedSite;
  before(async () => {
    site = await openAssigned({ policy: POLICY });
  });
  after(() => site?.[Symbol.asyncDispose]());

  for (const name of Object.keys(REAL_AGENTS) as AgentName[]) {
    it(`reaches ${name} at its next turn`, { skip: isMissing(REAL_AGENTS[name]) }, async () => {
      const { run } = WORDS[name];
      const prompt = site.play(`note-${name}`, run("touch asked.txt"), run("echo ran > ran.txt"));
      await site.submit(name, { agent: name, prompt });
      const asked = await site.askOf(name);
      assert.deepEqual(asked.notes, []);
      const words = `Use the staging bucket, ${name}.`;
      const sent = await site.person("POST", `/people/me/asks/${asked.id}/notes`, { body: { text: words } });
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      await site.decide(asked, { approved: true });
      const task = await site.until(name, "review");
      assert.equal(task.state, "review");

      const told = JSON.stringify(site.model.latest());
      assert.match(told, new RegExp(`Use the staging bucket, ${name}\\.`));
      assert.match(told, /A note from .*, a person, by Parley\. It approves nothing/);
      const { items } = (await site.person("GET", `/a2h/v1alpha1/audit?action=agent_note.given&limit=100`)).body as any;
      assert.deepEqual(
        items.filter(({ data }: any) => data.run === `shop / ${name}`).map(({ data }: any) => data.note),
        [sent.body.notes[0].id],
      );
      await site.assertQuiet(name);
    });
  }
});
