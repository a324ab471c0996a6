import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PICTURES_FOLDER } from "../browser/pictures.ts";
import { picturesShown } from "../support/documents.ts";

const MOST_BYTES = 400_000;
const pictures = readdirSync(PICTURES_FOLDER);

describe("the pictures of docs/screenshots", () => {
  it("are those that pages show, and no others", () => {
    assert.deepEqual(pictures.toSorted(), [...picturesShown()].sort());
    assert.ok(pictures.includes("approval.webp"));
  });

  it("are small together", () => {
    const bytes = pictures.reduce((sum, file) => sum + statSync(join(PICTURES_FOLDER, file)).size, 0);
    assert.ok(bytes <= MOST_BYTES, `${bytes} bytes of ${MOST_BYTES}`);
  });
});
