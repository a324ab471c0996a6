import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readMail } from "../../src/channels/email/read-mail.ts";

const TOKEN = "abcdefghijklmnopqrstuvwxyz";
const OURS = "Message-ID: <dlv_4Jx0.mAb3@parley.example>";
const OTHER = "Message-ID: <0102019a-0000@eu-west-1.amazonses.com>";
const REPLY_TO = `Reply-To: ask+${TOKEN}@parley.example`;
const BY_ID = { thread: "<dlv_4Jx0.m@parley.example>" };
const BY_ADDRESS = { replyToken: TOKEN };
const FAILED = "Final-Recipient: rfc822; ana@people.example\nAction: failed\nStatus: 5.1.1";
const DELAYED = "Final-Recipient: rfc822; ana@people.example\nAction: delayed\nStatus: 4.4.1";

interface Report {
  recipients?: string;
  returned?: string;
  status?: string;
  original?: string;
  header?: string;
}

async function bounceOf({ recipients = FAILED, returned = OURS, ...more }: Report) {
  const { status = "message/delivery-status", original = "text/rfc822-headers", header = "X: y" } = more;
  const raw = `Return-Path: <>\nFrom: MAILER-DAEMON@people.example\nSubject: Undelivered\n${header}\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=B\n\n--B\nContent-Type: text/plain\n\nSorry. ${REPLY_TO}\n\n--B\nContent-Type: ${status}\n\nReporting-MTA: dns; people.example\n\n${recipients}\n\n--B\nContent-Type: ${original}\n\nSubject: x\n${returned}\n\n${REPLY_TO}\n\n--B--\n`;
  const arrived = { raw: Buffer.from(raw.replaceAll("\n", "\r\n")), recipients: [], fromNobody: true };
  return (await readMail(arrived, "parley.example", "parley@parley.example")).bounce;
}

const PERMANENT = { permanent: true, code: "5.1.1" };
const REPORTS: readonly [what: string, report: Report, bounce: Awaited<ReturnType<typeof bounceOf>>][] = [
  ["the Message-ID", {}, { of: BY_ID, ...PERMANENT }],
  ["the id that a relay replaced", { returned: `${OTHER}\nX-Original-${OURS}` }, { of: BY_ID, ...PERMANENT }],
  ["Microsoft's name for it", { returned: `${OTHER}\nX-Microsoft-Original-${OURS}` }, { of: BY_ID, ...PERMANENT }],
  ["the reply address", { returned: `${OTHER}\n${REPLY_TO}` }, { of: BY_ADDRESS, ...PERMANENT }],
  [
    "the reply address, folded",
    { returned: `${OTHER}\n${REPLY_TO.replace(" ", "\n ")}` },
    { of: BY_ADDRESS, ...PERMANENT },
  ],
  [
    "the mail that it follows",
    { returned: OTHER, header: OURS.replace("Message-ID", "In-Reply-To") },
    { of: BY_ID, ...PERMANENT },
  ],
  ["nothing of ours, but in its text", { returned: OTHER }, undefined],
  ["another server's reply address", { returned: `${OTHER}\n${REPLY_TO.replace("parley.", "other.")}` }, undefined],
  ["the whole mail", { original: "message/rfc822" }, { of: BY_ID, ...PERMANENT }],
  [
    "international mail",
    { status: "message/global-delivery-status", original: "message/global-headers" },
    { of: BY_ID, ...PERMANENT },
  ],
  [
    "a whole international mail",
    { status: "message/global-delivery-status", original: "message/global" },
    { of: BY_ID, ...PERMANENT },
  ],
  ["a late mail", { recipients: DELAYED }, { of: BY_ID, permanent: false, code: "4.4.1" }],
  [
    "a late mail with a wrong status",
    { recipients: DELAYED.replace("4.4.1", "5.4.1") },
    { of: BY_ID, permanent: false, code: "4.4.1" },
  ],
  ["several recipients", { recipients: `${DELAYED}\n\n${FAILED}` }, { of: BY_ID, ...PERMANENT }],
  ["a failure without a status", { recipients: "Action: failed" }, { of: BY_ID, permanent: true, code: "5.0.0" }],
  ["a status alone", { recipients: "Status: 5.1.1" }, { of: BY_ID, ...PERMANENT }],
  ["a mail that arrived", { recipients: "Action: delivered\nStatus: 2.0.0" }, undefined],
  ["a mail that was passed on", { recipients: "Action: relayed\nStatus: 2.0.0" }, undefined],
];

describe("a report that a mail did not arrive", () => {
  for (const [what, report, bounce] of REPORTS) {
    it(`is about ${what}`, async () => assert.deepEqual(await bounceOf(report), bounce));
  }
});
