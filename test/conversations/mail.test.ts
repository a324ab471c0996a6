import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTransport } from "nodemailer";
import { accepted, callBody } from "../support/a2h.ts";
import { openSink, replyMail } from "../channels/mail.ts";
import { ask, frozenIn, openTalking, seen, statusOf } from "../support/conversations.ts";
import { reservePort } from "../support/ports.ts";
import { ONE_DATABASE, type DatabaseName } from "../support/world.ts";

const ANA = "ana@people.example";
const DOMAIN = "parley.example";
const SUPPORT = `support@${DOMAIN}`;
const VOUCHED = { "Authentication-Results": "mx.parley.example; dmarc=pass header.from=people.example" };

async function openByMail(on: DatabaseName, from = "enrolled") {
  const sink = await openSink();
  const port = await reservePort();
  const settings = `
email:
  { smtp_url: "${sink.url}", from: "Parley <parley@${DOMAIN}>", listen: "127.0.0.1:${port}",
    trusted_authserv_ids: [mx.parley.example] }
a2h: { entry_points: { support: { agent: support, email: Support@${DOMAIN}, from: ${from} } } }
`;
  const scene = await openTalking(on, settings);
  await scene.enroll("Ana Ruiz", { email: { address: ANA } });
  const send = (raw: string, to = SUPPORT, author = ANA) =>
    createTransport({ host: "127.0.0.1", port, ignoreTLS: true }).sendMail({
      envelope: { from: author, to: [to] },
      raw,
    });
  return {
    ...scene,
    sink,
    send,
    /** A fresh mail to the agent. */
    mail: (text: string, headers: Record<string, string | null> = {}) =>
      replyMail(text, { To: `Support <${SUPPORT}>`, Subject: "Order 7", "In-Reply-To": null, ...VOUCHED, ...headers }),
    arrived: async (count: number) =>
      (
        await seen(
          () => sink.taken,
          (taken) => taken.length >= count,
        )
      ).at(-1)?.mail ?? assert.fail("no mail"),
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    },
  };
}

for (const on of ONE_DATABASE) {
  describe(`a conversation begun by mail, on ${on}`, () => {
    it("goes on in its thread, whichever address is answered", async () => {
      await using scene = await openByMail(on);
      const mine = { "Message-ID": "<one@people.example>" };
      const first = scene.mail("Where is it?\n\n-- \nAna", mine);
      for (let i = 0; i < 2; i += 1) await scene.send(first);
      const [begun, ...others] = await scene.said(1);
      assert.deepEqual([begun.spec.message, others], ["Order 7\n\nWhere is it?", []]);
      const { raw_email: rawMail, body, ...raw } = begun.spec.raw;
      const about = { from_address: ANA, to_address: SUPPORT, subject: "Order 7" };
      assert.deepEqual(raw, { ...about, message_id: "<one@people.example>", follow_up: false });
      assert.match(body, /^Where is it\?\s+-- \s+Ana/);
      assert.equal(rawMail.trimEnd(), first.trimEnd());

      const id = begun.spec.channel_id;
      const contact = await ask(scene, id, "Which address?");
      const sent = await scene.arrived(1);
      const { inReplyTo, subject, messageId = "", replyTo } = sent;
      assert.deepEqual([inReplyTo, subject], ["<one@people.example>", "Re: Order 7"]);
      const token = replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
      await seen(
        () => statusOf(scene, contact),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      const reply = (text: string, more: Record<string, string | null> = {}) =>
        replyMail(text, { To: token, "In-Reply-To": messageId, ...more });
      // A reply address is proof enough for an answer, and for further messages of the person for whom it was made.
      await scene.send(reply("12 Elm Street"), token);
      assert.equal((await statusOf(scene, contact)).response, "12 Elm Street");
      await scene.send(reply("The green house"), token);
      const [, second] = await scene.said(2);
      assert.deepEqual([second.spec.message, second.spec.channel_id], ["The green house", id]);
      assert.equal(second.spec.raw.follow_up, true);
      assert.deepEqual([second.spec.raw.body, second.spec.raw.raw_email], ["The green house", ""]);
      await scene.send(reply("me too", { From: "eve@people.example" }), token);
      assert.match((await scene.arrived(2)).text ?? "", /^A mail from another address than this one/m);

      const again = await ask(scene, id, "Which floor?");
      await scene.arrived(3);
      await seen(
        () => statusOf(scene, again),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      const own = { "In-Reply-To": "<one@people.example>", "Message-ID": "<two@people.example>" };
      await scene.send(scene.mail("third", { ...own, "Authentication-Results": null }));
      assert.equal((await statusOf(scene, again)).response, undefined, "nobody proves who wrote this");
      await scene.send(scene.mail("third", { ...own, "Message-ID": "<three@people.example>" }));
      assert.equal((await statusOf(scene, again)).response, "third");

      const both = [await ask(scene, id, "Which day?"), await ask(scene, id, "Which hour?")] as const;
      await scene.arrived(5);
      for (const one of both)
        await seen(
          () => statusOf(scene, one),
          ({ deliveries }) => deliveries[0].state === "sent",
        );
      await scene.send(scene.mail("noon", { ...own, "Message-ID": "<four@people.example>" }));
      const which = await scene.arrived(6);
      const code = /^([0-9A-Z]{4}): “Which hour\?”$/m.exec(which.text ?? "")?.[1] ?? assert.fail(which.text);
      const named = { "In-Reply-To": which.messageId ?? "", "Message-ID": "<five@people.example>" };
      await scene.send(scene.mail(`${code} noon`, named));
      assert.equal((await statusOf(scene, both[1])).response, "noon");
      assert.equal((await statusOf(scene, both[0])).response, undefined);
      await scene.send(scene.mail("Another matter", { Subject: "Order 8" }));
      const said = await scene.said(3);
      assert.deepEqual([said.length, said[2]?.spec.raw.follow_up], [3, false]);
      assert.notEqual(said[2]?.spec.channel_id, id);
    });
  });
}

describe("a conversation begun by mail", () => {
  it("is begun by nobody whose address is not proved, or not enrolled, or who did not write to the agent", async () => {
    await using scene = await openByMail("sqlite");
    const forged: Record<string, string | null>[] = [
      { "Authentication-Results": null },
      { "Authentication-Results": "mx.elsewhere.example; dmarc=pass header.from=people.example" },
      { From: "eve@people.example" },
      { "Auto-Submitted": "auto-replied" },
      { Precedence: "list" },
      { To: "somebody@else.example" },
    ];
    for (const headers of forged) await scene.send(scene.mail("hello", headers));
    await assert.rejects(scene.send(scene.mail("hello"), "other@parley.example"), /550/);
    await scene.send(scene.mail("a good one"));
    const said = await scene.said(1);
    assert.deepEqual(
      said.map(({ spec }) => spec.message),
      ["Order 7\n\na good one"],
    );
  });

  it("shows the agent nothing that would let it decide, and is not begun by a late answer", async () => {
    await using scene = await openByMail("sqlite");
    const call = callBody({ channel: { email: { address: ANA } } });
    accepted(await scene.agent.post("/function_calls", call));
    const sent = await scene.arrived(1);
    const token = sent.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
    const link = /http\S+\/r\/\S{43}/.exec(sent.text ?? "")?.[0] ?? assert.fail("no link");
    await scene.send(scene.mail(`What is ${link} about? I could also write to ${token}, they say.`));
    const [first] = await scene.said(1);
    assert.match(first.spec.message, /^Order 7\n\nWhat is http\S+\/r\/\[token\] about\? .* ask\+\[token\]@/);
    assert.equal(first.spec.raw.raw_email, "");
    assert.ok(![link.slice(-43), token.slice(4, 30)].some((secret) => JSON.stringify(first).includes(secret)));
    assert.match((await scene.arrived(2)).text ?? "", /^The link of an earlier mail about this stood in words/m);

    accepted(await scene.agent.post(`/agent/function_calls/${call.call_id}/cancel`));
    const late = { To: `${token}, ${SUPPORT}`, "In-Reply-To": sent.messageId ?? "" };
    await scene.send(scene.mail("sorry, I was away", late));
    assert.match((await scene.arrived(3)).text ?? "", /^This is over: the agent withdrew it\.$/m);
    assert.equal((await scene.said(1)).length, 1);
  });

  it("may be begun by anybody where the entry point says so, who then is nobody in particular", async () => {
    await using scene = await openByMail("sqlite", "anyone");
    const eve = { From: "eve@people.example", "Authentication-Results": null };
    await scene.send(scene.mail("hello", eve), SUPPORT, "eve@people.example");
    const [{ spec }] = await scene.said(1);
    const contact = await ask(scene, spec.channel_id, "Yes?");
    const sent = await scene.arrived(1);
    const token = sent.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
    await seen(
      () => statusOf(scene, contact),
      ({ deliveries }) => deliveries[0].state === "sent",
    );
    await scene.send(replyMail("It is late", { From: "eve@people.example", To: token }), token);
    const { response, user_info: user } = await statusOf(scene, contact);
    assert.deepEqual([response, user.id, user.via], ["It is late", undefined, "email"]);
  });

  it("freezes by the word of a person whose address is proved, who is told where they answered a message", async () => {
    await using scene = await openByMail("sqlite");
    accepted(await scene.agent.post("/function_calls", callBody({ channel: { email: { address: ANA } } })));
    const sent = await scene.arrived(1);
    const token = sent.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
    const word = (headers: Record<string, string | null>) =>
      replyMail("parley freeze", { To: token, "In-Reply-To": sent.messageId ?? "", ...headers });
    await scene.send(word({ "Authentication-Results": null }), token);
    const eve = { From: "eve@people.example", ...VOUCHED };
    await scene.send(word(eve), token, "eve@people.example");
    await scene.send(scene.mail("parley freeze", { Subject: "", "Authentication-Results": null }));
    assert.deepEqual(await frozenIn(scene), []);
    await scene.send(word(VOUCHED), token);
    assert.match((await frozenIn(scene)).join(), /^person \d+ by email$/);
    await seen(
      () => scene.sink.taken.filter(({ mail }) => /^Frozen: your agents\. .* by a message\.$/m.test(mail.text ?? "")),
      (told) => told.length === 1,
    );
  });

  it("freezes by the word as a new mail, too", async () => {
    await using scene = await openByMail("sqlite");
    await scene.send(scene.mail("parley freeze", { Subject: "" }));
    assert.match((await frozenIn(scene)).join(), /^person \d+ by email$/);
  });
});
