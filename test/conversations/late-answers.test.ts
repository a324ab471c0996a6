import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTransport } from "nodemailer";
import { findDelivery, listDeliveries } from "../../src/requests/store/deliveries.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { accepted } from "../support/a2h.ts";
import { openSink, replyMail, type Taken } from "../channels/mail.ts";
import { ask, openTalking, seen, statusOf, type Talking } from "../support/conversations.ts";
import { reservePort } from "../support/ports.ts";
import { ONE_DATABASE, type DatabaseName } from "../support/world.ts";

const ANA = "ana@people.example";
const BO = "bo@people.example";
const DOMAIN = "parley.example";
const SUPPORT = `support@${DOMAIN}`;
const VOUCHED = { "Authentication-Results": "mx.parley.example; dmarc=pass header.from=people.example" };

interface ByMail extends Talking {
  taken: Taken[];
  /** The conversation that Ana has begun. */
  channelId: string;
  /** Asks in it; returns the request with its mail. */
  asks(msg: string): Promise<Question>;
  cancel(asked: Question): Promise<void>;
  says(text: string, headers: Record<string, string | null>): Promise<void>;
  /** The next mail to Ana after this. */
  told(doing: () => Promise<void>): Promise<string>;
}

interface Question {
  call_id: string;
  messageId: string;
  replyTo: string;
}

async function openByMail(on: DatabaseName): Promise<ByMail> {
  const sink = await openSink();
  const port = await reservePort();
  const scene = await openTalking(
    on,
    `
email:
  { smtp_url: "${sink.url}", from: "Parley <parley@${DOMAIN}>", listen: "127.0.0.1:${port}",
    trusted_authserv_ids: [mx.parley.example] }
a2h: { recipients: any, entry_points: { support: { agent: support, email: ${SUPPORT}, from: anyone } } }
`,
  );
  await scene.enroll("Ana Ruiz", { email: { address: ANA } });
  const { taken } = sink;
  const says: ByMail["says"] = async (text, headers) => {
    const raw = replyMail(text, { "In-Reply-To": null, ...VOUCHED, ...headers });
    const to = /<?([^\s<>]+@[^\s<>]+?)>?$/.exec(headers["To"] ?? SUPPORT)?.[1] ?? SUPPORT;
    const envelope = { from: ANA, to: [to] };
    await createTransport({ host: "127.0.0.1", port, ignoreTLS: true }).sendMail({ envelope, raw });
  };
  await says("Please look after my order.", { To: SUPPORT, "Message-ID": "<first@people.example>" });
  const [{ spec }] = await scene.said(1);
  return {
    ...scene,
    taken,
    channelId: spec.channel_id,
    says,
    async asks(msg) {
      const before = taken.length;
      const asked = await ask(scene, spec.channel_id, msg);
      await seen(
        () => statusOf(scene, asked),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      const { mail } = taken[before] ?? assert.fail("no mail");
      return { ...asked, messageId: mail.messageId ?? "", replyTo: mail.replyTo?.[0]?.address ?? "" };
    },
    async cancel({ call_id: id }) {
      accepted(await scene.agent.post(`/agent/human_contacts/${id}/cancel`));
    },
    async told(doing) {
      const before = taken.length;
      await doing();
      return (
        (
          await seen(
            () => taken,
            (all) => all.length > before,
          )
        ).at(-1)?.mail.text ?? ""
      );
    },
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    },
  };
}

for (const on of ONE_DATABASE) {
  describe(`a late answer, on ${on}`, () => {
    const WAYS: readonly [how: string, headers: (asked: Question) => Record<string, string | null>][] = [
      ["to its reply address", ({ replyTo }) => ({ To: replyTo })],
      [
        "to its mail, at the address it came from",
        ({ messageId }) => ({ To: `parley@${DOMAIN}`, "In-Reply-To": messageId }),
      ],
      ["to the agent, in the thread of its mail", ({ messageId }) => ({ To: SUPPORT, References: messageId })],
      [
        "to words of Parley about it",
        ({ messageId }) => ({ To: `parley@${DOMAIN}`, "In-Reply-To": messageId.replace(".m@", ".m0123456789ab@") }),
      ],
    ];
    for (const [how, headers] of WAYS) {
      it(`${how} answers nothing else that waits, and its author hears that it is over`, async () => {
        await using scene = await openByMail(on);
        const first = await scene.asks("Is the weather nice?");
        const second = await scene.asks("May I send your salary to DE00?");
        await scene.cancel(first);
        const told = await scene.told(() => scene.says("Yes, it is lovely", headers(first)));
        assert.match(told, /^This is over: the agent withdrew it\. Passed on to the agent support\.$/m);
        assert.equal((await statusOf(scene, second)).response, undefined);
        // The agent gets the text as a message in the conversation.
        const said = (await scene.said(2)).map(({ spec }) => [spec.channel_id, spec.message]);
        assert.deepEqual(said[1], [scene.channelId, "Yes, it is lovely"]);
        // The waiting question is still answered by its own mail.
        await scene.says("No", headers(second));
        assert.equal((await statusOf(scene, second)).response, "No");
      });
    }

    it("answers nothing else where it names that by its code", async () => {
      await using scene = await openByMail(on);
      const first = await scene.asks("Is the weather nice?");
      const second = await scene.asks("May I?");
      await scene.cancel(first);
      const { ask_id: requestId } = await statusOf(scene, second);
      const [delivery] = await listDeliveries(scene.world.server.ctx.db, requestId);
      assert.ok(delivery);
      const { tokensOf } = await import("../../src/requests/links/delivery-tokens.ts");
      const { code } = tokensOf(scene.world.server.ctx, delivery.id);
      await scene.told(() => scene.says(`${code} yes`, { To: first.replyTo }));
      assert.equal((await statusOf(scene, second)).response, undefined);
    });

    it("of whoever has answered goes on with the conversation, and nobody is told what they know", async () => {
      await using scene = await openByMail(on);
      const asked = await scene.asks("Which address?");
      await scene.says("12 Elm Street", { To: asked.replyTo });
      assert.equal((await statusOf(scene, asked)).response, "12 Elm Street");
      const before = scene.taken.length;
      await scene.says("The green house", { To: asked.replyTo });
      assert.equal((await scene.said(2))[1]?.spec.message, "The green house");
      await scene.asks("Which floor?");
      assert.equal(scene.taken.length, before + 1);
    });

    it("outside of a conversation is told the same, whatever waits", async () => {
      await using scene = await openByMail(on);
      const channel = { email: { address: BO } };
      const ids = ["late_1", "late_2"];
      for (const call_id of ids) {
        accepted(await scene.agent.post("/human_contacts", { run_id: "r", call_id, spec: { msg: call_id, channel } }));
        await seen(
          () => statusOf(scene, { call_id }),
          ({ deliveries }) => deliveries[0].state === "sent",
        );
      }
      await scene.cancel({ call_id: "late_1", messageId: "", replyTo: "" });
      const [mail] = scene.taken.filter(({ to }) => to[0] === BO);
      const replyTo = mail?.mail.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
      const told = await scene.told(() => scene.says("yes", { From: BO, To: replyTo }));
      assert.match(told, /^This is over: the agent withdrew it\.$/m);
      assert.equal((await statusOf(scene, { call_id: "late_2" })).response, undefined);
    });

    it("that names a message that is not there any more answers nothing", async () => {
      await using scene = await openByMail(on);
      const second = await scene.asks("May I?");
      const gone = `ask+${"a".repeat(26)}@${DOMAIN}`;
      await scene.says("yes", { To: gone, "In-Reply-To": second.messageId, References: "<first@people.example>" });
      await scene.says("yes", { To: `${SUPPORT}, ${gone}`, References: "<first@people.example>" });
      assert.equal((await statusOf(scene, second)).response, undefined);
    });

    it("by a press answers its own request alone", async () => {
      await using scene = await openByMail(on);
      const [first, second] = [await scene.asks("One?"), await scene.asks("Two?")];
      await scene.cancel(first);
      const { ctx } = scene.world.server;
      const { ask_id: over } = await statusOf(scene, first);
      const { ask_id: waits } = await statusOf(scene, second);
      const [delivery] = await listDeliveries(ctx.db, over);
      assert.ok(delivery && (await findDelivery(ctx.db, delivery.id)));
      const result = await handleInbound(ctx, "http://parley.test", {
        provider: "email",
        id: "late press",
        at: 0,
        match: { delivery: delivery.id },
        sender: { kind: "email", id: ANA },
        trust: "verified",
        content: { text: "yes" },
      });
      assert.deepEqual([result.kind, result.says], ["already_decided", "This is over: the agent withdrew it."]);
      assert.equal((await readRequest(ctx, waits)).state, "open");
    });
  });
}
