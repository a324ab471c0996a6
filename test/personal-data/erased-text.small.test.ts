import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { besideArguments, eraser, withoutErased } from "../../src/personal-data/model/identifiers.ts";

const ANA = {
  name: "Ana Ruiz",
  pseudonym: "Erased person 7",
  addresses: ["ana@example.com", "+4915112345678", "U0ANARUIZ1"],
};

describe("what is erased of a text", () => {
  const erase = eraser(ANA);

  it("is an address however it is written, and nothing that only holds it", () => {
    const cases = [
      ["ana@example.com", "erased-7-1"],
      ["To: Ana@Example.COM.", "To: erased-7-1."],
      ["<mailto:ana@example.com>", "<mailto:erased-7-1>"],
      [String.raw`{"text":"hi\nana@example.com"}`, String.raw`{"text":"hi\nerased-7-1"}`],
      ["?to=%3Cana%40example.com%3E", "?to=%3Cerased-7-1%3E"],
      ["joana@example.com", "joana@example.com"],
      ["maria-ana@example.com", "maria-ana@example.com"],
      ["ana@example.com.au", "ana@example.com.au"],
      ["whatsapp:+4915112345678", "whatsapp:erased-7-2"],
      ["From=%2B4915112345678&", "From=erased-7-2&"],
      ["49151123456789", "49151123456789"],
      ["<@U0ANARUIZ1>", "<@erased-7-3>"],
      ["U0ANARUIZ12", "U0ANARUIZ12"],
    ];
    for (const [text = "", wanted] of cases) assert.equal(erase(text, false), wanted);
  });

  it("is a name of several words wherever it stands", () => {
    assert.equal(erase("Ask Ana Ruiz, please.", false), "Ask Erased person 7, please.");
    assert.equal(erase('{"name":"Ana Ruiz"}', false), '{"name":"Erased person 7"}');
    assert.equal(erase("Susana Ruiz and Ana Ruizmann", false), "Susana Ruiz and Ana Ruizmann");
  });

  it("is a name of one word where it is a value, or in a sentence of this server's own", () => {
    const eraseMark = eraser({ ...ANA, name: "Mark" });
    assert.equal(eraseMark("Mark the file as done.", false), "Mark the file as done.");
    assert.equal(eraseMark('{"by":"Mark","say":"Mark it"}', false), '{"by":"Erased person 7","say":"Mark it"}');
    assert.equal(eraseMark(String.raw`"{\"by\":\"Mark\"}"`, false), String.raw`"{\"by\":\"Erased person 7\"}"`);
    assert.equal(eraseMark("Mark approved it.", true), "Erased person 7 approved it.");
  });

  it("is a name with quotes and signs as it stands, and as it is written in JSON", () => {
    const name = `Ana "Anita" (R+D) Ruiz`;
    const eraseIt = eraser({ ...ANA, name });
    assert.equal(eraseIt(`by ${name}.`, false), "by Erased person 7.");
    assert.equal(eraseIt(JSON.stringify({ name }), false), '{"name":"Erased person 7"}');
  });

  it("is no name where somebody else is called the same", () => {
    assert.equal(eraser({ ...ANA, name: null })("Ana Ruiz, ana@example.com", true), "Ana Ruiz, erased-7-1");
  });

  it("leaves arguments that a digest covers, and nobody in a list of addresses", () => {
    const outcome = JSON.stringify({ comment: "Ana Ruiz", kwargs: '{"to":"Ana Ruiz"}', text: "Ana Ruiz" });
    assert.deepEqual(JSON.parse(besideArguments(outcome, (text) => erase(text, false))), {
      comment: "Erased person 7",
      kwargs: '{"to":"Ana Ruiz"}',
      text: "Erased person 7",
    });
    for (const [list, left] of [
      [["erased-7-1"], []],
      [["erased-7-1", "bo@example.com"], ["bo@example.com"]],
      [["bo@example.com", "erased-7-1"], ["bo@example.com"]],
      [
        ["bo@example.com", "erased-7-1", "cy@example.com"],
        ["bo@example.com", "cy@example.com"],
      ],
    ]) {
      assert.deepEqual(JSON.parse(withoutErased(JSON.stringify({ to: "erased-7-1", cc: list }))), {
        to: "erased-7-1",
        cc: left,
      });
    }
  });
});
