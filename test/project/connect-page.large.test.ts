import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { ROOT_FOLDER, textOf } from "../support/documents.ts";

describe("the page about connecting agents", () => {
  it("has the table that the registry of agents says", () => {
    execFileSync(process.execPath, ["scripts/connect-page.mjs", "--check"], { cwd: ROOT_FOLDER });
    const page = textOf("docs/how-to/connect.md");
    for (const [name, { title }] of Object.entries(AGENTS)) assert.ok(page.includes(`| ${title} (\`${name}\`)`), name);
  });
});
