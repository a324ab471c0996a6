import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PLANTS } from "../proof/plant-list.ts";
import { ROOT_FOLDER } from "../support/documents.ts";

describe("each bug that a harness is to find", () => {
  it("has the one place in the source where it is put", () => {
    const placed = PLANTS.map(({ bug, file, find }) => {
      return [bug, readFileSync(join(ROOT_FOLDER, file), "utf8").split(find).length - 1];
    });
    assert.deepEqual(
      placed.filter(([, times]) => times !== 1),
      [],
    );
  });
});
