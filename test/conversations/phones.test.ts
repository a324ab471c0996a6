import assert from "node:assert/strict";
import { describe, it } from "node:test";
import twilio from "twilio";
import { readFreezes, thaw } from "../../src/policy/freezes.ts";
import { accepted } from "../support/a2h.ts";
import { openTwilioDouble, type TwilioDouble } from "../channels/twilio-double.ts";
import { ask, frozenIn, openTalking, seen, statusOf } from "../support/conversations.ts";
import { type DatabaseName, ONE_DATABASE } from "../support/world.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "canary-token-0123456789abcdef";
const PUBLIC_URL = "https://parley.example.com";
const OURS = "+4930901820";
const PHONE = "+491701234567";
let sids = 0;

async function openOnPhone(on: DatabaseName, double: TwilioDouble) {
  const settings = `
public_url: ${PUBLIC_URL}
twilio:
  { account_sid: ${ACCOUNT}, auth_token: ${TOKEN}, sms_from: "${OURS}", whatsapp_from: "${OURS}", countries: ["+49"],
    api_url: "${double.origin}" }
a2h: { entry_points: { support: { agent: support, sms: true }, chat: { agent: support, whatsapp: true } } }
`;
  const scene = await openTalking(on, settings);
  await scene.enroll("Ana Ruiz", { sms: { phoneNumber: PHONE } });
  const say = async (Body: string, more: Record<string, string> = {}, token = TOKEN) => {
    sids += 1;
    const MessageSid = `SM${String(sids).padStart(32, "e")}`;
    const fields = { MessageSid, AccountSid: ACCOUNT, From: PHONE, To: OURS, Body, ...more };
    const signature = twilio.getExpectedTwilioSignature(token, `${PUBLIC_URL}/hooks/twilio/message`, fields);
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-twilio-signature": signature,
    };
    const body = new URLSearchParams(fields).toString();
    return (await scene.world.call("POST", "/hooks/twilio/message", { headers, body })).status;
  };
  return { ...scene, say };
}

for (const on of ONE_DATABASE) {
  describe(`a conversation begun by text message, on ${on}`, () => {
    it("is one for each number, by SMS and by WhatsApp, and answers what waits", async () => {
      await using double = await openTwilioDouble();
      await using scene = await openOnPhone(on, double);
      const { say } = scene;
      const sid = { MessageSid: `SM${"d".repeat(32)}` };
      assert.equal(await say("hello", {}, "wrong"), 401);
      for (let i = 0; i < 3; i += 1) assert.equal(await say("Where is order 7?", sid), 200);
      // A picture alone is no words: its sender is told, and the agent hears nothing.
      await say("", { NumMedia: "1" });
      const [told] = await seen(
        () => double.calls,
        (calls) => calls.length >= 1,
      );
      assert.match(told?.form["Body"] ?? "", /^This was not passed on: the agent gets no files/);
      await say("It is urgent");
      const [first, second, ...none] = await scene.said(2);
      assert.deepEqual([first.spec.message, first.spec.raw, none], ["Where is order 7?", { follow_up: false }, []]);
      assert.deepEqual([second.spec.channel_id, second.spec.raw.follow_up], [first.spec.channel_id, true]);

      const contact = await ask(scene, first.spec.channel_id, "Which address?");
      await seen(
        () => statusOf(scene, contact),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      assert.deepEqual([double.calls.length, double.calls[1]?.form["To"]], [2, PHONE]);
      await say("12 Elm Street");
      assert.equal((await statusOf(scene, contact)).response, "12 Elm Street");
      await say("Thank you");
      assert.equal((await scene.said(3)).at(-1)?.spec.channel_id, first.spec.channel_id);

      await say("stop");
      await say("start");
      await say("hello", { From: "+491709999999" });
      await say("hello", { From: "+15550100999" });
      await say("By WhatsApp", { From: `whatsapp:${PHONE}`, To: `whatsapp:${OURS}` });
      const said = await scene.said(4);
      assert.deepEqual([said.length, said[3]?.spec.message], [4, "By WhatsApp"]);
      assert.notEqual(said[3]?.spec.channel_id, first.spec.channel_id);
      const id = Number(said[3]?.spec.channel_id);
      assert.equal(accepted(await scene.agent.get(`/contact_channel/${id}`)).channel_type, "whatsapp");
      assert.doesNotMatch(JSON.stringify(said), /\+49/);
    });

    it("freezes by the word of an enrolled number, by SMS and by WhatsApp, and that number is told", async () => {
      await using double = await openTwilioDouble();
      await using scene = await openOnPhone(on, double);
      const told = async (count: number) =>
        (
          await seen(
            () => double.calls,
            (calls) => calls.length >= count,
          )
        ).at(-1)?.form;
      assert.equal(await scene.say("parley freeze", {}, "wrong"), 401);
      await scene.say("parley freeze", { From: "+491709999999" });
      assert.deepEqual(await frozenIn(scene), []);
      const before = double.calls.length;
      await scene.say("Parley freeze");
      const first = await told(before + 1);
      assert.match(first?.["Body"] ?? "", /^Frozen: your agents\. /);
      assert.equal(first?.["To"], PHONE);
      assert.match((await frozenIn(scene)).join(), /^person \d+ by sms$/);
      for (const { id } of await readFreezes(scene.world.server.ctx)) await thaw(scene.world.server.ctx, id, ADMIN);
      await scene.say("PARLEY FREEZE.", { From: `whatsapp:${PHONE}`, To: `whatsapp:${OURS}` });
      const second = await told(before + 2);
      assert.deepEqual([second?.["Body"], second?.["To"]], [first?.["Body"], `whatsapp:${PHONE}`]);
      assert.match((await frozenIn(scene)).join(), /^person \d+ by whatsapp$/);
    });
  });
}
