import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeNotice } from "../../src/channels/email/compose.ts";
import { replyHtml } from "../../src/channels/email/reply-html.ts";
import { replyText } from "../../src/channels/email/reply-text.ts";
import { AGENT, ANA, DOMAIN, noticeOf, TOKEN } from "./mail.ts";
import { htmlForms, replyForms } from "./replies/forms.ts";

const OWN = { agent: AGENT, domain: DOMAIN, display: "Parley" };
const mail = composeNotice(noticeOf(), { domain: DOMAIN, approvesByReply: true, isShaped: false });
const ANSWERED = { text: mail.text, html: mail.html, agent: AGENT, replyTo: `ask+${TOKEN}@${DOMAIN}`, person: ANA };

const wordsOf = (text: string) => replyText({ text }, OWN);

describe("a reply's own words", () => {
  it("are found in the forms that mail programs write in many languages", async () => {
    const forms = replyForms(ANSWERED);
    assert.ok(forms.length >= 200, `${forms.length}`);
    const wrong: string[] = [];
    for (const { name, words, text } of forms) {
      const found = await wordsOf(text);
      if (found !== words) wrong.push(`${name}: ${JSON.stringify(words)} was read as ${JSON.stringify(found)}`);
    }
    assert.deepEqual(wrong, []);
  });

  it("are found in a mail that is HTML alone", async () => {
    const wrong: string[] = [];
    for (const { name, words, html } of htmlForms(ANSWERED)) {
      const found = await wordsOf(replyHtml(html));
      if (found !== words) wrong.push(`${name}: ${JSON.stringify(words)} was read as ${JSON.stringify(found)}`);
    }
    assert.deepEqual(wrong, []);
  });
});
