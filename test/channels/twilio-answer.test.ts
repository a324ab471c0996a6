import assert from "node:assert/strict";
import { describe, it } from "node:test";
import twilio from "twilio";
import type { Channel } from "../../src/channels/channel.ts";
import type { PhoneMemory } from "../../src/channels/twilio/settings.ts";
import { twilioChannels } from "../../src/channels/twilio/twilio.ts";
import { findAddressed } from "../../src/store/addressed-asks.ts";
import { phoneMemory } from "../../src/verbs/phone-memory.ts";
import { askPeople, callWish, leaf } from "../addressed.ts";
import { openWorld, type World } from "../world.ts";
import { openTwilioDouble } from "./twilio-double.ts";

const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "canary-token-0123456789abcdef";
const PUBLIC_URL = "https://parley.example.com";
const OURS = "+4930901820";
const ANA = "+491701234567";
const SETTINGS = { accountSid: ACCOUNT, authToken: TOKEN, smsFrom: OURS, countries: ["+49"] };

let sids = 0;
const nextSid = () => `SM${String((sids += 1)).padStart(32, "f")}`;

describe("an approval by text message", () => {
  it("counts once, with its code, however often Twilio repeats it", async () => {
    await using double = await openTwilioDouble();
    const here: { world?: World } = {};
    // The channel is made before the server whose store it remembers in.
    const later = () => phoneMemory((here.world ?? assert.fail()).server.ctx);
    const memory: PhoneMemory = {
      setOptedOut: (...given) => later().setOptedOut(...given),
      isOptedOut: (...given) => later().isOptedOut(...given),
      heardFrom: (...given) => later().heardFrom(...given),
      hasWritten: (...given) => later().hasWritten(...given),
      charge: (...given) => later().charge(...given),
      isNew: (...given) => later().isNew(...given),
    };
    const made = twilioChannels(
      { ...SETTINGS, apiUrl: double.origin, publicUrl: PUBLIC_URL },
      { fetch, now: () => here.world?.clock.now() ?? 0, memory, onFailed: async () => {} },
    );
    await using opened = await openWorld({ on: "sqlite", channels: made as Channel[] });
    here.world = opened;
    const { ctx } = opened.server;

    const audience = leaf({ via: "sms", to: ANA, settings: {} });
    const { id } = await askPeople(ctx, { ...callWish(), audience });
    for (let i = 0; double.calls.length === 0; i += 1) {
      assert.ok(i < 200, "nothing was sent");
      await opened.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const code = /YES ([0-9A-Z]{4}) or/.exec(double.calls[0]?.form["Body"] ?? "")?.[1] ?? assert.fail("no code");
    const say = async (fields: Record<string, string>, token = TOKEN) => {
      const signature = twilio.getExpectedTwilioSignature(token, `${PUBLIC_URL}/hooks/twilio/message`, fields);
      const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature };
      const reply = await opened.call("POST", "/hooks/twilio/message", {
        headers,
        body: new URLSearchParams(fields).toString(),
      });
      return [reply.status, reply.text];
    };
    const fields = (Body: string, From = ANA) => ({ MessageSid: nextSid(), AccountSid: ACCOUNT, From, To: OURS, Body });
    const state = async () => (await findAddressed(ctx.db, id))?.ask.outcome;

    assert.deepEqual(await say(fields(`YES ${code}`), "wrong token"), [401, ""]);
    assert.deepEqual(await say(fields("YES")), [200, "<Response/>"]);
    assert.deepEqual(await say(fields(`YES ${code}`, "+491709999999")), [200, "<Response/>"]);
    assert.equal(await state(), null, "no code, and somebody else");

    const good = fields(`Yes ${code}`);
    for (let i = 0; i < 3; i += 1) assert.deepEqual(await say(good), [200, "<Response/>"]);
    const outcome = await state();
    assert.deepEqual([outcome?.status, outcome?.approved, outcome?.by?.via], ["answered", true, "sms"]);
    await say(fields(`NO ${code}`));
    assert.equal((await state())?.approved, true);
  });
});
