import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import twilio from "twilio";
import {
  DeliveryError,
  type Channel,
  type InboundMessage,
  type HookReply,
  type Notice,
  type InboundResult,
} from "../../src/channels/channel.ts";
import type { TwilioOutside, TwilioSettings } from "../../src/channels/twilio/settings.ts";
import { twilioChannels, type PhoneTarget } from "../../src/channels/twilio/twilio.ts";
import { viewOf } from "../../src/requests/model/view.ts";
import { phoneMemory } from "../../src/requests/inbound/phone-memory.ts";
import { askPeople } from "../support/addressed.ts";
import { HOUR } from "../support/contract.ts";
import { noticeOf } from "../support/unseen-renderers.ts";
import { openWorld, type World } from "../support/world.ts";
import { openTwilioDouble, type TwilioDouble } from "./twilio-double.ts";

const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "canary-token-0123456789abcdef";
const PUBLIC_URL = "https://parley.example.com";
const OURS = "+4930901820";
const ANA = "+491701234567";
const DELIVERY = "dlv_4Jx0mT9bVq2Lr7Hs1Zc8Wd";
const SETTINGS = { accountSid: ACCOUNT, authToken: TOKEN, smsFrom: OURS, whatsappFrom: OURS, countries: ["+49", "+1"] };
const TEMPLATE = "HX0123456789abcdef0123456789abcdef";
const NEVER = new AbortController().signal;

let sids = 0;
const nextSid = () => `SM${String((sids += 1)).padStart(32, "f")}`;

describe("text messages and WhatsApp", () => {
  let world: World;
  let double: TwilioDouble;
  let messages: InboundMessage[];
  let failed: [delivery: string, code: string][];
  let result: InboundResult;
  before(async () => {
    double = await openTwilioDouble();
  });
  beforeEach(async () => {
    world = await openWorld({ on: "sqlite" });
    [messages, failed] = [[], []];
    double.calls.length = 0;
    result = { kind: "accepted", says: "Recorded: approved." };
  });
  afterEach(() => world[Symbol.asyncDispose]());
  after(() => double[Symbol.asyncDispose]());

  function channels(
    more: Partial<TwilioSettings & { publicUrl: string | undefined }> = {},
    outside: Partial<TwilioOutside> = {},
  ): { sms: Channel<PhoneTarget> | undefined; whatsapp: Channel<PhoneTarget> | undefined } {
    const made = twilioChannels(
      { ...SETTINGS, apiUrl: double.origin, publicUrl: PUBLIC_URL, ...more },
      {
        fetch,
        now: () => world.clock.now(),
        memory: phoneMemory(world.server.ctx),
        onFailed: async (delivery, code) => void failed.push([delivery, code]),
        ...outside,
      },
    );
    return { sms: made.find(({ name }) => name === "sms"), whatsapp: made.find(({ name }) => name === "whatsapp") };
  }

  async function notice(
    kind: "sms" | "whatsapp",
    more: Partial<Notice<PhoneTarget>> = {},
  ): Promise<Notice<PhoneTarget>> {
    const ask = await askPeople(world.server.ctx);
    return {
      ...noticeOf<PhoneTarget>(ask, { via: kind, to: ANA, settings: {} }),
      delivery: DELIVERY,
      view: viewOf(ask),
      link: `${PUBLIC_URL}/r/token`,
      code: "7KQ2",
      ...more,
    };
  }

  interface Sent {
    path?: "/hooks/twilio/message" | "/hooks/twilio/status";
    query?: string;
    /** The address of the hook as Twilio has it. */
    url?: string;
    token?: string;
    headers?: readonly string[];
    body?: string;
  }
  /** Posts fields to a hook, signed by Twilio's own code. */
  async function post(fields: Record<string, string>, sent: Sent = {}): Promise<HookReply> {
    const { path = "/hooks/twilio/message", query = "", token = TOKEN } = sent;
    const hook = channels().sms?.inbound?.hooks?.find((one) => one.path === path);
    assert.ok(hook);
    const url = sent.url ?? `${PUBLIC_URL}${path}${query && `?${query}`}`;
    const signature = twilio.getExpectedTwilioSignature(token, url, fields);
    const rawHeaders = sent.headers ?? [
      "Content-Type",
      "application/x-www-form-urlencoded; charset=UTF-8",
      "X-Twilio-Signature",
      signature,
    ];
    const body = Buffer.from(sent.body ?? new URLSearchParams(fields).toString());
    return hook.handle({ headers: {}, rawHeaders, query, body, params: {} }, async (one) => {
      messages.push(one);
      return result;
    });
  }
  const words = (Body: string, more: Record<string, string> = {}) => ({
    MessageSid: nextSid(),
    AccountSid: ACCOUNT,
    From: ANA,
    To: OURS,
    NumMedia: "0",
    Body,
    ...more,
  });
  const EMPTY = { status: 200, type: "text/xml", body: "<Response/>" };

  it("go out as Twilio's own client sends them", async () => {
    const sent = await channels().sms?.send(await notice("sms"), NEVER);
    const [call] = double.calls;
    assert.ok(call);
    const { Body, ...fields } = call.form;
    assert.deepEqual(fields, {
      From: OURS,
      To: ANA,
      StatusCallback: `${PUBLIC_URL}/hooks/twilio/status?delivery=${DELIVERY}`,
    });
    assert.deepEqual(sent?.externalIds, { message_sid: `SM${"1".padStart(32, "0")}`, thread: `${ANA}|${OURS}` });
    for (const part of ["ana-bot", "issue_refund", "A-1007", "49.9", "YES 7KQ2", "NO 7KQ2", `${PUBLIC_URL}/r/token`])
      assert.ok(Body?.includes(part), `${part} in ${Body}`);

    const here = new twilio.RequestClient();
    const request = here.request.bind(here);
    here.request = (options) =>
      request({ ...options, uri: options.uri.replace("https://api.twilio.com", double.origin) });
    const client = twilio(ACCOUNT, TOKEN, { httpClient: here });
    await client.messages.create({
      from: OURS,
      to: ANA,
      body: Body ?? "",
      statusCallback: fields.StatusCallback ?? "",
    });
    assert.deepEqual(double.calls[1], call, "to the byte, but for the order of fields");
  });

  it("offer no answer by words where the arguments do not fit", async () => {
    const { ctx } = world.server;
    const view = viewOf(await askPeople(ctx, { kwargs: { order: "A-1007", letter: "x".repeat(5000) } }));
    await channels().sms?.send(await notice("sms", { view, whole: false }), NEVER);
    const { Body = "" } = double.calls[0]?.form ?? {};
    assert.ok(Body.includes("Arguments:\n> letter, order\n5030 characters are on the page."), Body);
    assert.ok(Body.includes(`Decide here, with the code 7KQ2:\n${PUBLIC_URL}/r/token`));
    assert.doesNotMatch(Body, /YES|xxxxx|A-1007/);
    assert.deepEqual([channels().sms?.wholeLimit, channels().whatsapp?.wholeLimit], [300, 900]);
  });

  it("keep to the template while somebody has not written to WhatsApp for a day", async () => {
    const { whatsapp } = channels({ whatsappTemplateSid: TEMPLATE });
    const send = async () => {
      await whatsapp?.send(await notice("whatsapp"), NEVER);
      return double.calls.at(-1)?.form ?? {};
    };
    const first = await send();
    assert.deepEqual([first["From"], first["To"]], [`whatsapp:${OURS}`, `whatsapp:${ANA}`]);
    assert.deepEqual([first["ContentSid"], first["Body"]], [TEMPLATE, undefined]);
    const variables = JSON.parse(first["ContentVariables"] ?? "{}") as Record<string, string>;
    assert.deepEqual([variables["1"], variables["3"], variables["5"]], ["ana-bot", "7KQ2", DELIVERY]);
    assert.match(variables["2"] ?? "", /issue_refund.*"amount": 49\.9/);
    for (const value of Object.values(variables)) assert.doesNotMatch(value, /[\n\t]| {2}/);

    await post(words("hello", { From: `whatsapp:${ANA}`, To: `whatsapp:${OURS}` }));
    assert.ok((await send())["Body"]);
    await world.advance(24 * HOUR);
    assert.ok((await send())["ContentSid"]);
    const without = channels().whatsapp;
    await without?.send(await notice("whatsapp"), NEVER);
    assert.ok(double.calls.at(-1)?.form["Body"], "without a template Twilio decides");
  });

  it("are tried again, or never, as Twilio says", async () => {
    const { sms } = channels();
    const failure = async (): Promise<[boolean, string | undefined, number | undefined]> => {
      try {
        await sms?.send(await notice("sms"), NEVER);
      } catch (error) {
        assert.ok(error instanceof DeliveryError);
        assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /canary|\+49170/);
        return [error.retry, error.providerCode, error.retryAfterMs];
      }
      return assert.fail("it was sent");
    };
    for (const [status, code, retry] of [
      [400, 21211, false],
      [400, 21614, false],
      [400, 63016, false],
      [401, 20003, false],
      [429, 20429, true],
      [500, 20500, true],
      [503, undefined, true],
    ] as const) {
      double.answerNext({ status, ...(code && { body: { code, message: "no", status } }) });
      assert.deepEqual(await failure(), [retry, String(code ?? status), undefined]);
    }
    await world.advance(HOUR);
    double.answerNext({ status: 429, headers: { "retry-after": "12" }, body: { code: 20429 } });
    assert.deepEqual(await failure(), [true, "20429", 12_000]);
    const nobody = channels({ apiUrl: "http://127.0.0.1:1" }).sms;
    await assert.rejects(async () => nobody?.send(await notice("sms"), NEVER), { retry: true });

    // A person who has opted out, as Twilio reports, gets no further message.
    double.answerNext({ status: 400, body: { code: 21610 } });
    assert.deepEqual((await failure())[1], "21610");
    const calls = double.calls.length;
    assert.deepEqual(await failure(), [false, "opted_out", undefined]);
    assert.equal(double.calls.length, calls);
  });

  it("are ten an hour to one number", async () => {
    const { sms } = channels();
    for (let i = 0; i < 10; i += 1) await sms?.send(await notice("sms"), NEVER);
    await assert.rejects(async () => sms?.send(await notice("sms"), NEVER), {
      retry: true,
      providerCode: "hourly_limit",
      retryAfterMs: HOUR,
    });
    assert.equal(double.calls.length, 10);
    await world.advance(HOUR);
    await sms?.send(await notice("sms"), NEVER);
  });

  it("go to allowed countries only, to numbers written in whatever way", () => {
    const { sms } = channels();
    const parse = (phone_number: unknown, more = {}) => sms?.parse({ phone_number, ...more }) ?? assert.fail();
    for (const number of ["+49 (170) 123-45.67", ANA]) {
      const parsed = parse(number, { context_about_user: "on call" });
      assert.deepEqual(parsed, { target: { via: "sms", to: ANA, settings: {} } });
    }
    const refusal = (parsed: ReturnType<typeof parse>) =>
      "errors" in parsed ? parsed.errors.map(({ path, code }) => `${path} ${code}`) : assert.fail();
    assert.deepEqual(refusal(parse("+33612345678")), ["/sms/phone_number recipient_not_allowed"]);
    for (const wrong of ["0170 1234567", "+0491701", "+49", "abc", `+${"4".repeat(16)}`, ""])
      assert.deepEqual(refusal(parse(wrong)), ["/sms/phone_number pattern"], wrong);
    assert.deepEqual(refusal(parse(undefined)), ["/sms/phone_number required"]);
    assert.deepEqual(refusal(parse(491701234567)), ["/sms/phone_number type"]);
    assert.deepEqual(refusal(parse(ANA, { name: "Ana" })), ["/sms/name unknown_field"]);
  });

  it("come in when Twilio signed them for this address, with this token", async () => {
    const fields = words("YES 7KQ2");
    assert.deepEqual(await post(fields), EMPTY);
    const thread = `${ANA}|${OURS}`;
    const place = { at: { channel: "sms" }, begins: true, goesOn: true, proved: true };
    const target = { via: "sms", to: ANA, settings: {} };
    assert.deepEqual(messages, [
      {
        talk: { ...place, threads: [thread], thread, source: `twilio ${fields.MessageSid}`, target, raw: {} },
        provider: "twilio",
        id: fields.MessageSid,
        at: world.clock.now(),
        match: { threads: [`${ANA}|${OURS}`] },
        sender: { kind: "phone", id: ANA },
        trust: "signed",
        content: { text: "YES 7KQ2" },
      },
    ]);

    const form = "application/x-www-form-urlencoded";
    const good = twilio.getExpectedTwilioSignature(TOKEN, `${PUBLIC_URL}/hooks/twilio/message`, fields);
    const refused: [what: string, fields: Record<string, string>, sent: Sent][] = [
      ["another token", fields, { token: "other" }],
      ["another address", fields, { url: "https://evil.example.com/hooks/twilio/message" }],
      ["another path", fields, { url: `${PUBLIC_URL}/hooks/twilio/status` }],
      ["a query that was not signed", fields, { query: "a=b", url: `${PUBLIC_URL}/hooks/twilio/message` }],
      ["a changed body", fields, { body: new URLSearchParams({ ...fields, Body: "NO 7KQ2" }).toString() }],
      ["no signature", fields, { headers: ["Content-Type", form] }],
      [
        "two signatures",
        fields,
        { headers: ["Content-Type", form, "X-Twilio-Signature", good, "x-twilio-signature", good] },
      ],
      ["another account", { ...fields, AccountSid: "AC00000000000000000000000000000000" }, {}],
    ];
    for (const [what, given, sent] of refused) assert.deepEqual(await post(given, sent), { status: 401 }, what);
    assert.equal(messages.length, 1);
  });

  it("come in as JSON when the address holds the body's digest", async () => {
    const body = JSON.stringify(words("YES 7KQ2"));
    const query = `bodySHA256=${twilio.getExpectedBodyHash(body)}`;
    const json = (url: string) => [
      "Content-Type",
      "application/json",
      "X-Twilio-Signature",
      twilio.getExpectedTwilioSignature(TOKEN, url, {}),
    ];
    const url = `${PUBLIC_URL}/hooks/twilio/message?${query}`;
    assert.deepEqual(await post({}, { query, body, headers: json(url) }), EMPTY);
    assert.equal(messages.length, 1);
    const changed = body.replace("YES", "NO");
    assert.deepEqual(await post({}, { query, body: changed, headers: json(url) }), { status: 401 });
    const bare = `${PUBLIC_URL}/hooks/twilio/message`;
    assert.deepEqual(await post({}, { body, headers: json(bare) }), { status: 401 }, "without the digest");
    assert.equal(messages.length, 1);
  });

  it("bring back which button of which message was pressed, whatever stands on it", async () => {
    const press = (ButtonPayload: string, title = "Approve") =>
      post(words(title, { From: `whatsapp:${ANA}`, To: `whatsapp:${OURS}`, ButtonPayload }));
    await press(`${DELIVERY}:approve`);
    await press(`${DELIVERY}:reject`, "Stop");
    await press(`${DELIVERY}:opt:2`);
    await press("something else");
    assert.deepEqual(
      messages.map(({ match, content }) => [match, content]),
      [
        [{ delivery: DELIVERY }, { choice: { kind: "approve" } }],
        [{ delivery: DELIVERY }, { choice: { kind: "reject" } }],
        [{ delivery: DELIVERY }, { choice: { kind: "option", index: 2 } }],
        [{ threads: [`whatsapp:${ANA}|whatsapp:${OURS}`] }, { text: "Approve" }],
      ],
    );
  });

  it("list what waits when it is not clear what is meant", async () => {
    result = { kind: "not_understood", says: "Several requests are waiting.", reason: "unparseable" };
    await post(words("yes"));
    assert.deepEqual(
      double.calls.map(({ form }) => [form["To"], form["Body"]]),
      [[ANA, "Several requests are waiting."]],
    );
  });

  it("that did not arrive after all are said to have failed", async () => {
    const query = `delivery=${DELIVERY}`;
    const status = (MessageStatus: string, more = {}) =>
      post(
        { MessageSid: nextSid(), AccountSid: ACCOUNT, From: OURS, To: ANA, MessageStatus, ...more },
        { path: "/hooks/twilio/status", query },
      );
    for (const fine of ["queued", "sent", "delivered", "read"]) assert.deepEqual(await status(fine), EMPTY);
    assert.deepEqual(failed, []);
    await status("undelivered", { ErrorCode: "30005" });
    await status("failed");
    assert.deepEqual(failed, [
      [DELIVERY, "30005"],
      [DELIVERY, "failed"],
    ]);
    const forged = await post(
      { MessageSid: nextSid(), AccountSid: ACCOUNT, From: OURS, To: ANA, MessageStatus: "failed" },
      { path: "/hooks/twilio/status", query, token: "other" },
    );
    assert.deepEqual([forged, failed.length], [{ status: 401 }, 2]);
  });

  it("are neither sent nor heard until everything is set", () => {
    for (const missing of ["accountSid", "authToken", "publicUrl"] as const)
      assert.deepEqual(channels({ [missing]: undefined }), { sms: undefined, whatsapp: undefined }, missing);
    assert.deepEqual(channels({ countries: [] }), { sms: undefined, whatsapp: undefined });
    const { sms, whatsapp } = channels({ smsFrom: undefined });
    assert.equal(sms, undefined);
    assert.equal(whatsapp?.inbound?.hooks?.length, 2);
  });
});
