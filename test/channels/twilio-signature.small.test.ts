import assert from "node:assert/strict";
import { describe, it } from "node:test";
import twilio from "twilio";
import { verifiedForm } from "../../src/channels/twilio/signature.ts";

const TOKEN = "canary-token-0123456789abcdef";
const FIELDS = { AccountSid: "AC1", Body: "hello", MessageSid: "SM1" };
const PATH = "/hooks/twilio/message";

/** Returns whether a request that Twilio signed for one address is believed at another, and whether Twilio's library says so. */
function verdicts(ours: string, signed: string, query = ""): [ours: boolean, theirs: boolean] {
  const tail = PATH + (query && `?${query}`);
  const signature = twilio.getExpectedTwilioSignature(TOKEN, signed + tail, FIELDS);
  const rawHeaders = ["Content-Type", "application/x-www-form-urlencoded", "X-Twilio-Signature", signature];
  const body = Buffer.from(new URLSearchParams(FIELDS).toString());
  const form = verifiedForm({ headers: {}, rawHeaders, query, body }, ours + PATH, TOKEN);
  return [form !== undefined, twilio.validateRequest(TOKEN, signature, ours + tail, FIELDS)];
}

const BELIEVED: readonly [ours: string, signed: string][] = [
  ["https://parley.example.com:8443", "https://parley.example.com:8443"],
  ["https://parley.example.com:8443", "https://parley.example.com"],
  ["https://parley.example.com", "https://parley.example.com"],
  ["https://parley.example.com", "https://parley.example.com:443"],
  ["https://parley.example.com:443", "https://parley.example.com"],
  ["http://parley.example.com", "http://parley.example.com:80"],
  ["https://[2001:db8::1]:8443", "https://[2001:db8::1]"],
  ["https://parley.example.com:8443/at/work", "https://parley.example.com/at/work"],
];
const REFUSED: readonly [ours: string, signed: string][] = [
  ["https://parley.example.com:8443", "https://parley.example.com:443"],
  ["https://parley.example.com:8443", "https://parley.example.com:9443"],
  ["https://parley.example.com:8443", "http://parley.example.com:8443"],
  ["https://parley.example.com", "https://parley.example.com:8443"],
  ["https://parley.example.com:8443", "https://evil.example.com:8443"],
  ["https://parley.example.com:8443/at/work", "https://parley.example.com:8443"],
];

describe("a signature of Twilio's", () => {
  for (const query of ["", "delivery=dlv_1"]) {
    const at = query && " with a query";
    for (const [ours, signed] of BELIEVED)
      it(`of ${signed} counts at ${ours}${at}`, () => {
        assert.deepEqual(verdicts(ours, signed, query), [true, true]);
      });
    for (const [ours, signed] of REFUSED)
      it(`of ${signed} counts for nothing at ${ours}${at}`, () => {
        assert.deepEqual(verdicts(ours, signed, query), [false, false]);
      });
  }
});
