import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changesMessage, firstMessage, resumeMessage } from "../../src/tasks/model/message.ts";

const PROMPT = "  Add VAT to the export.\n\n```\ntrailing blanks   \n```\n";

describe("what an agent is told", () => {
  it("begins with the prompt as it was written, and ends with how to work here", () => {
    const message = firstMessage({ prompt: PROMPT });
    assert.ok(message.startsWith(PROMPT));
    for (const words of [/only in this folder/, /Do not push/, /`contact_human`/, /files as you leave them/]) {
      assert.match(message.slice(PROMPT.length), words);
    }
  });

  it("has the project's notes before it, and the conflicts that are to be resolved first", () => {
    const message = firstMessage({
      prompt: PROMPT,
      projectNotes: [
        { path: "AGENTS.md", text: "Use tabs.\n" },
        { path: "CLAUDE.md", text: "Be brief." },
      ],
      conflictPaths: ["src/a.ts", "b.md"],
    });
    const places = ["(AGENTS.md)", "Use tabs.", "(CLAUDE.md)", "Be brief.", "- src/a.ts\n- b.md", "# The task", PROMPT];
    assert.deepEqual(
      places.map((words) => message.indexOf(words)),
      places.map((words) => message.indexOf(words)).sort((a, b) => a - b),
    );
    assert.ok(places.every((words) => message.includes(words)));
  });

  it("is to go on after it was cut off", () => {
    assert.equal(resumeMessage(), "Continue the task where you stopped.");
  });

  it("holds each remark with the lines it is about, and then the prompt", () => {
    const message = changesMessage({
      prompt: PROMPT,
      comment: "Nearly.",
      comments: [
        { path: "src/a.ts", line: 7, text: "Round up." },
        { path: "b.md", line: 1, text: "Why?" },
      ],
      diffContext: ["@@ -6,2 +6,2 @@\n-old\n+new\n", "+```\n+code\n"],
    });
    assert.match(message, /Nearly\./);
    assert.match(message, /src\/a\.ts:7\n```diff\n@@ -6,2 \+6,2 @@\n-old\n\+new\n```\nRound up\./);
    assert.match(message, /b\.md:1\n````diff\n\+```\n\+code\n````\nWhy\?/);
    assert.ok(message.indexOf("Why?") < message.indexOf(PROMPT));
    assert.match(changesMessage({ prompt: PROMPT, comments: [], diffContext: [] }), /asks for changes/);
  });
});
