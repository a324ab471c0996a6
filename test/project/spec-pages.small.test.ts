import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { globSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { TOOLS } from "../../src/protocols/mcp/tools.ts";
import { blocksOf, ROOT_FOLDER, textOf } from "../support/documents.ts";

const PAGES = globSync("docs/spec/*.md", { cwd: ROOT_FOLDER }).sort();
const blocks = PAGES.flatMap(blocksOf);
const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));

/** Returns a schema without its descriptions, which say to a model what the rest says to a program. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => name !== "description" || typeof member !== "string",
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutDescriptions(member)]));
}

/** The longest summary of a section, in characters. */
const LONGEST_SUMMARY = 200;
/** One sentence in italics, on a line of its own. */
const SUMMARY = /^_[^_].*[^.]\._$/;

describe("a section of docs/spec", () => {
  it("begins with one sentence in italics", () => {
    const sections = PAGES.flatMap((file) => {
      const prose = textOf(file).replaceAll(/^```[^]*?^```$/gm, "");
      return [...prose.matchAll(/^## (.+)\n\n(.*)$/gm)].map(([, heading, first = ""]) => ({ file, heading, first }));
    });
    assert.ok(sections.length > 100, `only ${sections.length} sections were seen`);
    assert.deepEqual(
      sections.filter(({ first }) => !SUMMARY.test(first) || first.includes(". ") || first.length > LONGEST_SUMMARY),
      [],
    );
  });
});

describe("what the pages of docs/spec show", () => {
  it("is JSON where it says so, whole or line by line", () => {
    for (const { file, line, text } of inLanguage("json")) {
      assert.doesNotThrow(() => JSON.parse(text), `${file}:${line}`);
    }
    for (const { file, line, text } of inLanguage("jsonl")) {
      for (const one of text.trim().split("\n")) assert.doesNotThrow(() => JSON.parse(one), `${file}:${line}: ${one}`);
    }
    assert.ok(inLanguage("json", "jsonl").length > 30);
  });

  it("is taken: the policy, and the settings", () => {
    const [settings, policy] = [inLanguage("yaml"), inLanguage("yaml")].map((all, i) =>
      all.find(({ file }) => file.endsWith(i === 0 ? "ask-a-human.md" : "relay.md")),
    );
    assert.ok(settings && policy);
    assert.equal(parsePolicy(policy.text).rules.length, 2);
    const folder = mkdtempSync(join(tmpdir(), "parley-spec-"));
    const load = () => loadConfig({ env: { HOME: folder, PARLEY_DATA_DIR: folder } });
    const usual = load();
    writeFileSync(join(folder, "parley.yaml"), settings.text);
    assert.deepEqual(load(), usual, "the settings that are shown are the usual ones");
    writeFileSync(join(folder, "parley.yaml"), settings.text.replace("daily_cap: 500", "daily_cap: 501"));
    assert.notDeepEqual(load(), usual);
  });

  it("is what MCP's tools take", () => {
    const shown = inLanguage("json")
      .filter(({ file }) => file === "docs/spec/mcp.md")
      .map(({ text }) => JSON.parse(text) as { name?: string; inputSchema?: unknown })
      .filter(({ inputSchema }) => inputSchema !== undefined);
    assert.deepEqual(
      shown.map(({ name }) => name),
      ["wait_for_human_responses", "contact_human", "request_approval", "approve"],
    );
    for (const { name, inputSchema } of shown) {
      const tool = TOOLS.find((one) => one.name === name);
      assert.deepEqual(withoutDescriptions(inputSchema), withoutDescriptions(tool?.inputSchema), name);
    }
  });

  it("is the digest of the bytes that stand beside it", () => {
    const pairs = PAGES.flatMap((file) =>
      [...textOf(file).matchAll(/`(\{"fn":[^`]+\})`[^\n]{1,120}?`sha256:([0-9a-f]{64})`/g)].map(
        ([, bytes = "", digest]) => ({ file, bytes, digest }),
      ),
    );
    assert.ok(pairs.length >= 3, `${pairs.length} digests`);
    for (const { file, bytes, digest } of pairs) {
      assert.equal(createHash("sha256").update(bytes).digest("hex"), digest, `${file}: ${bytes}`);
    }
  });
});
