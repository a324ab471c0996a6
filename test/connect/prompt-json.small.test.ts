import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { editSchema, toolAndInput, withoutFolder } from "../../src/connect/prompt-json.ts";

const shownOf = (input: object, folder: string | undefined) =>
  toolAndInput("Bash", input, true, { folder, subagent: undefined }).shown;

describe("the input of a prompt", () => {
  it("is shown with the folder in which it would run, beside an argument of the same name", () => {
    assert.deepEqual(shownOf({ command: "make" }, "/home/ana/shop"), { command: "make", cwd: "/home/ana/shop" });
    assert.deepEqual(shownOf({ cwd: "/etc" }, "/srv"), { tool_cwd: "/etc", cwd: "/srv" });
    assert.deepEqual(shownOf({ command: "make" }, undefined), { command: "make" });
  });

  it("is never shown as another input in another folder is", () => {
    const name = fc.constantFrom("cwd", "tool_cwd", "tool_tool_cwd", "command");
    const input = fc.dictionary(name, fc.constantFrom("/a", "/b"), { noNullPrototype: true });
    const folder = fc.constantFrom("/a", "/b");
    fc.assert(
      fc.property(input, folder, (value, place) => {
        const shown = shownOf(value, place);
        assert.deepEqual([withoutFolder(shown, place), shown["cwd"]], [value, place]);
      }),
    );
  });

  it("keeps its folder when people edit it", () => {
    assert.equal(withoutFolder({ command: "make", cwd: "/srv" }, "/home"), null);
    assert.equal(withoutFolder({ command: "make" }, "/home"), null);
    assert.deepEqual(editSchema("/home"), { properties: { cwd: { const: "/home" } }, required: ["cwd"] });
  });
});
