import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { anchorsOf, linksOf, replaceLinks } from "../../site/links.ts";
import { collectPages, type Item, navigation } from "../../site/pages.ts";
import { DOCUMENTS, ROOT_FOLDER } from "../support/documents.ts";
import { newFolder } from "../support/program.ts";

const { pages, pictures } = collectPages(ROOT_FOLDER);
const linksIn = (items: readonly Item[]): string[] =>
  items.flatMap(({ link, items: own }) => link ?? linksIn(own ?? []));

/** test/site/site.test.ts builds the site of them and looks at it in a browser, where its packages are. */
describe("the pages of the site", () => {
  it("are every document, and what these lead to", () => {
    const files = pages.map(({ file }) => file);
    for (const file of [...DOCUMENTS, "SECURITY.md", "ARCHITECTURE.md", "docs/spec/relay.md", "parley.example.yaml"]) {
      assert.ok(files.includes(file), file);
    }
    assert.ok(pictures.includes("docs/screenshots/approval.webp"));
    assert.equal(new Set(pages.map(({ path }) => path)).size, pages.length);
  });

  it("lead to pages and sections of the site, and show pictures of it", () => {
    const texts = new Map(pages.map(({ path, text }) => [`/${path}`, text]));
    const wrong = pages.flatMap(({ path, text }) =>
      linksOf(text).filter((link) => {
        const [to = "", anchor] = link.split("#");
        if (/\.(webp|svg)$/.test(to)) return !pictures.includes(join(dirname(path), to));
        const target = to === "" ? text : texts.get(to);
        return target === undefined || (anchor !== undefined && !anchorsOf(target).has(anchor));
      }),
    );
    assert.deepEqual(wrong, []);
  });

  it("are listed by the index of the documents, in its order and its groups", () => {
    const sections = navigation(ROOT_FOLDER);
    assert.deepEqual(
      sections.map(({ text }) => text),
      ["Tutorials", "How-to", "Reference", "Explanation", "Development"],
    );
    const listed = linksIn(sections);
    const all = pages.map(({ path }) => `/${path}`);
    for (const link of listed) assert.ok(all.includes(link), link);
    for (const file of DOCUMENTS.filter((page) => /^docs\/.*\//.test(page)))
      assert.ok(listed.includes(`/${file}`), file);
    const [group] = sections[1]?.items ?? [];
    assert.equal(group?.text, "Ask people from your agent");
    assert.equal(group.items?.[0]?.link, "/docs/how-to/approvals.md");
  });

  it("take no code for a link, and say which link leads nowhere", () => {
    const text = '[a](b.md) `[c](d.md)`\n\n```sh\n[e](f.md)\n```\n\n[g](https://example.com) <img src="h.png">';
    assert.deepEqual(linksOf(text), ["b.md", "h.png"]);
    assert.equal(
      replaceLinks(text, () => "to"),
      text.replace("b.md", "to").replace("https://example.com", "to").replace("h.png", "to"),
    );
    const root = newFolder();
    mkdirSync(join(root, "docs"), { recursive: true });
    writeFileSync(join(root, "README.md"), "# A\n\n[a](docs)");
    writeFileSync(join(root, "docs/README.md"), "# B\n\n[b](nowhere.md)");
    assert.throws(() => collectPages(root), /^Error: docs\/README\.md: nowhere\.md leads to docs\/nowhere\.md/);
  });
});
