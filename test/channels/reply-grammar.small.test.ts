import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { ResponseOption } from "../../src/requests/model/request.ts";
import { phoneCommand, readReply, takeCode, type ReadReply } from "../../src/requests/model/reply-grammar.ts";

const option = (name: string, title?: string): ResponseOption => ({
  name,
  interactive: false,
  ...(title !== undefined && { title }),
});
const WAYS = [option("too_big", "The amount is too big"), option("later"), option("a:b", "Ask: Bo")];
const NOT = { kind: "not_understood" } as const;
const APPROVE = { kind: "approve" } as const;
const reject = (comment?: string, name?: string): ReadReply => ({
  kind: "reject",
  ...(comment !== undefined && { comment }),
  ...(name !== undefined && { option: name }),
});

const ON_A_CALL: readonly [text: string, means: ReadReply][] = [
  ["approve", APPROVE],
  ["Approved.", APPROVE],
  ["  YES!\n", APPROVE],
  ["ok", APPROVE],
  ["ＯＫ．", APPROVE],
  ["\u00a0ok\u00a0", APPROVE],
  ["yes!!", NOT],
  ["yes yes", NOT],
  ["ok but only in the EU", NOT],
  ["ok\nbut only in the EU", NOT],
  ["ok, go", NOT],
  ["yes, but no", NOT],
  ["yeah", NOT],
  ["y", NOT],
  ["👍", NOT],
  ["approve it", NOT],
  ["not approved", NOT],
  ["y\u0435s", NOT],
  ["yes\u200b", NOT],
  ["", NOT],
  [" . ", NOT],
  ["reject", reject()],
  ["Rejected!", reject()],
  ["DENY too risky", reject("too risky")],
  ["denied: Ask Bo.\nThen again.", reject("Ask Bo.\nThen again.")],
  ["reject – the amount", reject("the amount")],
  ["rejecting", NOT],
  ["reject_it", NOT],
  ["I reject", NOT],
  ["no", reject()],
  ["No.", reject()],
  ["no, too late", reject("too late")],
  ["no; too late", reject("too late")],
  ["no: too late", reject("too late")],
  ["no - too late", reject("too late")],
  ["no – too late", reject("too late")],
  ["no. Too late", reject("Too late")],
  ["no\ntoo late", reject("too late")],
  ["no \r\ntoo late", reject("too late")],
  ["no problem", NOT],
  ["no problem: go", NOT],
  ["nope", NOT],
  ["not now", NOT],
  ["too_big", reject(undefined, "too_big")],
  ["the  amount is too BIG.", reject(undefined, "too_big")],
  ["#2", reject(undefined, "later")],
  ["#2: on\nMonday", reject("on\nMonday", "later")],
  ["later: on Monday", reject("on Monday", "later")],
  ["ask: bo: he knows", reject("he knows", "a:b")],
  ["later on Monday", NOT],
  ["#4", NOT],
  ["#0", NOT],
  ["2", NOT],
];

describe("words on a function call", () => {
  for (const [text, means] of ON_A_CALL) {
    it(`${JSON.stringify(text)} ${means.kind}`, () => {
      assert.deepEqual(readReply(text, { kind: "approval", options: WAYS }), means);
    });
  }

  it("mean nothing where a way to reject is called like an approval", () => {
    const pending = { kind: "approval", options: [option("ok"), option("x", "Yes")] } as const;
    assert.deepEqual([readReply("ok", pending), readReply("yes.", pending)], [NOT, NOT]);
    assert.deepEqual(readReply("approve", pending), APPROVE);
    assert.deepEqual(readReply("ok: never", pending), reject("never", "ok"));
  });

  it("name no option by a title that two share, and its name before anybody's title", () => {
    const options = [option("a", "Later"), option("b", "later"), option("c", "a")];
    assert.deepEqual(readReply("later", { kind: "approval", options }), NOT);
    assert.deepEqual(readReply("a", { kind: "approval", options }), reject(undefined, "a"));
  });

  it("approve only when the whole text is one of the four words", () => {
    const word = fc.constantFrom("approve", "approved", "yes", "ok", "no", "reject", "YES", "Ok", "oK.", "later", "#1");
    const glue = fc.constantFrom("", " ", "\n", "\t", "\u00a0", ".", "!", ",", ": ", "\u200b", "\u202e", "-");
    const piece = fc.oneof(word, glue, fc.string({ unit: "grapheme", maxLength: 6 }));
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
    let approvals = 0;
    fc.assert(
      fc.property(text, (written) => {
        const { kind } = readReply(written, { kind: "approval", options: WAYS });
        const isOneOfFour = /^\s*(approved?|yes|ok)\s*[.!]?\s*$/i.test(written.normalize("NFKC"));
        if (kind === "approve") approvals += 1;
        assert.equal(kind === "approve", isOneOfFour);
      }),
      { numRuns: 5000 },
    );
    assert.ok(approvals > 0);
  });
});

describe("words on a contact or a message", () => {
  const options = [option("eu", "Only in the EU"), option("all")];

  it("choose an option by its name, title or number, and are the answer otherwise, as they were written", () => {
    const read = (text: string) => readReply(text, { kind: "reply", options });
    assert.deepEqual(read("EU"), { kind: "option", name: "eu" });
    assert.deepEqual(read("only in the  eu."), { kind: "option", name: "eu" });
    assert.deepEqual(read("#2"), { kind: "option", name: "all" });
    assert.deepEqual(read("#3"), { kind: "text", text: "#3" });
    assert.deepEqual(read("eu: mostly"), { kind: "text", text: "eu: mostly" });
    assert.deepEqual(read(" yes.\n"), { kind: "text", text: "yes." });
    assert.deepEqual(read("10 m² ①\n\n\nok!"), { kind: "text", text: "10 m² ①\n\n\nok!" });
    assert.deepEqual(read(" \n"), NOT);
  });

  it("are a value's text, whatever they say", () => {
    assert.deepEqual(readReply("approve", { kind: "value", options: [] }), { kind: "text", text: "approve" });
    assert.deepEqual(readReply("", { kind: "value", options: [] }), NOT);
  });
});

const CODES: readonly [text: string, code: string | undefined, rest: string][] = [
  ["YES 7KQ2", "7KQ2", "YES"],
  ["yes 7kq2.", "7KQ2", "yes"],
  ["7KQ2 no: too late", "7KQ2", "no: too late"],
  ["7KQ2: no", "7KQ2", "no"],
  ["no, 7KQ2", "7KQ2", "no"],
  ["yes\n7KQ2", "7KQ2", "yes"],
  ["７ＫＱ２ yes", "7KQ2", "yes"],
  ["7KQ2", "7KQ2", ""],
  ["yes 7KQ2 please", undefined, "yes 7KQ2 please"],
  ["yes7KQ2", undefined, "yes7KQ2"],
  ["yes 7KQ22", undefined, "yes 7KQ22"],
  ["yes 7KQ1", undefined, "yes 7KQ1"],
  ["ABCD yes", undefined, "ABCD yes"],
  [" two  words ", undefined, "two  words"],
];

describe("a code", () => {
  for (const [text, code, rest] of CODES) {
    it(`is ${code ?? "not found"} in ${JSON.stringify(text)}`, () => {
      assert.deepEqual(takeCode(text), code === undefined ? { rest } : { code, rest });
    });
  }
});

const CARRIER_WORDS: readonly [kind: "stop" | "start" | "help" | null, certain: boolean, words: readonly string[]][] = [
  ["stop", true, ["STOP", "stopall", "Stop all", " STOP! ", "“STOP”", "STOP..", "Unsubscribe", "OPTOUT", "opt-out"]],
  ["stop", true, ["ARRET", "ARRÊT", "arrêté", "ARRETT", "ＳＴＯＰ"]],
  ["stop", false, ["CANCEL", "end", "quit.", "REVOKE"]],
  ["start", true, [" unstop "]],
  ["start", false, ["START"]],
  ["help", false, ["help", "INFO!", "AIDE"]],
  [null, false, ["stop it", "please stop", "yes", "", "helpful", "constructor", "stop?", "end of June", "7KQ2 cancel"]],
];

describe("the words of carriers", () => {
  for (const [kind, certain, words] of CARRIER_WORDS) {
    it(`mean ${kind ?? "nothing"}${kind === null || certain ? "" : " unless they are an option"}: ${words.join(", ")}`, () => {
      for (const one of words) assert.deepEqual(phoneCommand(one), kind && { kind, certain }, one);
    });
  }

  it("are whatever Twilio says that they are", () => {
    const read = (text: string, type: string) => phoneCommand(text, type);
    assert.deepEqual(read("parar", "STOP"), { kind: "stop", certain: true });
    assert.deepEqual(read("CANCEL", "STOP"), { kind: "stop", certain: true });
    assert.deepEqual(read("START", "HELP"), { kind: "help", certain: true });
    assert.deepEqual(read("YES", "START"), { kind: "start", certain: false });
    assert.deepEqual(read("stop", "start"), { kind: "start", certain: false });
    for (const unknown of ["", "NONE", "constructor"]) {
      assert.equal(read("Tuesday", unknown), null, unknown);
      assert.deepEqual(read("STOP", unknown), { kind: "stop", certain: true }, unknown);
    }
  });
});
