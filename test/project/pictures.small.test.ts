import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { linksOf } from "../../site/links.ts";
import { MOST_BYTES, pictureFile, PICTURES_FOLDER, THEMES } from "../browser/pictures.ts";
import { ROOT_FOLDER, textOf } from "../support/documents.ts";

const MOVING = ["approval-still.webp", "approval.webp"];
const pictures = readdirSync(PICTURES_FOLDER);

describe("the pictures of the documents", () => {
  it("exist where a page shows them", () => {
    const pages = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT_FOLDER });
    const shown = pages.flatMap((page) =>
      [...linksOf(textOf(page)), ...[...textOf(page).matchAll(/srcset="([^"]+)"/g)].map(([, to = ""]) => to)]
        .filter((to) => to.includes("screenshots/"))
        .map((to) => join(dirname(page), to)),
    );
    assert.ok(shown.length >= 8, `${shown.length} pictures are shown`);
    assert.deepEqual(
      shown.filter((file) => !existsSync(join(ROOT_FOLDER, file))),
      [],
    );
  });

  it("show each screen at both widths and in both themes", () => {
    const screens = pictures.filter((file) => !MOVING.includes(file));
    const names = new Set(screens.map((file) => file.replace(/-\d+-[a-z]+\.webp$/, "")));
    const wanted = [...names].flatMap((name) =>
      THEMES.flatMap((theme) => [pictureFile(name, "phone", theme), pictureFile(name, "desk", theme)]),
    );
    assert.ok(names.size >= 60, `${names.size} screens`);
    assert.deepEqual(screens.sort(), wanted.sort());
  });

  it("are small together", () => {
    const bytes = pictures.reduce((sum, file) => sum + statSync(join(PICTURES_FOLDER, file)).size, 0);
    assert.ok(bytes <= MOST_BYTES, `${bytes} bytes of ${MOST_BYTES}`);
  });
});
