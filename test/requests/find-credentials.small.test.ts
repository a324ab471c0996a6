import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  beginningsIn,
  candidatesIn,
  codesIn,
  isPlainWord,
  readParts,
  type ReadText,
  withPlaces,
} from "../../src/requests/model/find-credentials.ts";

const TOKEN = "1DShrbdluQW8duabuz2nhHbe6zyPiuO_DFb-TDm8Dr4";
const LINK = `https://parley.example:3790/r/${TOKEN}`;
const REPLY = "abcdefghijklmnopq234567abc";
const CODE = "K7PQ";

const every = (text: string, characters: number, between: string) =>
  text.replace(new RegExp(`.{${characters}}`, "g"), `$&${between}`);
const hex = (one: string) => one.charCodeAt(0).toString(16).toUpperCase();
const inPercent = (text: string) => encodeURIComponent(text).replace(/[-_]/g, (one) => `%${hex(one)}`);
const urlDefense = (address: string) =>
  `https://urldefense.proofpoint.com/v2/url?u=${inPercent(address).replace(/%2F/g, "_").replace(/%/g, "-")}&d=DwMFaQ`;
const safeLink = (address: string) =>
  `https://eur01.safelinks.protection.outlook.com/?url=${inPercent(address)}&data=05%7C01%7C&reserved=0`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** The ways in which mail programs, gateways, forms and people write an address. */
const WRITTEN: Readonly<Record<string, string>> = {
  "as it is": LINK,
  "without its address": `token ${TOKEN}.`,
  "between other letters": `xx${TOKEN}yy`,
  "in percent signs": inPercent(LINK),
  "in percent signs twice": encodeURIComponent(inPercent(LINK)),
  "by Safe Links": safeLink(LINK),
  "by URL Defense 2": urlDefense(LINK),
  "by URL Defense 3": `https://urldefense.com/v3/__${LINK}__;!!AbC!x$`,
  "by URL Defense 3 with characters kept apart": `https://urldefense.com/v3/__${LINK.replace("_", "*")}__;Xw!!AbC!x$`,
  "by Safe Links in URL Defense": urlDefense(safeLink(LINK)),
  "by URL Defense in Safe Links": safeLink(urlDefense(LINK)),
  "by a gateway that writes base64": `https://eu.protection.sophos.com?d=x&u=${Buffer.from(LINK).toString("base64url")}&i=1`,
  "in quoted-printable": every(LINK.replace("_", "=5F"), 30, "=\r\n"),
  "in quoted-printable that is quoted": `> ${every(inPercent(LINK), 35, "=\r\n> ")}`,
  "in numbered entities": LINK.replace("_", "&#95;").replace("-", "&#x2d;"),
  "in named entities": LINK.replace("_", "&lowbar;").replaceAll("/", "&sol;"),
  "on several lines": every(LINK, 40, "\r\n"),
  "on several quoted lines": `> ${every(LINK, 33, "\n> > ")}`,
  "on lines with bars": `| ${every(LINK, 37, "\n\n| ")}`,
  "with characters that are not seen": every(LINK, 10, "\u200b"),
  "with soft hyphens": every(LINK, 20, "\u00ad"),
  "in full width": [...LINK].map((one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)).join(""),
  "letter by letter": [...TOKEN].join(" "),
  "with tags in it": every(LINK, 20, "<wbr>"),
  "as JSON": JSON.stringify(LINK).replace("_", "\\u005f").replaceAll("/", "\\/"),
  "as Markdown": LINK.replace("_", "\\_").replace("-", "\\-"),
  "in base64": `see ${base64(`<a href="${LINK}">open</a> and a few words`)}`,
  "in the lines of a mail's source": every(base64(`Some words before ${LINK} and some more after it.`), 76, "\r\n"),
};

function cleaned(written: string): string {
  const found = [...readParts(written)].flatMap(candidatesIn).filter(({ text }) => text === TOKEN || text === REPLY);
  return withPlaces(
    written,
    found.map((place) => ({ ...place, by: "[x]" })),
  );
}

/** A short text is one part. */
function only(written: string): ReadText {
  const [part, ...others] = readParts(written);
  assert.deepEqual(others, []);
  return part ?? assert.fail("no part");
}

describe("what lets somebody answer", () => {
  for (const [how, written] of Object.entries(WRITTEN)) {
    it(`is found in a text that has a link ${how}`, () => {
      const text = cleaned(`Look at this: ${written} – what is it?`);
      assert.match(text, /^Look at .*\[x\].* what is it\?$/s);
      assert.equal(cleaned(text), text);
    });
  }

  it("is found as a reply address, however it is written", () => {
    for (const written of [
      `ask+${REPLY}@parley.example`,
      `ask+${REPLY.toUpperCase()}@PARLEY.EXAMPLE`,
      `ask%2B${REPLY}%40parley.example`,
      `ask&plus;${REPLY}&commat;parley.example`,
      `ask+${every(REPLY, 9, "\n> ")}@parley.example`,
      REPLY,
    ]) {
      assert.match(cleaned(`to ${written} please`), /^to .*\[x\].* please$/s, written);
    }
  });

  it("is found as the beginning of a token where a text was cut", () => {
    for (const length of [16, 30, 42]) {
      const written = `see https://parley.example/r/${TOKEN.slice(0, length)}`;
      const places = beginningsIn(only(written), TOKEN).map((place) => ({ ...place, by: "[x]" }));
      assert.equal(withPlaces(written, places), "see https://parley.example/r/[x]");
    }
    assert.deepEqual(beginningsIn(only(`see ${TOKEN.slice(0, 15)}`), TOKEN), []);
  });

  it("is found as a code, also spelled out, and never within a word or a number", () => {
    const without = (text: string) =>
      withPlaces(
        text,
        codesIn(only(text), [CODE, "2345"]).map((place) => ({ ...place, by: "[x]" })),
      );
    for (const code of [
      "K7PQ",
      "k7pq",
      "K 7 P Q",
      "k-7-p-q",
      "Ｋ７ＰＱ",
      "K\u200b7PQ",
      "K&#55;PQ",
      "K7%50Q",
      "K7 PQ",
      "*K7PQ*",
      "K ... 7 / P · Q",
      "K, 7, P, Q",
      "K – 7 – P – Q",
      "K٧PQ",
      "K७PQ",
      "𝐊𝟕𝐏𝐐",
      "Ⓚ⑦ⓅⓆ",
      "٢٣٤٥",
      "২ ৩ ৪ ৫",
      "2 - 3 - 4 - 5",
    ])
      assert.match(without(`It is ${code}.`), /^It is \*?\[x\]\*?\.$/, code);
    for (const text of [
      "K7PQX",
      "AK7PQ",
      "12345",
      "23456",
      "2, 3, 4, 5",
      "٢٣٤٥٦",
      "K7 and PQ",
      "Ä2345",
      "K7P",
      "an ordinary sentence",
    ])
      assert.equal(without(text), text);
  });

  it("is not looked for in a word that is longer than a code and shorter than what is known of a token", () => {
    const plain = ["answer", "selected_option", "Comment", "abcdefghijklmno"];
    const read = ["kind", "CDFG", "C_D_F_G", "abcdefghijklmnop", "K7QXW", "approve CDFG", "answer_CDFG", ""];
    assert.deepEqual(plain.filter(isPlainWord), plain);
    assert.deepEqual(read.filter(isPlainWord), []);
  });

  it("leaves ordinary words as they are", () => {
    for (const text of [
      "We pay 50% of it, i.e. =40; see https://example.org/a/b?c=%20d&e=f_g-h.",
      "abcdefghijklmnopqrstuvwxyz234567 and sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
      "<b>Fine</b> &amp; good\\n> quoted | barred",
      "",
    ])
      assert.equal(cleaned(text), text);
  });

  it("is found in a text that is read in parts, wherever it stands", () => {
    for (const before of [10, 24_500, 24_576, 32_700, 32_768, 120_000, 400_000]) {
      const text = `${"word ".repeat(before / 5)}${inPercent(LINK)} ${"word ".repeat(20_000)}`;
      assert.equal(cleaned(text).includes("[x]"), true, String(before));
    }
  });
});
