import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emphasisOf } from "../../web/src/parts/emphasis.ts";

describe("words of an agent", () => {
  it("have code and emphasis where their writer marked them", () => {
    assert.deepEqual(emphasisOf("Is *this* **really\nold**, or `a * b`? (*Yes*.)"), [
      { kind: "plain", text: "Is " },
      { kind: "em", text: "this" },
      { kind: "plain", text: " **really\nold**, or " },
      { kind: "code", text: "a * b" },
      { kind: "plain", text: "? (" },
      { kind: "em", text: "Yes" },
      { kind: "plain", text: ".)" },
    ]);
    assert.deepEqual(emphasisOf("**drop it** and ``a `b` c``"), [
      { kind: "strong", text: "drop it" },
      { kind: "plain", text: " and " },
      { kind: "code", text: "a `b` c" },
    ]);
  });

  for (const words of [
    "2*3*4 and 5 * 6 * 7",
    "*.ts, *.js and src/*.ts",
    "count(*) of SELECT *",
    "rm -rf * && ls *",
    "* one\n* two",
    "def f(*args, **kwargs)",
    "a_b_c **",
    "`",
    "<b>*</b>",
  ]) {
    it(`keep each asterisk of ${JSON.stringify(words)}`, () => {
      assert.deepEqual(emphasisOf(words), [{ kind: "plain", text: words }]);
    });
  }

  it("are read in time in proportion to their length", () => {
    for (const sign of ["*a ", "**a", "`", "`a", "*a*b"]) {
      const words = sign.repeat(200_000);
      assert.equal(
        emphasisOf(words)
          .map(({ text }) => text)
          .join("").length <= words.length,
        true,
      );
    }
  });
});
