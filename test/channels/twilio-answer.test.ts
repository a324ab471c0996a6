import assert from "node:assert/strict";
import { describe, it } from "node:test";
import twilio from "twilio";
import type { Channel } from "../../src/channels/channel.ts";
import type { PhoneMemory, TwilioSettings } from "../../src/channels/twilio/settings.ts";
import { twilioChannels } from "../../src/channels/twilio/twilio.ts";
import type { ForeignSchema } from "../../src/requests/model/request.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { phoneMemory } from "../../src/requests/inbound/phone-memory.ts";
import { readerOf } from "../../src/requests/model/audience.ts";
import { askPeople, newCallRequest, leaf } from "../support/addressed.ts";
import { advanceUntil } from "../support/contract.ts";
import { openWorld, type World } from "../support/world.ts";
import { openTwilioDouble } from "./twilio-double.ts";

const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "canary-token-0123456789abcdef";
const PUBLIC_URL = "https://parley.example.com";
const OURS = "+4930901820";
const ANA = "+491701234567";
const SETTINGS = { accountSid: ACCOUNT, authToken: TOKEN, smsFrom: OURS, countries: ["+49"] };

let sids = 0;
const nextSid = () => `SM${String((sids += 1)).padStart(32, "f")}`;

/** A server whose messages to phones go to a double of Twilio. */
async function openPhoneWorld(settings: Partial<TwilioSettings> = {}) {
  const double = await openTwilioDouble();
  const here: { world?: World } = {};
  // The channel is made before the server whose store it remembers in.
  const later = () => phoneMemory((here.world ?? assert.fail()).server.ctx);
  const memory: PhoneMemory = {
    setOptedOut: (...given) => later().setOptedOut(...given),
    isOptedOut: (...given) => later().isOptedOut(...given),
    noteMessageFrom: (...given) => later().noteMessageFrom(...given),
    hasWritten: (...given) => later().hasWritten(...given),
    charge: (...given) => later().charge(...given),
    isNew: (...given) => later().isNew(...given),
  };
  const made = twilioChannels(
    { ...SETTINGS, ...settings, apiUrl: double.origin, publicUrl: PUBLIC_URL },
    { fetch, now: () => here.world?.clock.now() ?? 0, memory, onFailed: async () => {} },
  );
  const world = (here.world = await openWorld({ on: "sqlite", channels: made as Channel[] }));
  return {
    double,
    world,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await double[Symbol.asyncDispose]();
    },
  };
}

/** Returns what posts words to the hook, as Twilio signs them. */
function phoneOf(world: World) {
  return async (Body: string, more: Record<string, string> = {}): Promise<Record<string, string>> => {
    const fields = { MessageSid: nextSid(), AccountSid: ACCOUNT, From: ANA, To: OURS, Body, ...more };
    const url = `${PUBLIC_URL}/hooks/twilio/message`;
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-twilio-signature": twilio.getExpectedTwilioSignature(TOKEN, url, fields),
    };
    const body = new URLSearchParams(fields).toString();
    assert.equal((await world.call("POST", "/hooks/twilio/message", { headers, body })).text, "<Response/>");
    return fields;
  };
}

describe("a word of the carrier's", () => {
  async function asked(world: World, sent: () => number, options: readonly string[], title = "Which?") {
    const before = sent();
    const form = { kind: "reply" as const, options: options.map((name) => ({ name, interactive: false })) };
    const audience = leaf({ via: "sms", to: ANA, settings: {} });
    const { id } = await askPeople(world.server.ctx, { title, digest: null, form, audience });
    await advanceUntil(world, 500, () => sent() > before);
    return async () => {
      const outcome = (await findRequest(world.server.ctx.db, id))?.request.outcome;
      return outcome?.option ?? outcome?.text ?? null;
    };
  }

  it("is no answer where its type is a reaction, whatever it says", async () => {
    await using opening = await openPhoneWorld();
    const { double, world } = opening;
    const say = phoneOf(world);
    const answer = await asked(world, () => double.calls.length, []);
    for (const Body of ["\u{1f44d}", "yes", "Frankfurt"]) await say(Body, { MessageType: "reaction" });
    assert.equal(await answer(), null);
    await say("Frankfurt", { MessageType: "text" });
    assert.equal(await answer(), "Frankfurt");
  });

  it("is no answer: it ends messages, takes them up again, or is explained once", async () => {
    await using opening = await openPhoneWorld();
    const { double, world } = opening;
    const say = phoneOf(world);
    const memory = phoneMemory(world.server.ctx);
    const answer = await asked(world, () => double.calls.length, []);
    for (const [Body, more] of [
      ["STOP"],
      ["Revoke"],
      ["optout"],
      ["CANCEL"],
      ["Basta", { OptOutType: "STOP" }],
    ] as const) {
      await say(Body, more);
      assert.equal(await memory.isOptedOut("sms", ANA), true, Body);
      await say("START");
      assert.equal(await memory.isOptedOut("sms", ANA), false);
    }
    const sent = double.calls.length;
    const help = await say("HELP");
    await say("HELP", help);
    assert.equal(double.calls.length, sent + 1, "a repeat is answered once");
    assert.match(double.calls.at(-1)?.form["Body"] ?? "", /STOP/);
    await say("HELP", { OptOutType: "HELP" });
    assert.equal(double.calls.length, sent + 1, "Twilio has explained it");
    assert.equal(await answer(), null);

    const stop = await say("STOP");
    await say("START");
    await say("STOP", stop);
    assert.equal(await memory.isOptedOut("sms", ANA), false, "an old STOP that is repeated");
    await say("stop it on Tuesday");
    assert.equal(await answer(), "stop it on Tuesday");
  });

  it("is an answer where a question offers it, unless Twilio says that it ended messages", async () => {
    await using opening = await openPhoneWorld();
    const { double, world } = opening;
    const say = phoneOf(world);
    const memory = phoneMemory(world.server.ctx);
    const sent = () => double.calls.length;

    const first = await asked(world, sent, ["Ship", "Cancel"]);
    const cancel = await say("cancel");
    assert.equal(await first(), "Cancel");
    await say("cancel", cancel);
    assert.equal(await memory.isOptedOut("sms", ANA), false, "also when Twilio repeats it");

    const second = await asked(world, sent, ["Yes", "No"]);
    await say("YES", { OptOutType: "START" });
    assert.equal(await second(), "Yes");

    const third = await asked(world, sent, ["Stop", "Cancel"]);
    const fourth = await asked(world, sent, ["End"], "And this?");
    const before = sent();
    await say("end");
    assert.match(double.calls[before]?.form["Body"] ?? "", /^Several requests are waiting/);
    await say("Stop");
    assert.equal(await memory.isOptedOut("sms", ANA), true);
    await memory.setOptedOut("sms", ANA, false);
    await say("Cancel", { OptOutType: "STOP" });
    assert.equal(await memory.isOptedOut("sms", ANA), true);
    assert.deepEqual([await third(), await fourth()], [null, null]);
  });
});

describe("an approval by text message", () => {
  it("counts once, with its code, however often Twilio repeats it", async () => {
    await using opening = await openPhoneWorld();
    const { double, world: opened } = opening;
    const { ctx } = opened.server;

    const audience = leaf({ via: "sms", to: ANA, settings: {} });
    const { id } = await askPeople(ctx, { ...newCallRequest(), audience });
    await advanceUntil(opened, 500, () => double.calls.length > 0);
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
    const state = async () => (await findRequest(ctx.db, id))?.request.outcome;

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

describe("a template of WhatsApp", () => {
  it("says what may be answered: ready-made answers by number, or what a value has to be", async () => {
    const template = `HX${"0".repeat(32)}`;
    await using opening = await openPhoneWorld({ whatsappFrom: OURS, whatsappTemplateSid: template });
    const { double, world } = opening;
    const choice = (name: string) => ({ name, title: name, interactive: false });
    const value = (schema: ForeignSchema) => ({ kind: "value" as const, schema });
    const approved = { type: "object", required: ["approved"] };
    const members = { approved: { type: "boolean" }, comment: { type: "string" } };
    for (const [form, says] of [
      [{ kind: "reply" as const, options: [choice("Blue"), choice("Green")] }, "answers: #1 “Blue”, #2 “Green”."],
      [{ kind: "reply" as const, options: [..."abcdefghij"].map(choice) }, "#9 “i”. More are on the page."],
      [value({ enum: ["EUR", "USD"] }), "answers: #1 “EUR”, #2 “USD”."],
      [value({ type: "boolean" }), "answers: #1 “Yes”, #2 “No”."],
      [value({ ...approved, properties: members }), "#1 “Approve”, #2 “Reject”. A comment may follow after a comma."],
      [value({ type: "integer", minimum: 3 }), "The answer is “a whole number, at least 3”."],
      [value({ type: "object", properties: { n: { type: "integer" } } }), "It is filled in on the page."],
    ] as const) {
      const sent = double.calls.length;
      const audience = leaf({ via: "whatsapp", to: ANA, settings: {} });
      await askPeople(world.server.ctx, { title: "Which?", digest: null, form, audience });
      await advanceUntil(world, 500, () => double.calls.length > sent);
      const { ContentSid: sid, ContentVariables: text = "{}" } = double.calls.at(-1)?.form ?? {};
      const asked = (JSON.parse(text) as Record<string, string>)["2"] ?? "";
      assert.equal(sid, template);
      assert.ok(asked.includes(says), `${asked} holds ${says}`);
    }
  });
});

describe("a number that WhatsApp writes in another form", () => {
  const [ASKED, WRITES] = ["+525512345678", "+5215512345678"] as const;
  const FROM = { From: `whatsapp:${WRITES}`, To: `whatsapp:${OURS}` };

  it("is one person's: the reply answers, the day of WhatsApp begins, and STOP holds", async () => {
    await using opening = await openPhoneWorld({ whatsappFrom: OURS, countries: ["+52"] });
    const { double, world } = opening;
    const { ctx } = world.server;
    const say = phoneOf(world);
    await say("hello", FROM);
    const memory = phoneMemory(ctx);
    assert.equal(await memory.hasWritten("whatsapp", ASKED, 1000), true);

    const audience = leaf({ via: "whatsapp", to: ASKED, settings: {} });
    const { id } = await askPeople(ctx, {
      title: "Which day?",
      digest: null,
      form: { kind: "reply", options: [] },
      audience,
    });
    await advanceUntil(world, 500, () => double.calls.some(({ form }) => form["Body"]?.includes("Which day?")));
    assert.equal(double.calls.at(-1)?.form["To"], `whatsapp:${ASKED}`, "it is sent to the number as it was named");
    await say("Tuesday", FROM);
    const outcome = (await findRequest(ctx.db, id))?.request.outcome;
    assert.deepEqual([outcome?.text, outcome?.by?.id], ["Tuesday", readerOf({ kind: "phone", value: ASKED })]);

    await say("STOP", FROM);
    assert.equal(await memory.isOptedOut("whatsapp", ASKED), true);
    await say("START", FROM);
    assert.equal(await memory.isOptedOut("whatsapp", ASKED), false);
  });
});
