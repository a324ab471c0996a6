/**
 * Writes llms.txt, which tells agents where the documents are (https://llmstxt.org), from the index for people in
 * docs/README.md: `node scripts/llms.mjs`. With --check it only says whether the file is up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";

const ROOT = new URL("../", import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT), "utf8");

/** Links of the index lead from docs/; those of llms.txt lead from the root. */
const fromRoot = (text) =>
  text.replaceAll(/\]\((?![a-z]+:)([^)]+)\)/g, (_, link) => `](${posix.normalize(posix.join("docs", link))})`);

/** Returns what llms.txt is to hold. */
export function llmsText() {
  const [, says] = /^# Parley\n\n(.+)$/m.exec(read("README.md")) ?? [];
  if (!says) throw new Error("README.md does not begin with what Parley is.");
  const sections = read("docs/README.md")
    .split(/^(?=## )/m)
    .slice(1);
  const kept = sections.map((section) => {
    const lines = fromRoot(section).split("\n");
    return lines.filter((line) => line === "" || /^(## |- \[)/.test(line)).join("\n");
  });
  const first = "## Begin\n\n- [README](README.md): what it is, and the two commands that run and test it\n\n";
  const text = `# Parley\n\n> ${says}\n\n${first}${kept.join("\n")}`;
  return `${text.replaceAll(/\n{3,}/g, "\n\n").trimEnd()}\n`;
}

if (import.meta.main) {
  const text = llmsText();
  if (!process.argv.includes("--check")) writeFileSync(new URL("llms.txt", ROOT), text);
  else if (read("llms.txt") !== text) {
    console.error("llms.txt is not what docs/README.md says: node scripts/llms.mjs");
    process.exitCode = 1;
  }
}
