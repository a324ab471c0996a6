import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { viewOf } from "../../src/requests/model/view.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { readRequest, readDetails } from "../../src/requests/read/read-request.ts";
import { textOf } from "../../src/channels/twilio/message.ts";
import { askMessage } from "../../src/channels/slack/message.ts";
import { modalFor, readEntered } from "../../src/channels/slack/modal.ts";
import { askPeople, newCallRequest, enrol, leaf, postedOnSlack, providerOf } from "../support/addressed.ts";
import { aNotice, PRESSED } from "./slack-scene.ts";
import { fresh } from "../support/contract.ts";
import { openWorld, type World } from "../support/world.ts";

const DECISION = {
  type: "object",
  properties: { approved: { type: "boolean" }, comment: { type: "string" } },
  required: ["approved"],
};
const PARCEL = {
  type: "object",
  required: ["street", "size", "fragile", "weight"],
  properties: {
    street: { type: "string", title: "Street\u202e", maxLength: 80 },
    size: { enum: ["S", "L"], description: "Large is more than 2 kg." },
    fragile: { type: "boolean" },
    weight: { type: "number", minimum: 0 },
    note: { type: "string" },
    door: { type: ["integer", "null"] },
  },
};
const NESTED = { type: "object", properties: { lines: { type: "array", items: { type: "string" } } } };

const viewFor = (schema: Readonly<Record<string, unknown>>) => {
  const input = newCallRequest({ title: "How shall it go?", digest: null, form: { kind: "value", schema } });
  const none = { state: "open", version: 1, settledAt: null, outcome: null, refused: null } as const;
  return viewOf({ ...input, id: "ask_1", createdAt: 0, expiresAt: 3_600_000, ...none });
};
const slackOf = (schema: Readonly<Record<string, unknown>>) => {
  const { blocks = [] } = askMessage(aNotice({ view: viewFor(schema) }), true);
  const actions = blocks.find(({ type }) => type === "actions") as { elements: Element[] } | undefined;
  return { text: JSON.stringify(blocks), pressed: (actions?.elements ?? []).map((one) => one.text?.text ?? one.type) };
};
interface Element {
  type: string;
  text?: { text: string };
}

const EDITED = { delivery: "dlv_1", channel: "C1", ts: PRESSED };

describe("a value with a schema, outside the inbox", () => {
  it("is offered as buttons on Slack for an enum, a boolean and approved, and as words elsewhere", () => {
    assert.deepEqual(slackOf({ enum: ["red", "blue"] }).pressed, ["red", "blue"]);
    assert.deepEqual(slackOf({ enum: ["a", "b", "c", "d", "e", "f"] }).pressed, ["static_select"]);
    assert.deepEqual(slackOf({ type: "boolean" }).pressed, ["Yes", "No"]);
    assert.deepEqual(slackOf(DECISION).pressed, ["Approve", "Reject"]);
    assert.deepEqual(slackOf({ enum: [1, "1"] }).pressed, ["1", '"1"']);
    const sms = (schema: object) => textOf("sms", { ...aNotice(), view: viewFor({ ...schema }) });
    assert.match(sms({ enum: ["red", "blue"] }), /> #1 red\n> #2 blue\n/);
    assert.match(sms(DECISION), /Reply with YES or NO, and a comment after a comma/);
    assert.match(sms({ type: "integer", minimum: 1 }), /The answer is a whole number, at least 1\./);
    assert.match(sms(PARCEL), /Fill it in here, with the code 7KQ2:/);
  });

  it("is never shown as raw JSON Schema where buttons or a form are there", () => {
    for (const schema of [{ enum: ["red"] }, { type: "boolean" }, DECISION, PARCEL, { type: "number" }]) {
      assert.doesNotMatch(slackOf(schema).text, /\\"(?:type|enum|properties)\\"/);
    }
    assert.match(slackOf(NESTED).text, /\\"properties\\"/, "what no form is drawn for is written as JSON");
  });

  it("is a form in Slack's editor for a flat object, and what is filled in comes back by its places", () => {
    const modal = modalFor({ kind: "answer" }, viewFor(PARCEL), EDITED) as { blocks: Input[] };
    const [, ...inputs] = modal.blocks;
    assert.deepEqual(
      inputs.map(({ label, optional, element: { type } }) => [label.text, optional, type]),
      [
        ["Street\\u202e", false, "plain_text_input"],
        ["size", false, "static_select"],
        ["fragile", false, "static_select"],
        ["weight", false, "plain_text_input"],
        ["note", true, "plain_text_input"],
        ["door", true, "plain_text_input"],
      ],
    );
    const given = [
      { value: "Main St 1" },
      chosen("1"),
      chosen("0"),
      { value: "1,5" },
      { value: null },
      { value: null },
    ];
    const values = Object.fromEntries(
      inputs.map(({ block_id: block, element }, i) => [block, { [element.action_id]: given[i] }]),
    );
    assert.deepEqual(readEntered({ ...modal, state: { values } }), {
      ...EDITED,
      content: { fields: ["Main St 1", "1", "0", "1,5", null, null] },
    });
  });

  it("is what was pressed or filled in, on Slack and on the page of a link", async () => {
    await using world = await openWorld({ on: "sqlite", channels: [providerOf("slack"), providerOf("email")] });
    const parcel = { street: "Main St 1", size: "L", fragile: true, weight: 1.5 };
    const fields = ["Main St 1", "1", "0", "1,5", null, null];
    const byPlace = Object.fromEntries(fields.map((value, i) => [`field:${i}`, value ?? ""]));
    const option = (index: number, text?: string) =>
      ({ choice: { kind: "option", index, ...(text !== undefined && { text }) } }) as const;
    for (const [schema, pressed, form, value] of [
      [{ enum: ["red", 2, null] }, option(1), { choice: "option:1" }, 2],
      [{ type: "boolean" }, option(1), { choice: "option:1" }, false],
      [DECISION, option(0), { choice: "option:0" }, { approved: true }],
      [
        DECISION,
        option(1, "too early"),
        { choice: "option:1", comment: "too early" },
        { approved: false, comment: "too early" },
      ],
      [PARCEL, { fields }, byPlace, parcel],
      [{ ...PARCEL, required: ["door"] }, { fields }, byPlace, { ...parcel, door: null }],
    ] as const) {
      assert.deepEqual(await bySlack(world, schema, pressed), value, JSON.stringify(schema));
      assert.deepEqual(await byLink(world, schema, form), value, JSON.stringify(schema));
    }
  });

  it("keeps on the page what was filled in where it does not fit, and says what is wrong", async () => {
    await using world = await openWorld({ on: "sqlite", channels: [providerOf("email")] });
    const { path, nonce, code, cookie, page } = await opened(world, PARCEL);
    assert.match(page, /Street\\u202e/);
    assert.match(page, /name="field:4"/);
    assert.doesNotMatch(page, /JSON/);
    const wrong = await post(
      world,
      `${path}/decide`,
      { nonce, code, "field:0": "Main <St>", "field:3": "heavy" },
      cookie,
    );
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /value="Main &lt;St&gt;"/);
    assert.match(wrong.text, /\/weight /);
  });
});

interface Input {
  block_id: string;
  optional: boolean;
  label: { text: string };
  element: { type: string; action_id: string };
}
const chosen = (value: string) => ({ type: "static_select", selected_option: { value } });

type Schema = Readonly<Record<string, unknown>>;
const valueOf = async (world: World, id: string): Promise<unknown> =>
  JSON.parse((await readRequest(world.server.ctx, id)).outcome?.value ?? '"nothing"');

async function bySlack(world: World, schema: Schema, content: InboundMessage["content"]): Promise<unknown> {
  const { ctx } = world.server;
  const audience = leaf({ via: "slack", to: "U1", settings: {} });
  const ask = await askPeople(ctx, { ref: fresh("m"), digest: null, form: { kind: "value", schema }, audience });
  const [delivery] = (await readDetails(ctx, ask)).deliveries;
  await handleInbound(ctx, "http://parley.test", {
    provider: "slack",
    id: fresh("press"),
    at: 0,
    trust: "signed",
    content,
    match: await postedOnSlack(ctx, delivery?.id ?? ""),
    sender: { kind: "slack", id: "U1", team: "T1", member: true, channel: "D1" },
  });
  return valueOf(world, ask.id);
}

const FORM = { "content-type": "application/x-www-form-urlencoded", origin: "null", "sec-fetch-site": "same-origin" };
const post = (world: World, to: string, given: Record<string, string>, cookie = "") =>
  world.call("POST", to, { body: new URLSearchParams(given).toString(), headers: { ...FORM, cookie } });

/** The form of a link that went to somebody by mail, after the moment that a person takes. */
async function opened(world: World, schema: Schema) {
  const { ctx } = world.server;
  const address = `${fresh("ana")}@example.com`;
  await enrol(ctx, "Ana", [], { identities: [{ kind: "email", value: address }] });
  const audience = leaf({ via: "email", to: address, informed: false, settings: {} });
  const ask = await askPeople(ctx, { ref: fresh("m"), digest: null, form: { kind: "value", schema }, audience });
  const [delivery] = (await readDetails(ctx, ask)).deliveries;
  const { link, code } = tokensOf(ctx, delivery?.id ?? "");
  const path = `/r/${link}`;
  const reply = await post(world, `${path}/open`, {});
  await world.advance(1500);
  const nonce = /name="nonce" value="([^"]*)"/.exec(reply.text)?.[1] ?? assert.fail(reply.text);
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { ask, path, nonce, code, cookie, page: reply.text };
}

async function byLink(world: World, schema: Schema, form: Readonly<Record<string, string>>): Promise<unknown> {
  const { ask, path, nonce, code, cookie } = await opened(world, schema);
  const { status, text } = await post(world, `${path}/decide`, { nonce, code, ...form }, cookie);
  assert.equal(status, 303, text);
  return valueOf(world, ask.id);
}
