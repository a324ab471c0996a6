import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beginInInbox, goOnInInbox } from "../../src/conversations/speak-in-inbox.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { answerQuestion } from "../../src/questions/answer.ts";
import { Refusal } from "../../src/refusals.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import type { Request, RequestForm, Decision } from "../../src/requests/model/request.ts";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { decideByLink, readLink } from "../../src/requests/links/open-link.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { listDeliveries, type Delivery } from "../../src/requests/store/deliveries.ts";
import { askPeople, enrol, leaf, providerOf, toPerson, until, type Provider } from "../support/addressed.ts";
import { fresh } from "../support/contract.ts";
import { openTalking } from "../support/conversations.ts";
import { DATABASES, openWorld, type DatabaseName, type World, onOneDatabase } from "../support/world.ts";

const PUBLIC = "http://parley.test";
const HOUR_MS = 3_600_000;
const REPLY: RequestForm = { kind: "reply", options: [] };
const NUMBER: RequestForm = { kind: "value", schema: { type: "integer" } };
const NOTED: RequestForm = {
  kind: "value",
  schema: { type: "object", required: ["n"], properties: { n: { type: "integer" }, note: { type: "string" } } },
};

interface Asked {
  ask: Request;
  delivery: Delivery;
  link: string;
  code: string;
  reply: string;
}

interface Scene extends AsyncDisposable {
  world: World;
  email: Provider;
  person: string;
  address: string;
  /** Asks Ana by mail, and waits until it is sent. */
  ask(more?: Parameters<typeof askPeople>[1]): Promise<Asked>;
  /** Words as a mail brings them in reply to a message, from an address that is not proved. */
  mailed(asked: Pick<Asked, "reply">, text: string): ReturnType<typeof handleInbound>;
  decide(ask: Request, decision: Decision): ReturnType<typeof decideRequest>;
  /** The messages about an ask, oldest first. */
  messages(ask: Request): Promise<Delivery[]>;
}

async function openScene(on: DatabaseName): Promise<Scene> {
  const email = providerOf("email");
  const world = await openWorld({ on, channels: [email] });
  const { ctx } = world.server;
  const address = `${fresh("ana")}@people.example`;
  const target = { to: address, informed: false, settings: {} };
  const person = await enrol(ctx, "Ana Ruiz", [{ channel: "email", target }], {
    identities: [{ kind: "email", value: address }],
  });
  const messages = (ask: Request) => listDeliveries(ctx.db, ask.id);
  return {
    world,
    email,
    person,
    address,
    messages,
    async ask(more = {}) {
      const ask = await askPeople(ctx, { audience: toPerson(person), timeoutSeconds: 86_400, ...more });
      const delivery = await until(async () => {
        await world.advance(500);
        return (await messages(ask)).find(({ state }) => state === "sent");
      });
      return { ask, delivery, ...tokensOf(ctx, delivery.id) };
    },
    mailed: ({ reply }, text) =>
      handleInbound(ctx, PUBLIC, {
        provider: "email",
        id: fresh("mail"),
        at: 0,
        match: { token: reply },
        sender: { kind: "email", id: address },
        trust: "weak",
        content: { text },
      } satisfies InboundMessage),
    async decide(ask, decision) {
      const responder = await responderOf(ctx.db, person, "web");
      return decideRequest(ctx, { requestId: ask.id, responder, decision });
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** A message as it is quoted, with everything in it that answers its request. */
const quoted = ({ link, code, reply, delivery }: Asked): string =>
  [
    "From: Parley",
    `${PUBLIC}/r/${link}`,
    `The page asks for this code: ${code}`,
    `Reply to ask+${reply}@parley.example`,
    `Reference: ${delivery.id}`,
  ].join("\n");

/** Nothing in it lets its reader answer. */
function assertClean(stored: unknown, { link, code, reply, delivery }: Asked): void {
  const text = JSON.stringify(stored);
  for (const secret of [link, link.slice(0, 20), reply, delivery.id]) assert.ok(!text.includes(secret), text);
  assert.doesNotMatch(text, new RegExp(`code: ${code}`));
}

const isRefused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

/** Everything that the database holds, as text. */
async function wholeStore({ on, server: { ctx } }: World): Promise<string> {
  const tables = await ctx.db.all<{ name: string }>(
    on === "sqlite"
      ? sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`
      : sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables) rows.push(await ctx.db.all(raw(`SELECT * FROM ${name}`)));
  return JSON.stringify(rows);
}

for (const on of DATABASES) {
  describe(`what people write, on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    itOnOne("holds nothing that answers a request, whatever kind of answer it is", async () => {
      await using scene = await openScene(on);
      const { ctx } = scene.world.server;
      const other = await scene.ask();
      const words = quoted(other);
      const editable: RequestForm = {
        kind: "approval",
        fn: "send",
        kwargs: '{"to":"bo"}',
        rejectOptions: [],
        editable: true,
      };
      const answers: readonly (readonly [Parameters<typeof askPeople>[1], Decision])[] = [
        [{}, { kind: "reject", comment: words }],
        [{}, { kind: "approve", comment: words }],
        [{ form: editable }, { kind: "approve", kwargs: JSON.stringify({ to: words, [other.link]: [words] }) }],
        [
          { form: REPLY, digest: null },
          { kind: "reply", text: words, askBack: words },
        ],
        [
          { form: { kind: "value", schema: null }, digest: null },
          { kind: "value", text: words },
        ],
        [
          { form: NOTED, digest: null },
          { kind: "value", text: JSON.stringify({ n: 1, note: words }) },
        ],
        [
          { form: NOTED, digest: null },
          { kind: "value", text: "", value: { n: 1, note: words, [other.link]: words } },
        ],
      ];
      for (const [more, decision] of answers) {
        const { ask } = await scene.ask(more);
        const { request: over } = await scene.decide(ask, decision);
        assert.equal(over.state, "answered");
        assertClean(over.outcome, other);
        assert.match(JSON.stringify(over.outcome), /\/r\/\[token\].*ask\+\[token\]@.*\[delivery\]/);
        assert.equal((await scene.decide(ask, decision)).repeated, true);
      }

      const { ask } = await scene.ask({ form: NUMBER, digest: null });
      await assert.rejects(scene.decide(ask, { kind: "value", text: words }), isRefused("answer_misfit"));
      const { refused } = await readRequest(ctx, ask.id);
      assert.equal(refused?.reason, "schema");
      assertClean(refused, other);
      const call = await scene.ask();
      await assert.rejects(
        scene.decide(call.ask, { kind: "reject", option: words.slice(0, 200), comment: "no" }),
        isRefused("unknown_option"),
      );
      assertClean((await readRequest(ctx, call.ask.id)).refused, other);
      assert.ok(!(await wholeStore(scene.world)).includes(other.link));
    });

    itOnOne(
      "holds nothing that answers a request where it is heard by mail and not understood, cut or whole",
      async () => {
        await using scene = await openScene(on);
        const { ctx } = scene.world.server;
        for (const before of ["hm, let me see\n\n", "x ".repeat(969), "y ".repeat(971)]) {
          const own = await scene.ask();
          const result = await scene.mailed(own, `${before}${quoted(own)}`);
          assert.equal(result.kind, "not_understood");
          const { refused } = await readRequest(ctx, own.ask.id);
          assert.equal(refused?.reason, "unparseable");
          assert.ok((refused?.input?.length ?? 0) <= 2000);
          assertClean(refused, own);
        }
      },
    );

    itOnOne("holds nothing that answers a request where it goes to the crowd's asker", async () => {
      await using scene = await openScene(on);
      const { ctx } = scene.world.server;
      const other = await scene.ask();
      const agent = scene.world.agent("crowd-bot");
      const question = await agent.ask({ type: "text", minResponses: 1 });
      const caller = { network: "n", fingerprint: "f" };
      await answerQuestion(ctx, {
        questionId: question.id,
        caller,
        given: { answer: quoted(other) },
        asAgent: { withKey: false, names: [] },
      });
      const { body } = await agent.poll(question.id);
      assert.match(JSON.stringify(body), /\/r\/\[token\]/);
      assertClean(body, other);
      await assert.rejects(readLink(ctx, other.link), isRefused("link_dead"));
    });

    it("ends the message whose token it holds, and another takes its place, three times an hour", async () => {
      await using scene = await openScene(on);
      const { world, email, person } = scene;
      const { ctx } = world.server;
      const own = await scene.ask();
      assert.equal((await readLink(ctx, own.link)).request.id, own.ask.id);
      await scene.mailed(own, `who asks?\n${quoted(own)}`);

      await assert.rejects(readLink(ctx, own.link), isRefused("link_dead"));
      for (const given of [{ code: own.code }, { code: own.code, signedIn: person }]) {
        const decision = { kind: "approve", digest: own.ask.digest ?? "" } as const;
        await assert.rejects(decideByLink(ctx, own.link, { decision, ...given }), isRefused("link_dead"));
      }
      const late = await scene.mailed(own, "reject");
      assert.equal(late.kind, "not_understood");
      assert.match(late.says, /newest message/);
      assert.equal((await readRequest(ctx, own.ask.id)).state, "open");

      const renewed = await until(async () => {
        await world.advance(500);
        return (await scene.messages(own.ask)).find(({ kind, state }) => kind === "remind" && state === "sent");
      });
      assert.deepEqual([renewed.target, renewed.person], [own.delivery.target, own.delivery.person]);
      const notice = email.sent.find(({ delivery }) => delivery === renewed.id);
      assert.deepEqual([notice?.reminder, notice?.renewal], [true, true]);
      const filter = { requestId: own.ask.id, action: "function_call.message_exposed", afterSeq: 0, limit: 10 };
      const { items } = await readAudit(ctx, filter);
      assert.deepEqual(
        items.map(({ data }) => data),
        [{ delivery: own.delivery.id }],
      );

      for (let i = 0; i < 4; i += 1) {
        const newest = (await scene.messages(own.ask)).findLast(({ kind }) => kind === "remind");
        const { reply } = tokensOf(ctx, newest?.id ?? "");
        await scene.mailed({ reply }, `and this?\n${quoted({ ...own, reply })}`);
      }
      const all = (await scene.messages(own.ask)).filter(({ kind }) => kind === "remind");
      assert.equal(all.length, 3);
      await world.advance(HOUR_MS);

      const fresher = await scene.ask();
      await scene.mailed(fresher, quoted(fresher));
      const next = await until(async () => (await scene.messages(fresher.ask)).find(({ kind }) => kind === "remind"));
      const { link, code } = tokensOf(ctx, next.id);
      const decision = { kind: "approve", digest: fresher.ask.digest ?? "" } as const;
      await assert.rejects(decideByLink(ctx, link, { decision, code: fresher.code }), isRefused("code_missing"));
      assert.equal((await decideByLink(ctx, link, { decision, code })).request.outcome?.approved, true);
    });

    itOnOne("ends no message of a request that it answers, and none that is over", async () => {
      await using scene = await openScene(on);
      const own = await scene.ask({ form: REPLY, digest: null });
      const over = await scene.ask();
      await scene.decide(over.ask, { kind: "reject" });
      await scene.mailed(own, `Yes, on Monday.\n${quoted(own)}\n${quoted(over)}`);
      const { state, outcome } = await readRequest(scene.world.server.ctx, own.ask.id);
      assert.equal(state, "answered");
      for (const one of [own, over]) {
        assertClean(outcome, one);
        const kinds = (await scene.messages(one.ask)).map(({ kind, exposedAt }) => [kind, exposedAt]);
        assert.deepEqual(kinds, [["ask", null]]);
      }
    });

    itOnOne(
      "keeps words that are like the code of somebody else's message, and loses those of its author's",
      async () => {
        await using scene = await openScene(on);
        const { ctx } = scene.world.server;
        const own = await scene.ask();
        const to = `${fresh("bo")}@people.example`;
        const others = await askPeople(ctx, {
          audience: leaf({ via: "email", to, informed: false, settings: {} }),
        });
        const [message] = await scene.messages(others);
        const { code } = tokensOf(ctx, message?.id ?? "");
        const asked = await scene.ask({ form: REPLY, digest: null });
        const spelled = [...own.code.toLowerCase()].join(" ");
        await scene.decide(asked.ask, { kind: "reply", text: `gate ${code}, door ${own.code} or ${spelled}` });
        const { outcome } = await readRequest(ctx, asked.ask.id);
        assert.equal(outcome?.text, `gate ${code}, door [code] or [code]`);

        // Bo is not enrolled, and is known by the address alone.
        const { reply } = tokensOf(ctx, message?.id ?? "");
        const sender = { kind: "email", id: to } as const;
        const mail = { provider: "email", id: fresh("mail"), at: 0, match: { token: reply }, trust: "weak" } as const;
        await handleInbound(ctx, PUBLIC, { ...mail, sender, content: { text: `what is ${code}?` } });
        assert.equal((await readRequest(ctx, others.id)).refused?.input, "what is [code]?");
      },
    );

    itOnOne("is stored as a note to a person without links and codes, which stand in it when it is sent", async () => {
      await using scene = await openScene(on);
      const { world, email } = scene;
      const own = await scene.ask();
      assert.equal((await scene.mailed(own, "approve")).kind, "needs_page");
      const { words } = (await scene.messages(own.ask)).find(({ kind }) => kind === "tell") ?? assert.fail("no note");
      assert.deepEqual(JSON.parse(words ?? ""), {
        says: "Your address could not be verified. Confirm on the page.",
        linkOf: own.delivery.id,
      });
      await until(async () => {
        await world.advance(500);
        return email.told.length > 0;
      });
      assert.match(email.told[0] ?? "", new RegExp(`^Your address .*\n${world.url}/r/${own.link}$`));
      const store = await wholeStore(world);
      for (const secret of [own.link, own.reply]) assert.ok(!store.includes(secret));
    });
  });

  describe(`a conversation on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    itOnOne("holds nothing that answers a request, from its first words on", async () => {
      await using scene = await openTalking(on, `a2h: { entry_points: { support: { agent: support, inbox: true } } }`);
      const { ctx } = scene.world.server;
      const person = await enrol(ctx, "Ana Ruiz");
      const target = { via: "email", to: "ana@people.example", informed: false, settings: {} } as const;
      const ask = await askPeople(ctx, { audience: leaf(target) });
      const [delivery] = await listDeliveries(ctx.db, ask.id);
      assert.ok(delivery);
      const other = { ask, delivery, ...tokensOf(ctx, delivery.id) };
      const number = await beginInInbox(ctx, person, "support", { words: quoted(other), id: "1" });
      await goOnInInbox(ctx, person, number, { words: `again:\n${quoted(other)}`, id: "2" });
      const said = await scene.said(2);
      for (const one of said) {
        assert.match(JSON.stringify(one), /\/r\/\[token\]/);
        assertClean(one, other);
      }
      await assert.rejects(readLink(ctx, other.link), isRefused("link_dead"));
    });
  });
}
