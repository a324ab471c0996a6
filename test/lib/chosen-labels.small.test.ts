import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chosenLabels } from "../../src/lib/chosen-labels.ts";

const CHECKS = ["lint", "unit", "e2e"];

describe("several choices in words", () => {
  const cases: [words: string, chosen: string, labels?: readonly string[]][] = [
    ["#1, #3", "lint, e2e"],
    ["1,3", "lint, e2e"],
    ["1) \n 3.", "lint, e2e"],
    ["#3; #1", "e2e, lint"],
    ["#2", "unit"],
    ["Lint, E2E.", "lint, e2e"],
    ["lint\ne2e", "lint, e2e"],
    ["lint, #1, 1", "lint"],
    ["＃1、#2".replace("、", ","), "lint, unit"],
    ["lint, and the smoke tests", "lint, and the smoke tests"],
    ["None of them", "None of them"],
    ["#4, #0, lint", "#4, #0, lint"],
    ["", ""],
    [" , ;", ""],
    ["2, 1", "2, 1", ["1", "2", "4"]],
    ["#2, #3", "2, 4", ["1", "2", "4"]],
    ["Red, white, Blue", "Red, white, Blue", ["red", "Red, white", "Blue"]],
    ["red, white; blue", "Red, white, Blue", ["Red, white", "Blue"]],
    ["date-fns (recommended)", "date-fns (Recommended)", ["date-fns (Recommended)", "dayjs"]],
  ];
  for (const [words, chosen, labels = CHECKS] of cases) {
    it(`reads ${JSON.stringify(words)} as ${JSON.stringify(chosen)}`, () => {
      assert.equal(chosenLabels(words, labels).join(", "), chosen);
    });
  }
});
