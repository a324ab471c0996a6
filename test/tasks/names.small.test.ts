import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitMessage, slugOf, titleOfPrompt } from "../../src/tasks/model/names.ts";

describe("the name of a task in git", () => {
  it("is letters, digits and dashes, whatever the id, and another for every id", () => {
    assert.equal(slugOf("card-1"), "card-1-74db9dfb");
    const ids = [
      "Card-1",
      "card-1",
      "card 1",
      "-x",
      "..",
      "a/b",
      "a.lock",
      "é",
      "İ",
      "\u{1f600}",
      "x".repeat(200),
      " ",
      "@{0}",
      "HEAD",
    ];
    for (const id of ids) assert.match(slugOf(id), /^[a-z0-9-]{1,40}-[0-9a-f]{8}$/, id);
    assert.equal(new Set(ids.map(slugOf)).size, ids.length);
    assert.equal(slugOf("x".repeat(200)).length, 49);
  });
});

describe("the subject of a commit", () => {
  it("is the first line that says something, without what steers a terminal, at most 72 characters", () => {
    assert.equal(titleOfPrompt("\n \u001b[31m\n"), "[31m");
    assert.equal(
      titleOfPrompt("\r\n\u200b\r\n  Add\tVAT \u202e to the export\u0007  \r\nmore"),
      "Add VAT to the export",
    );
    assert.equal(Array.from(titleOfPrompt("\u{1f600}".repeat(100))).length, 72);
    assert.equal(titleOfPrompt("x".repeat(73)), `${"x".repeat(71)}…`);
    assert.equal(titleOfPrompt(" \n\u0000\n"), "(no words)");
    assert.equal(titleOfPrompt("half \ud83d"), "half \ufffd");
  });
});

describe("the message of a commit", () => {
  it("holds the whole prompt with line ends of LF, and what it belongs to", () => {
    const prompt = "  Add VAT\r\n\r\n- to the export\r- not the invoice\n\n\n";
    const dependencies = [
      { id: "card 0\n", commit: "1".repeat(40) },
      { id: "ü", commit: "2".repeat(40) },
    ];
    assert.equal(
      commitMessage({ id: "card/1\n100%", prompt, attempt: 2, agent: "claude", dependencies }),
      `Add VAT\n\n  Add VAT\n\n- to the export\n- not the invoice\n\nAA-Task: card%2F1%0A100%25\nAA-Attempt: 2\nAA-Agent: claude\nAA-Depends-On: card%200%0A ${"1".repeat(40)}\nAA-Depends-On: %C3%BC ${"2".repeat(40)}\n`,
    );
  });
});
