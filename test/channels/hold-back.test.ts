import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Notice } from "../../src/channels/channel.ts";
import type { Audience } from "../../src/requests/model/request.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { listPending, readRequest, readersFor } from "../../src/requests/read/read-request.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { sql } from "../../src/core/store/sql.ts";
import { askPeople, enrol, leaf, providerOf, toPerson, type Provider } from "../support/addressed.ts";
import { advanceUntil } from "../support/contract.ts";
import { DATABASES, openWorld, type DatabaseName, type World } from "../support/world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const mail = (to: string, settings: object = {}): Audience =>
  leaf({ via: "email", to, informed: false, settings: settings as Record<string, unknown> });
const sms = (to: string): Audience => leaf({ via: "sms", to, settings: {} });
const room = (to: string): Audience => leaf({ via: "slack", to, settings: {} });
const toOf = ({ target }: Notice) => (target as { to: string }).to;

interface Scene extends AsyncDisposable {
  world: World;
  providers: Readonly<Record<"email" | "sms" | "slack", Provider>>;
  /** How many messages went to an address. */
  sentTo(to: string): number;
  /** Lets loops run until nothing is due. */
  rest(): Promise<void>;
}

async function openScene(on: DatabaseName, env: Record<string, string>): Promise<Scene> {
  const providers = { email: providerOf("email"), sms: providerOf("sms"), slack: providerOf("slack") };
  const world = await openWorld({ on, channels: Object.values(providers), env });
  const { db } = world.server.ctx;
  const isQuiet = async () => {
    const rows = await db.all(
      sql`SELECT 1 AS one FROM deliveries WHERE state IN ('queued', 'sending', 'closing') AND due_at <= (SELECT parley_now()) LIMIT 1`,
    );
    const sending = await db.all(sql`SELECT 1 AS one FROM deliveries WHERE state = 'sending' LIMIT 1`);
    return rows.length + sending.length === 0;
  };
  return {
    world,
    providers,
    sentTo: (to) => Object.values(providers).flatMap(({ sent }) => sent.filter((one) => toOf(one) === to)).length,
    async rest() {
      await advanceUntil(world, 50, isQuiet);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

for (const on of DATABASES) {
  describe(`many messages, on ${on}`, () => {
    it("to one address are so many within an hour, and one that says how many wait and where", async () => {
      await using scene = await openScene(on, { PARLEY_DELIVERY_MESSAGES_PER_HOUR: "3" });
      const { world, providers, sentTo, rest } = scene;
      const { ctx } = world.server;
      const address = "ana@people.example";
      const ana = await enrol(ctx, "Ana", [], { identities: [{ kind: "email", value: address }] });
      const asks = [];
      for (let i = 0; i < 8; i += 1) {
        // The limit holds for the address, beyond the asker and the mail's other words.
        const asker = i % 2 === 0 ? "agent:ana-bot" : "agent:other";
        asks.push(
          await askPeople(ctx, { asker, audience: mail(address, { subject: `No. ${i}` }), timeoutSeconds: 86_400 }),
        );
        await askPeople(ctx, { asker, audience: sms("+4915112345678"), timeoutSeconds: 86_400 });
        await askPeople(ctx, { asker, audience: room("C024BE91L"), timeoutSeconds: 86_400 });
      }
      await rest();
      for (const to of [address, "+4915112345678", "C024BE91L"]) assert.equal(sentTo(to), 3, to);
      assert.deepEqual([providers.email.told, providers.sms.told, providers.slack.told], [[], [], []]);

      await world.advance(MINUTE_MS);
      await rest();
      const inbox =
        /^\S+ \S+ UTC: 5 more requests wait .* because there were 3 within an hour\. They stand in the inbox:\n\S+\/inbox$/;
      assert.match(providers.email.told.join(), inbox);
      assert.match(providers.slack.told.join(), inbox);
      // Nobody is enrolled with that number, and so nobody has an inbox.
      assert.match(
        providers.sms.told.join(),
        /5 more requests wait .* The next messages follow when the hour is over\.$/,
      );

      // All that was asked stands in the inbox, and is decided there.
      const { total } = await listPending(ctx, { person: ana }, { limit: 100, offset: 0 });
      assert.equal(total, asks.length);
      assert.ok((await readersFor(ctx.db, ana)).includes(`email:${address}`));
      const [last, cancelled] = [asks.at(-1), asks.at(-2)];
      assert.ok(last && cancelled);
      await decideRequest(ctx, {
        requestId: last.id,
        responder: await responderOf(ctx.db, ana, "web"),
        decision: { kind: "approve" },
      });
      await cancelRequest(ctx, cancelled.id, { kind: "agent", id: "agent:ana-bot" });

      await world.advance(HOUR_MS);
      await rest();
      // Three of eight were sent before, and two have ended.
      assert.equal(sentTo(address), 6);
      assert.equal(providers.email.told.length, 1);
      assert.equal(sentTo("C024BE91L"), 6);
      await world.advance(MINUTE_MS);
      await rest();
      assert.equal(providers.slack.told.length, 2);
      assert.match(providers.slack.told[1] ?? "", / 2 more requests wait /);
      await world.advance(HOUR_MS);
      await rest();
      assert.deepEqual([sentTo("C024BE91L"), sentTo("+4915112345678")], [8, 8]);
      const ids = new Set(providers.slack.sent.map(({ delivery }) => delivery));
      assert.equal(ids.size, 8);
    });

    it("to the addresses of one mailbox are messages to one address", async () => {
      await using scene = await openScene(on, { PARLEY_DELIVERY_MESSAGES_PER_HOUR: "3" });
      const { world, sentTo, rest } = scene;
      const addresses = ["ana@people.example", ...[1, 2, 3, 4].map((tag) => `ana+${tag}@people.example`)];
      for (const to of addresses) await askPeople(world.server.ctx, { audience: mail(to), timeoutSeconds: 86_400 });
      await askPeople(world.server.ctx, { audience: mail("bo+1@people.example"), timeoutSeconds: 86_400 });
      await rest();
      assert.equal(
        addresses.map(sentTo).reduce((sum, sent) => sum + sent),
        3,
      );
      assert.equal(sentTo("bo+1@people.example"), 1);
    });

    it("of one agent go to so many addresses within an hour", async () => {
      await using scene = await openScene(on, { PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "2" });
      const { world, sentTo, rest } = scene;
      const { ctx } = world.server;
      const people = ["ana", "bo", "cy", "dee"].map((name) => `${name}@people.example`);
      const ask = (asker: string, to: string) => askPeople(ctx, { asker, audience: mail(to), timeoutSeconds: 86_400 });
      for (const to of people) {
        await ask("agent:spammer", to);
        await rest();
      }
      assert.deepEqual(people.map(sentTo), [1, 1, 0, 0]);
      // The people it wrote to get more mail from it. Other people get mail from other agents.
      await ask("agent:spammer", "ana@people.example");
      await ask("agent:other", "dee@people.example");
      await rest();
      assert.deepEqual(people.map(sentTo), [2, 1, 0, 1]);
      await world.advance(HOUR_MS);
      await rest();
      assert.deepEqual(people.map(sentTo), [2, 1, 1, 2]);
    });

    it("are counted once however often one is tried, and hold back reminders too", async () => {
      await using scene = await openScene(on, { PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1" });
      const { world, providers, sentTo, rest } = scene;
      const { ctx } = world.server;
      const { DeliveryError } = await import("../../src/channels/channel.ts");
      providers.email.failing.push(
        new DeliveryError("down", { retry: true }),
        new DeliveryError("down", { retry: true }),
      );
      const one = await askPeople(ctx, {
        audience: mail("ana@people.example"),
        timeoutSeconds: 86_400,
        remindAfterMs: 5 * MINUTE_MS,
      });
      await advanceUntil(world, 500, () => sentTo("ana@people.example") === 1);
      await world.advance(6 * MINUTE_MS);
      await rest();
      assert.equal(sentTo("ana@people.example"), 1);
      await world.advance(HOUR_MS);
      await rest();
      assert.equal(sentTo("ana@people.example"), 2);
      assert.equal(providers.email.sent.at(-1)?.reminder, true);
      assert.equal((await readRequest(ctx, one.id)).state, "open");
      const states = (await listDeliveries(ctx.db, one.id)).map(({ kind, state }) => `${kind} ${state}`);
      assert.ok(states.includes("remind sent"), states.join());
    });

    it("to a person go to their address, not to their next channel for being held back", async () => {
      await using scene = await openScene(on, { PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1" });
      const { world, sentTo, rest } = scene;
      const { ctx } = world.server;
      const channels = [
        { channel: "email", target: { to: "ana@people.example", informed: false, settings: {} } },
        { channel: "sms", target: { to: "+4915112345678", settings: {} } },
      ] as const;
      const identities = [{ kind: "email", value: "ana@people.example" }] as const;
      const ana = await enrol(ctx, "Ana", channels, { identities });
      for (let i = 0; i < 3; i += 1) await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await rest();
      assert.deepEqual([sentTo("ana@people.example"), sentTo("+4915112345678")], [1, 0]);
    });
  });
}
