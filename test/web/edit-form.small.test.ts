import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { argumentsIn, editFormOf, filledInForm } from "../../web/src/inbox/arguments/edit-form.ts";

const SCHEMA = {
  type: "object",
  properties: {
    amount: { type: "number", title: "Amount", minimum: 1, maximum: 100 },
    speed: { enum: ["slow", "fast"] },
    notify: { type: "boolean", default: true },
    to: { type: "string", minLength: 2 },
  },
  required: ["amount", "to"],
};
const PROPOSED = { amount: 50, to: "Bo", path: "C:\\x", more: { a: [1, null] } };

function formOf(kwargs: unknown, schema: Record<string, unknown> | null = SCHEMA) {
  return editFormOf(schema, typeof kwargs === "string" ? kwargs : JSON.stringify(kwargs));
}

describe("the form for the arguments of a call", () => {
  const form = formOf(PROPOSED) ?? assert.fail();
  const kinds = Object.fromEntries(form.field.members.map(({ name, field }) => [name, field.kind]));
  const changed = (part: object) => {
    const { kwargs, problems } = argumentsIn(form, { ...form.filled, ...part });
    return { kwargs: kwargs === null ? null : (JSON.parse(kwargs) as unknown), problems };
  };

  it("has the fields of their schema, and JSON for what it does not describe", () => {
    const described = { amount: "number", speed: "choice", notify: "boolean", to: "text" };
    assert.deepEqual(kinds, { ...described, path: "json", more: "json" });
  });

  it("changes nothing that nobody touches, and adds no default", () => {
    assert.equal(argumentsIn(form, form.filled).kwargs, null);
    assert.deepEqual(changed({ amount: "70" }), { kwargs: { ...PROPOSED, amount: 70 }, problems: [] });
    assert.deepEqual(changed({ notify: true, more: "[2]" }).kwargs, { ...PROPOSED, notify: true, more: [2] });
  });

  it("says at its field what does not fit", () => {
    const { problems } = changed({ amount: "700", to: "", more: "{" });
    assert.deepEqual(problems.map(({ path }) => path).sort(), ["/amount", "/more", "/to"]);
  });

  it("has JSON for a value that its field could not give back", () => {
    const odd = formOf({ amount: "fifty", to: ["Bo"], speed: "faster" }) ?? assert.fail();
    assert.deepEqual(
      odd.field.members.map(({ field }) => field.kind),
      ["json", "json", "boolean", "json"],
    );
    assert.equal(argumentsIn(odd, odd.filled).kwargs, null);
  });

  it("is not drawn without a schema, or for numbers of which a browser would lose digits", () => {
    assert.equal(formOf(PROPOSED, null), null);
    assert.equal(formOf(PROPOSED, { type: "object" }), null);
    assert.equal(formOf('{"amount":50,"to":"Bo","id":9007199254740993}'), null);
  });

  it("takes over what was written as JSON, unless it holds more than its fields", () => {
    const written = filledInForm(form, JSON.stringify({ ...PROPOSED, to: "Cy" })) ?? assert.fail();
    assert.deepEqual(changed(written).kwargs, { ...PROPOSED, to: "Cy" });
    for (const other of [{ ...PROPOSED, extra: 1 }, { ...PROPOSED, amount: "x" }, []]) {
      assert.equal(filledInForm(form, JSON.stringify(other)), null);
    }
  });
});
