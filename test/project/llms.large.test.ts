import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT_FOLDER } from "../support/documents.ts";

describe("llms.txt", () => {
  const text = readFileSync(join(ROOT_FOLDER, "llms.txt"), "utf8");

  it("is what the index of the documents says", () => {
    execFileSync(process.execPath, ["scripts/llms.mjs", "--check"], { cwd: ROOT_FOLDER });
  });

  it("has the form that agents expect, and leads to files", () => {
    const [title, , summary] = text.split("\n");
    assert.equal(title, "# Parley");
    assert.match(summary ?? "", /^> \S.+\.$/);
    const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, link = ""]) => link);
    assert.ok(links.length > 30, `${links.length} links`);
    for (const link of links) assert.ok(existsSync(join(ROOT_FOLDER, link)), link);
    assert.equal(text.split("\n").filter((line) => line.startsWith("- [")).length, links.length);
  });
});
