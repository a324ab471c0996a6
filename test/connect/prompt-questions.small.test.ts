import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chosenIn, contactOf, questionsIn } from "../../src/connect/prompt-questions.ts";

interface Contact {
  msg: string;
  subject: string;
  response_options: { name: string; title: string; description?: string; prompt_fill?: string }[];
}

const long = "Apply the migration to the cluster of region eu-central-1 with this setting for it:";
const one = (options: object[], more: object = {}) => ({ question: "Which?", header: "H", options, ...more });
const read = (...questions: object[]) => questionsIn(questions, "multiSelect");
const only = (question: object) => {
  const questions = read(question);
  return questions === "unclear" ? assert.fail() : (questions[0] ?? assert.fail());
};
const labels = (...names: string[]) => names.map((label) => ({ label }));

describe("questions of an agent", () => {
  it("stay at the terminal where an answer could go astray", () => {
    const plain = one(labels("Yes", "No"));
    const unclear: object[][] = [
      [plain, { ...plain, header: "Another" }],
      [one(labels("Yes", "Yes"))],
      [one(labels("Go on", "Go  on"))],
      [one(labels("yes", "Yes"))],
      [one([{ label: "Yes" }, { description: "no label" }])],
      [one(labels(" "))],
      [{ ...plain, options: "none" }],
      [{ header: "H" }],
      [one([{ label: "Yes", preview: "x".repeat(40_001) }])],
      [one(Array.from({ length: 26 }, (_, n) => ({ label: `option ${n}` })))],
      [],
    ];
    for (const questions of unclear)
      assert.equal(read(...questions), "unclear", JSON.stringify(questions).slice(0, 80));
    assert.notEqual(read(plain, { ...plain, question: "And which?" }), "unclear");
  });

  it("lose none of their words: a long label or description stands whole above its numbered button", () => {
    const rocket = `${"x".repeat(499)}\u{1F680} and more`;
    const question = only(
      one([
        { label: `${long} keep`, description: "a" },
        { label: `${long} delete` },
        { label: "c", description: rocket },
      ]),
    );
    const { msg, response_options: options } = contactOf(question) as Contact;
    for (const words of [`#1 ${long} keep\na`, `#2 ${long} delete`, `#3 c\n${rocket}`])
      assert.ok(msg.includes(words), msg);
    const titles = options.map(({ title }) => title);
    assert.equal(new Set(titles).size, 3);
    assert.ok(
      titles.every((title, n) => title.startsWith(`#${n + 1} `) && [...title].length <= 75),
      titles.join("|"),
    );
    assert.deepEqual(
      options.map(({ description }) => description),
      ["a", "", undefined],
    );
  });

  it("show the preview of each option as it stands", () => {
    const question = only(
      one([
        { label: "Sidebar", preview: "+--+\n|L |\n```" },
        { label: "Tabs", preview: "[a][b]" },
      ]),
    );
    const { msg } = contactOf(question) as Contact;
    assert.ok(msg.includes("#1 Sidebar\n````\n+--+\n|L |\n```\n````"), msg);
    assert.ok(msg.includes("#2 Tabs\n```\n[a][b]\n```"), msg);
  });

  it("are answered by the place of an option, in a press, by number and by label", () => {
    const single = only(one(labels(`${long} keep`, `${long} delete`)));
    assert.deepEqual(chosenIn(single, { response_option_name: "option_2" }), [`${long} delete`]);
    const several = only(one(labels("lint", "unit, fast", "e2e"), { multiSelect: true }));
    const { response_options: options } = contactOf(several) as Contact;
    assert.deepEqual(
      options.map(({ prompt_fill: fill }) => fill),
      ["#1", "#2", "#3"],
    );
    assert.deepEqual(chosenIn(several, { response: "#3, #2" }), ["e2e", "unit, fast"]);
    assert.deepEqual(chosenIn(several, { response: "unit, fast; lint", response_option_name: "option_3" }), [
      "e2e",
      "unit, fast",
      "lint",
    ]);
    const long2 = only(one(labels(`${long} keep`, `${long} delete`), { multiSelect: true }));
    assert.deepEqual(chosenIn(long2, { response: "#2" }), [`${long} delete`]);
    assert.deepEqual(chosenIn(single, { response: "neither" }), ["neither"]);
    assert.deepEqual(chosenIn(single, {}), []);
  });
});
