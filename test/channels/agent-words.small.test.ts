import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withoutForgery } from "../../src/requests/model/agent-words.ts";
import { askOf, MESSAGES, OUR_CODE, OUR_LINK, OUR_URL } from "../support/unseen-renderers.ts";

const FORGED_CODE = "4777";
const FORGED_LINK = `${OUR_URL}/r/${"f".repeat(43)}`;
const ELSEWHERE = `https://parley.example.evil.example/r/${"f".repeat(43)}`;
const REPLY = `ask+${"f".repeat(26)}@parley.example`;
const FORGED = [
  "ok",
  `Reply YES ${FORGED_CODE} or NO ${FORGED_CODE}, or decide here:`,
  FORGED_LINK,
  ELSEWHERE,
  REPLY,
  `The page asks for this code: ${FORGED_CODE}`,
].join("\n");

/** The lines of ours that a message may hold, and nothing of an agent's may begin a line. */
const FROM_AGENT = /Reply YES|decide here|page asks/;

describe("an agent's words in a message", () => {
  const options = [{ name: "a", title: FORGED, description: FORGED, interactive: false }];
  const call = askOf("pay", { note: "ok" }, { words: FORGED });
  const asks = {
    "a call": { ...call, form: { ...call.form, rejectOptions: options } },
    "a question": askOf("", {}, { form: { kind: "reply", options }, title: FORGED, words: FORGED, digest: null }),
  } as const;

  for (const [name, render] of Object.entries(MESSAGES)) {
    it(`hold no code and no address that looks like ours, in ${name}`, () => {
      for (const [what, ask] of Object.entries(asks)) {
        const shown = render(ask);
        for (const forged of [FORGED_CODE, FORGED_LINK, ELSEWHERE, REPLY]) {
          assert.ok(!shown.includes(forged), `${what}: ${forged} in ${shown}`);
        }
      }
    });
  }

  for (const name of ["a text message", "WhatsApp", "Slack without blocks", "a mail's text"]) {
    it(`begin no line, in ${name}`, () => {
      const marks = name === "a mail's text" ? /^\| / : /^> /;
      // The same words of ours without the agent's stand beside them.
      for (const [what, ask] of Object.entries(asks)) {
        const render = MESSAGES[name] ?? assert.fail(name);
        const ours = render({
          ...ask,
          words: "",
          title: "x",
          form: { ...ask.form, options: [], rejectOptions: [] } as never,
        });
        const ownLines = new Set(ours.split("\n"));
        const foreign = render(ask)
          .split("\n")
          .filter((line) => FROM_AGENT.test(line) && !ownLines.has(line));
        assert.ok(foreign.length > 0, what);
        for (const line of foreign) if (!line.startsWith("The agent support asks: “")) assert.match(line, marks, what);
      }
    });
  }

  it("stand between marks that they cannot close, in a WhatsApp template", () => {
    const render = MESSAGES["a WhatsApp template"] ?? assert.fail();
    const said = render(askOf("pay", {}, { words: `fine” Reply YES now “`, digest: null }));
    assert.match(said, /It says: “fine" Reply YES now "”\n/);
  });

  it("stay as they are where they hold nothing of the kind", () => {
    for (const words of [
      "Is order no. 4711 paid? See https://shop.example/orders/4711",
      `The work is at ${OUR_URL}/console/assignments/7`,
      "Approve the PR: https://github.com/acme/shop/pull/4223/files",
      "mail ops@parley-users.example, ok?",
    ]) {
      assert.equal(withoutForgery(words, OUR_URL), words);
    }
  });

  it("hold no code or address in another spelling", () => {
    for (const code of [
      "K7PQ",
      "Ｋ７ＰＱ",
      "K 7 P Q",
      "K-7-P-Q",
      "K–7–P–Q",
      "K . 7 . P . Q",
      "k7-pq",
      "K\u200b7\u2060PQ",
      "Ⓚ⑦ⓅⓆ",
      "𝐊𝟕𝐏𝐐",
      "٤٧٧٧",
      "४७७७",
      "4 7 7 7",
      "４７－７７",
    ])
      for (const before of [
        "Reply YES ",
        "ＹＥＳ ",
        "The code is ",
        "NO: ",
        "Yes — ",
        "Y E S ",
        "ok → ",
        "Approve, then type: ",
      ]) {
        const words = withoutForgery(`${before}${code}, thank you`, OUR_URL);
        assert.equal(words, `${before}[code left out], thank you`, code);
      }
    const fullWidth = FORGED_LINK.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));
    assert.equal(withoutForgery(`See ${fullWidth} now`, OUR_URL), "See [address left out] now");
    for (const words of [
      "code: 24 25 26",
      "ok 2, 3, 4, 5",
      "Reply yes to the 3 of 4",
      "approve ４７７７７ now",
      "a ＋ b",
      "It was approved; 1,200 EUR then went to shop 4711",
      "yes, but then 12 of them",
    ])
      assert.equal(withoutForgery(words, OUR_URL), words);
  });

  it("leave what is ours alone", () => {
    const shown = MESSAGES["a text message"]?.(asks["a call"]) ?? "";
    assert.ok(shown.endsWith(`Reply YES ${OUR_CODE} or NO ${OUR_CODE}, or decide here:\n${OUR_LINK}`), shown);
  });

  it("are looked through in time that grows with their length, however they are written", () => {
    for (const word of ["x", "/r/", "ask+", "https://parley.example", "reply ", "YES ("]) {
      const words = word.repeat(40_000 / word.length);
      assert.equal(typeof withoutForgery(words, OUR_URL), "string");
    }
  });
});
