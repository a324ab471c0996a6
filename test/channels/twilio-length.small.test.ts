import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { showsWhole, templateVariables, textOf } from "../../src/channels/twilio/message.ts";
import { askOf, noticeOf } from "../support/unseen-renderers.ts";

/** Its errors 21617 and 21658. */
const TWILIO_TAKES = 1600;
/** A filled-in template of WhatsApp, its own words included: Twilio's error 63021. */
const WHATSAPP_TAKES = 1024;
/** The longest words of a template by docs/how-to/phones.md. */
const OWN_WORDS = "w".repeat(200);
const LETTER = "l".repeat(270);
const long = (what: string) => `${what} ${"goes on and on ".repeat(600)}`.slice(0, 5000);

/** Ways to reject, each as long as a title may be. */
const WAYS = Array.from({ length: 12 }, (_, i) => ({
  name: `way_${i}`,
  title: `Way ${i} ${"w".repeat(150)}`,
  interactive: false,
}));

/** The message that comes of a template whose words are as long as they may be. */
function filledIn(variables: Readonly<Record<string, string>>): string {
  return `${OWN_WORDS}${["1", "2", "3", "4"].map((name) => variables[name] ?? assert.fail(name)).join("")}`;
}

describe("a message by phone, however much an agent says", () => {
  const rejectOptions = { none: [], many: WAYS };
  for (const [ways, options] of Object.entries(rejectOptions)) {
    for (const words of ["", "Short.", long("Its reason")]) {
      for (const opening of [null, long("It began")]) {
        const what = `${ways} ways to reject, ${words.length} characters of words, ${opening ? "with" : "without"} what was said before`;
        it(`is as long as Twilio and WhatsApp take, and holds the arguments whole: ${what}`, () => {
          const ask = askOf("issue_refund", { letter: LETTER }, { words });
          const form = { ...ask.form, rejectOptions: options } as typeof ask.form;
          const notice = { ...noticeOf({ ...ask, form }, null), opening };
          assert.ok(showsWhole("sms", notice, true) && showsWhole("whatsapp", notice, true));
          const template = templateVariables(notice);
          assert.ok(filledIn(template).length <= WHATSAPP_TAKES, `${filledIn(template).length} characters`);
          const texts = [textOf("sms", notice), textOf("whatsapp", notice), template["2"] ?? assert.fail()];
          for (const text of texts) {
            assert.ok(text.length <= TWILIO_TAKES, `${text.length} characters`);
            assert.ok(text.includes(LETTER), text);
            if (words.length > 1000) assert.match(text, /on the page/);
          }
        });
      }
    }
  }

  for (const [what, fn, agent] of [
    ["names as they are", "issue_refund", "agent:support"],
    ["the longest names", "f".repeat(256), `agent:${"a".repeat(128)}`],
    ["the longest names, of what cannot be seen", "\u{e0001}".repeat(128), `agent:${"\u{e0001}".repeat(64)}`],
  ] as const) {
    for (const length of [100, 300, 500, 700, 890]) {
      it(`shows all of a call, or says that it does not and lets nothing be approved by it: ${what}, ${length} characters`, () => {
        const letter = "l".repeat(length - 20);
        const ask = askOf(fn, { letter }, { words: long("Its reason"), asker: agent });
        const options = { ...ask.form, rejectOptions: WAYS } as typeof ask.form;
        const whole = { ...noticeOf({ ...ask, form: options }, null), opening: long("It began") };
        for (const kind of ["sms", "whatsapp"] as const) {
          for (const hasTemplate of [false, true]) {
            const isWhole = showsWhole(kind, whole, hasTemplate);
            const notice = { ...whole, whole: isWhole };
            const template = templateVariables(notice);
            const sent =
              hasTemplate && kind === "whatsapp" ? [template["2"] ?? "", textOf(kind, notice)] : [textOf(kind, notice)];
            if (hasTemplate && kind === "whatsapp") {
              assert.ok(filledIn(template).length <= WHATSAPP_TAKES, `${filledIn(template).length} characters`);
            }
            for (const text of sent) {
              assert.ok(text.length <= TWILIO_TAKES, `${text.length} characters`);
              assert.equal(text.includes(letter) && text.includes(whole.view.fn ?? ""), isWhole, text);
              if (!isWhole) assert.match(text, /characters are on the page/);
              assert.equal(/YES/.test(text), isWhole && !text.startsWith("“"));
            }
          }
        }
      });
    }
  }

  it("has room for usual arguments in a template, and for those of 900 characters without one", () => {
    const notice = (length: number) => noticeOf(askOf("issue_refund", { letter: "l".repeat(length) }), null);
    assert.equal(showsWhole("whatsapp", notice(500), true), true);
    assert.equal(showsWhole("whatsapp", notice(880), true), false);
    assert.equal(showsWhole("whatsapp", notice(880), false), true);
  });
});
