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

const QMAIL = `Hi. This is the qmail-send program at people.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<ana@people.example>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

Return-Path: <parley@parley.example>
Received: (qmail 1 invoked from network); 2 Feb 2026
${OURS}
${REPLY_TO}

Approve?`;
const EXIM = `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ana@people.example
    SMTP error from remote mail server after RCPT TO: 550 no such user

------ This is a copy of the message, including all the headers. ------

${OTHER}
${REPLY_TO}

Approve?`;
const WARNING = EXIM.replace("could not be delivered to", "has not yet been delivered to").replace(
  "This is a permanent error. The following address(es) failed:",
  "No action is required on your part. Delivery attempts will continue:",
);

async function bounceOfText(text: string, from = "MAILER-DAEMON@people.example", attached = "") {
  const parts = `--B\nContent-Type: text/plain\n\n${text}\n\n--B\nContent-Type: message/rfc822\n\n${attached}\n\n--B--\n`;
  const [type, body] = attached === "" ? ["text/plain", text] : ["multipart/mixed; boundary=B", parts];
  const raw = `From: ${from}\nSubject: failure notice\nMIME-Version: 1.0\nContent-Type: ${type}\n\n${body}`;
  const arrived = { raw: Buffer.from(raw.replaceAll("\n", "\r\n")), recipients: [], fromNobody: true };
  return (await readMail(arrived, "parley.example", "parley@parley.example")).bounce;
}

describe("a report that is words alone", () => {
  const mail = `${OTHER}\n${REPLY_TO}\n\nApprove?`;
  for (const [what, report, bounce] of [
    ["of qmail", [QMAIL], { of: BY_ID, ...PERMANENT }],
    ["of Exim", [EXIM], { of: BY_ADDRESS, permanent: true, code: "5.0.0" }],
    [
      "of Exim, with the mail attached",
      [EXIM.split("------")[0] ?? "", undefined, mail],
      { of: BY_ADDRESS, permanent: true, code: "5.0.0" },
    ],
    ["that a mail is late", [WARNING], { of: BY_ADDRESS, permanent: false, code: "4.0.0" }],
    ["of something else", ["Your mailbox is nearly full.\n\nReceived: x\n" + REPLY_TO], undefined],
    ["that names no mail of ours", [QMAIL.split("---")[0] ?? ""], undefined],
    ["that a person passed on", [QMAIL, "ana@people.example"], undefined],
  ] as const) {
    it(`${what} is ${bounce ? "about the mail that it holds" : "no report about a mail of ours"}`, async () =>
      assert.deepEqual(await bounceOfText(...(report as [string])), bounce));
  }
});
