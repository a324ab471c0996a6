import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { askMessage, closedMessage } from "../../src/channels/slack/message.ts";
import { modalFor, type Purpose } from "../../src/channels/slack/modal.ts";
import { showsWhole, templateVariables, textOf } from "../../src/channels/twilio/message.ts";
import type { Request, RequestForm, ResponseOption } from "../../src/requests/model/request.ts";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { viewInMessage } from "../../src/requests/model/message-view.ts";
import { askOf, noticeOf as phoneNotice, OUR_URL } from "../support/unseen-renderers.ts";
import { noticeOf as mailNotice, openChannel, openSink, SIGNAL, targetOf, type Sink } from "./mail.ts";
import { faultIn, type Json } from "./slack-limits.ts";
import { DELIVERY, PRESSED } from "./slack-scene.ts";

/** The characters that a text is made of. Each kind is drawn, counted or escaped in another way. */
const LETTERS = { letters: "w", ampersands: "&", emoji: "\u{1f600}", "what cannot be seen": "\u{e0001}" } as const;

/** The longest channel's name in a block's id. */
const CHANNEL = "C".repeat(32);
/** Slack takes no longer text of a message, and no larger view. */
const [SLACK_TEXT, SLACK_VIEW_BYTES] = [40_000, 250_000];
/** RFC 5322: octets of a line, without its end. */
const MAIL_LINE = 998;

/** Every form, with all of its fields as long as an agent may make them. */
function formsOf(letter: string): Readonly<Record<string, RequestForm>> {
  const fill = (count: number): string => letter.repeat(Math.floor(count / letter.length));
  const options = Array.from({ length: 25 }, (_, i): ResponseOption => {
    const name = `${i}${fill(62)}`;
    return { name, title: fill(75), description: fill(500), promptFill: fill(3000), interactive: i % 2 === 0 };
  });
  const value = (schema: Record<string, unknown>): RequestForm => ({ kind: "value", schema }) as RequestForm;
  const many = { enum: Array.from({ length: 100 }, (_, i) => `${i} ${fill(200)}`) };
  const member = (i: number) => ({
    title: `${i} ${fill(700)}`,
    description: fill(700),
    ...(i % 2 ? { type: "string", pattern: fill(700) } : {}),
  });
  const fields = Array.from({ length: 20 }, (_, i) => [
    `field_${i}`,
    { ...member(i), ...(i % 2 ? {} : { $ref: "#/$defs/many" }) },
  ]);
  const call = (length: number): RequestForm => ({
    kind: "approval",
    fn: fill(256),
    rejectOptions: options,
    editable: true,
    kwargs: canonicalExact({ text: fill(length) }),
  });
  return {
    "a call whose arguments just fit": call(2700 / (letter === "\u{e0001}" ? 5 : 1)),
    "a call whose arguments are longer": call(30_000),
    "a question with answers": { kind: "reply", options },
    "a question without": { kind: "reply", options: [] },
    "a choice": value(many),
    "a decision": value({
      type: "object",
      properties: { approved: { type: "boolean" }, comment: { type: "string" } },
      required: ["approved", "comment"],
    }),
    "a form": value({
      type: "object",
      $defs: { many: { enum: many.enum.map((one) => [...one].slice(0, 20).join("")) } },
      properties: Object.fromEntries(fields),
    }),
    "a form of many menus": value({
      type: "object",
      $defs: { many },
      properties: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`menu_${i}`, { $ref: "#/$defs/many" }])),
    }),
    "a number": value({ type: "number", minimum: -1e300, maximum: 1e300, multipleOf: 1.5e-300 }),
    "a text by a pattern": value({ type: "string", pattern: fill(20_000), maxLength: 8000 }),
    JSON: value({ type: "array", items: { type: "string", pattern: fill(20_000) } }),
    "any text": { kind: "value", schema: null } as RequestForm,
  };
}

function asked(form: RequestForm, letter: string): Request {
  const fill = (count: number): string => letter.repeat(Math.floor(count / letter.length));
  return askOf(
    "pay",
    {},
    {
      asker: `agent:${fill(128)}`,
      form,
      title: fill(998),
      words: fill(40_000),
      digest: form.kind === "approval" ? `sha256:${"a".repeat(64)}` : null,
      wire: { run_id: fill(256) },
    },
  );
}

let sink: Sink;
before(async () => (sink = await openSink()));
after(() => sink[Symbol.asyncDispose]());

for (const [what, letter] of Object.entries(LETTERS)) {
  const opening = letter.repeat(5000 / letter.length);
  for (const [name, form] of Object.entries(formsOf(letter))) {
    const ask = asked(form, letter);
    const view = viewInMessage(ask, OUR_URL);

    it(`is taken by Slack in every one of its messages and editors: ${name}, of ${what}`, () => {
      for (const plain of [false, true]) {
        const target = { via: "slack" as const, to: "C024BE91L", settings: { plain } };
        for (const whole of new Set([
          form.kind !== "approval" || (view.argumentsText?.length ?? 0) <= 2800,
          form.kind !== "approval",
        ])) {
          for (const hears of [true, false]) {
            const notice = { ...phoneNotice(ask, target), delivery: DELIVERY, opening, reminder: true, whole };
            const { text, blocks } = askMessage(notice, hears);
            assert.ok(text.length <= SLACK_TEXT, `${text.length} characters of text`);
            if (blocks) assert.equal(faultIn(blocks as unknown as Json), null);
            if (plain) assert.match(text, /on the page: <https/);
          }
        }
        const closed = closedMessage(view, { says: `${letter.repeat(200)} decided.`, at: 0 } as never, target);
        assert.ok(closed.text.length <= SLACK_TEXT);
        if (closed.blocks) assert.equal(faultIn(closed.blocks as unknown as Json), null);
      }
      const purposes: Purpose[] = [
        { kind: "answer" },
        { kind: "reject" },
        ...view.options.slice(0, 25).map((_, index) => ({ kind: "option" as const, index })),
      ];
      for (const purpose of purposes) {
        const modal = modalFor(purpose, view, { delivery: DELIVERY, channel: CHANNEL, ts: PRESSED });
        assert.equal(faultIn([modal] as unknown as Json, { isView: true }), null, purpose.kind);
        const bytes = Buffer.byteLength(JSON.stringify(modal));
        assert.ok(bytes <= SLACK_VIEW_BYTES, `${bytes} bytes of a view`);
      }
    });

    it(`is taken by every mail server: ${name}, of ${what}`, async () => {
      const id = `<${"i".repeat(700)}@${"d".repeat(60)}.example>`;
      const target = targetOf({
        subject: letter.repeat(Math.floor(998 / letter.length)),
        in_reply_to_message_id: id,
        references_message_id: id,
        additional_recipients: Array.from({ length: 20 }, (_, i) => ({
          address: `${"r".repeat(60)}${i}@people.example`,
        })),
      });
      await openChannel({ smtpUrl: sink.url }).send(
        { ...mailNotice(ask, { target }), opening, reminder: true },
        SIGNAL,
      );
      const one = sink.taken.at(-1);
      const lines = (one ?? assert.fail("it was sent")).raw.toString("latin1").split("\r\n");
      const longest = lines.reduce((a, b) => (b.length > a.length ? b : a), "");
      assert.ok(longest.length <= MAIL_LINE, `a line of ${longest.length} octets: ${longest.slice(0, 60)}`);
      assert.ok(
        lines.every((line) => !/[\r\n]/.test(line)),
        "no line end stands alone",
      );
    });

    it(`is taken by phones: ${name}, of ${what}`, () => {
      for (const kind of ["sms", "whatsapp"] as const) {
        const notice = { ...phoneNotice(ask, null), opening, reminder: true };
        const whole =
          form.kind !== "approval" || ((view.argumentsText?.length ?? 0) <= 300 && showsWhole(kind, notice, true));
        const text = textOf(kind, { ...notice, whole });
        assert.ok(text.length <= 1600, `${text.length} characters`);
        const { 1: agent = "", 2: question = "", 3: code = "", 4: link = "" } = templateVariables({ ...notice, whole });
        assert.ok(
          agent.length + question.length + code.length + link.length <= 1024 - 200,
          `${question.length} characters`,
        );
      }
    });
  }
}
