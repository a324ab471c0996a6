import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { previewEvidence, readPreview } from "../../src/gate/model/preview.ts";

const parsed = (targets: string) =>
  readPreview({ targets: JSON.parse(targets) as unknown, digest: "[x](https://a.example)" });

describe("a preview of a call", () => {
  it("shows members of any name, and nothing that a target does not have", () => {
    const preview = parsed('[{"constructor":"a","__proto__":"b"},{"name":"c"}]') ?? assert.fail();
    const [table] = previewEvidence("files.purge", preview);
    assert.deepEqual(table, {
      kind: "table",
      title: "Targets of files.purge",
      columns: ["constructor", "__proto__", "name"],
      rows: [
        ["a", "b", ""],
        ["", "", "c"],
      ],
    });
  });

  it("shows its digest as it is, also one that looks like markup", () => {
    const [, digest] = previewEvidence("files.purge", parsed("[]") ?? assert.fail());
    assert.deepEqual(digest, {
      kind: "table",
      title: "Digest of the targets",
      columns: ["digest"],
      rows: [["[x](https://a.example)"]],
    });
  });

  it("is not read where it is nested too deep, or has a name too long for a column", () => {
    assert.equal(parsed(`${"[".repeat(100_000)}${"]".repeat(100_000)}`), undefined);
    assert.equal(parsed(JSON.stringify([{ ["n".repeat(2001)]: "a" }])), undefined);
  });
});
