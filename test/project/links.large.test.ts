import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, it } from "node:test";
import { anchorsOf, linksOf } from "../../site/links.ts";
import { DOCUMENTS, ROOT_FOLDER, textOf } from "../support/documents.ts";

/** Every page of the repository, and those that are about to be. */
const PAGES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"], {
  cwd: ROOT_FOLDER,
  encoding: "utf8",
})
  .split("\n")
  .filter((page) => page !== "" && existsSync(join(ROOT_FOLDER, page)));

/** Returns what is wrong with a link of a page, if anything is. */
function wrongWith(page: string, link: string): string[] {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), decodeURI(path)));
  if (!existsSync(join(ROOT_FOLDER, target))) return [`${page}: ${link} leads nowhere`];
  if (anchor === undefined) return [];
  const isPage = target.endsWith(".md") && statSync(join(ROOT_FOLDER, target)).isFile();
  if (!isPage) return [`${page}: ${link} names a section of what is no page`];
  return anchorsOf(textOf(target)).has(anchor) ? [] : [`${page}: ${target} has no section #${anchor}`];
}

describe("the links of the documents", () => {
  it("lead to files and sections that there are", () => {
    const links = PAGES.flatMap((page) => linksOf(textOf(page)).map((link) => ({ page, link })));
    assert.ok(links.length > 250, `only ${links.length} links were seen`);
    assert.deepEqual(
      links.flatMap(({ page, link }) => wrongWith(page, link)),
      [],
    );
  });

  it("are found wanting where they are wrong", () => {
    for (const link of ["docs/nowhere.md", "SECURITY.md#nothing-of-the-kind", "docs#pages", "#nothing-of-the-kind"]) {
      assert.equal(wrongWith("README.md", link).length, 1, link);
    }
    assert.deepEqual(wrongWith("docs/README.md", "../SECURITY.md#defaults"), []);
  });

  it("lead from the index to each page, once", () => {
    const forDevelopers = globSync("docs/development/*.md", { cwd: ROOT_FOLDER });
    const pages = [...DOCUMENTS.filter((page) => /^docs\/.*\//.test(page)), ...forDevelopers].sort();
    const listed = linksOf(textOf("docs/README.md"))
      .map((link) => join("docs", link))
      .filter((page) => pages.includes(page));
    assert.ok(pages.length >= 28);
    assert.deepEqual(listed.toSorted(), pages);
  });
});
