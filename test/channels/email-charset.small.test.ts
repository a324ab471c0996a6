import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readMail } from "../../src/channels/email/read-mail.ts";

const WEEKDAY = "1b244232504d4b467c1b2842"; // 火曜日 in ISO-2022-JP
const PARTS: readonly [what: string, type: string, body: string | Buffer, text: string][] = [
  ["undeclared UTF-8", "text/plain", Buffer.from("Größe"), "Größe"],
  ["undeclared windows-1252", "text/plain", Buffer.from("47 72 f6 df 65 20 80".replaceAll(" ", ""), "hex"), "Größe €"],
  ["undeclared ISO-2022-JP", "text/plain", Buffer.from(WEEKDAY, "hex"), "火曜日"],
  ["ISO-2022-JP called ASCII", "text/plain; charset=us-ascii", Buffer.from(WEEKDAY, "hex"), "火曜日"],
  ["ISO-2022-JP called UTF-8", "text/plain; charset=utf-8", Buffer.from(WEEKDAY, "hex"), "火曜日"],
  ["declared ISO-2022-JP", "text/plain; charset=iso-2022-jp", Buffer.from(WEEKDAY, "hex"), "火曜日"],
  ["Latin 1 called ASCII", "text/plain; charset=us-ascii", Buffer.from("Größe", "latin1"), "Größe"],
  ["UTF-8 called ASCII", "text/plain; charset=US-ASCII", Buffer.from("Größe"), "Größe"],
  ["Latin 1 called UTF-8", "text/plain; charset=utf-8", Buffer.from("Größe", "latin1"), "Größe"],
  [
    "UTF-8 with one broken byte",
    "text/plain; charset=utf8",
    Buffer.from([...Buffer.from("Größe "), 0xff]),
    "Größe \ufffd",
  ],
  ["UTF-8 of an unknown name", "text/plain; charset=x-unknown", Buffer.from("Größe"), "Größe"],
  ["Latin 1 of an unknown name", "text/plain; charset=unknown-8bit", Buffer.from("Größe", "latin1"), "Größe"],
  ["Latin 1 of its own name", "text/plain; charset=iso-8859-1", Buffer.from("Ã¼", "latin1"), "Ã¼"],
  ["code page 850", "text/plain; charset=cp-850", Buffer.from("4772947365 e1".replaceAll(" ", ""), "hex"), "Gröseß"],
  ["GBK called GB2312", "text/plain; charset=GB2312", Buffer.from("d6dc8ed7", "hex"), "周幾"],
  ["Shift_JIS called cp932", "text/plain; charset=cp932", Buffer.from("89ce976a93fa", "hex"), "火曜日"],
  ["Hebrew in logical order", "text/plain; charset=iso-8859-8-i", Buffer.from("f9ece5ed", "hex"), "שלום"],
  ["flowed text without a charset", "text/plain; format=flowed", Buffer.from("Größe \r\nzwei", "latin1"), "Größe zwei"],
  ["undeclared HTML", "text/html", Buffer.from("<p>Größe</p>", "latin1"), "Größe"],
  ["HTML that names its own", "text/html", Buffer.from('<meta charset="windows-1251"><p>\xc4\xe0</p>', "latin1"), "Да"],
];

const mailOf = (headers: string, body: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`From: ana@people.example\r\nMIME-Version: 1.0\r\n${headers}\r\n\r\n`, "latin1"),
    Buffer.from(body),
  ]);
const read = (raw: Buffer) =>
  readMail({ raw, recipients: [], fromNobody: false }, "parley.example", "parley@parley.example");

describe("the text of a mail", () => {
  for (const [what, type, body, text] of PARTS) {
    it(`is read as its author wrote it: ${what}`, async () => {
      const headers = `Content-Type: ${type}\r\nContent-Transfer-Encoding: 8bit`;
      assert.equal((await read(mailOf(headers, body))).text.trim(), text);
    });
  }

  it("is found undeclared in each part, in base64 too", async () => {
    const part = (type: string, bytes: Buffer) =>
      `--B\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes.toString("base64")}\r\n`;
    const body = `${part("text/plain", Buffer.from("Größe", "latin1"))}${part("text/html", Buffer.from("<p>Größe</p>"))}--B--\r\n`;
    const mail = await read(mailOf("Content-Type: multipart/alternative; boundary=B", body));
    assert.deepEqual([mail.text.trim(), mail.html?.trim()], ["Größe", "<p>Größe</p>"]);
  });
});

describe("the header of a mail", () => {
  for (const [what, bytes, subject] of [
    ["windows-1252", Buffer.from("Größe", "latin1"), "Größe"],
    ["UTF-8", Buffer.from("Größe"), "Größe"],
    ["ISO-2022-JP", Buffer.from(WEEKDAY, "hex"), "火曜日"],
    ["encoded words", Buffer.from("=?iso-8859-1?Q?Gr=F6=DFe?="), "Größe"],
  ] as const) {
    it(`may hold bytes that nothing declares: ${what}`, async () => {
      assert.equal((await read(mailOf(`Subject: ${bytes.toString("latin1")}`, "hello"))).subject, subject);
    });
  }
});
