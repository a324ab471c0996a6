import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { first } from "../../src/core/store/db.ts";
import { claimNotice, findDueNotices } from "../../src/notices/store/notices.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { openNotify } from "../../src/notices/loops/notify.ts";
import { goAway } from "../../src/requests/inbox/away.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { tellDevices } from "../../src/requests/create/tell-devices.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { advanceUntil, HOUR, LABELS, MINUTE, ROOMY, until as eventually } from "../support/contract.ts";
import { openPushService, type Browser, type PushService } from "../support/push-service.ts";
import { NOON } from "../support/held-clock.ts";
import { openBrowser } from "../support/signed-in.ts";
import { DATABASES, openWorld, type Node, type Person, type World, onOneDatabase } from "../support/world.ts";

interface Pushed {
  notification: { title: string; navigate: string };
}

const RULES = { factor: 3, catchUpMs: 15 * MINUTE };
const KINDS = ["web"] as const;

for (const on of DATABASES) {
  describe(`devices on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    let world: World;
    let service: PushService;
    before(async () => {
      service = await openPushService(async () => (await world.call("GET", "/human/push/key")).body.vapid_public_key);
    });
    beforeEach(async () => {
      await world?.[Symbol.asyncDispose]();
      world = await openWorld({
        on,
        env: { ...ROOMY, PARLEY_PUSH_SUBJECT: "mailto:ops@example.com", PARLEY_INBOX_UNDO_SECONDS: "5" },
      });
      service.reset();
    });
    after(async () => {
      await world[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    });

    /** Subscribes as a browser out there would; its push service then moves to this machine, which no browser can say. */
    async function subscribe(
      person: Pick<Person, "post">,
      more: Record<string, unknown> = {},
    ): Promise<Browser & { id: string }> {
      const browser = service.subscribe();
      const endpoint = browser.endpoint.replace(service.origin, "https://push.example.com");
      const reply = await person.post("/human/push/subscribe", {
        subscription: { endpoint, keys: browser.keys },
        ...more,
      });
      assert.equal(reply.status, 201);
      await moveTo(reply.body.subscription_id, browser.endpoint);
      return { ...browser, id: reply.body.subscription_id };
    }
    const moveTo = (id: string, address: string) =>
      world.server.ctx.db.transact((tx) =>
        tx.all(sql`UPDATE push_subscriptions SET address = ${address} WHERE subscription_id = ${id}`),
      );
    const crowd = async (count: number, more: Record<string, unknown> = {}): Promise<Browser[]> =>
      Promise.all(world.people(count).map((person) => subscribe(person, more)));

    /** Chooses once more, of all questions, as every node does each minute. */
    const choose = (node: Node = world) =>
      openNotify(node.server.ctx, { rules: RULES, kinds: KINDS })(new AbortController().signal);
    const planned = async (requestId: string, state = "%") => {
      const row = await first<{ n: number }>(
        world.server.ctx.db,
        sql`SELECT count(*) AS n FROM notices WHERE ask_id = ${requestId} AND state LIKE ${state}`,
      );
      return row?.n ?? 0;
    };
    const isActive = async (id: string) =>
      (
        await first<{ active: number }>(
          world.server.ctx.db,
          sql`SELECT active FROM push_subscriptions WHERE subscription_id = ${id}`,
        )
      )?.active === 1;
    /** Lets time run by seconds until something holds. */
    async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
      let looks = 0;
      await eventually(async () => {
        if (await holds()) return true;
        looks += 1;
        if (looks % 4 === 0) await world.advance(5000);
        return false;
      }, what);
    }

    itOnOne("hear of a new question, sealed and signed, and not a word of it", async () => {
      const browser = await subscribe(world.person("bo"));
      const prompt = "Is canary yellow the right yellow for the launch page?";
      const { id } = await world.agent("ana-bot").ask({ prompt, options: LABELS, timeout_seconds: 600 });
      await until(() => service.pushed.length === 1, "a message");
      const [message] = service.pushed;
      assert.equal(message?.browser.endpoint, browser.endpoint);
      assert.deepEqual(message?.payload, {
        web_push: 8030,
        notification: {
          title: "A question for you",
          body: "Pick one of 2, about 30 seconds",
          navigate: `${world.url}/q/${id}`,
          tag: `/q/${id}`,
          icon: `${world.url}/icons/notification.png`,
          data: { question_id: id, url: `/q/${id}`, type: "multiple_choice" },
        },
      });
      assert.doesNotMatch(JSON.stringify(message?.payload), /canary/);
      const { ttl, urgency, topic } = message?.headers ?? {};
      assert.equal(message?.headers["content-encoding"], "aes128gcm");
      assert.equal(urgency, "normal");
      assert.match(String(topic), /^[\w-]{32}$/);
      assert.ok(Number(ttl) > 500 && Number(ttl) <= 600, `${String(ttl)} seconds`);
      const { aud, sub, expiresInS } = message?.vapid ?? {};
      assert.deepEqual([aud, sub], [service.origin, "mailto:ops@example.com"]);
      assert.ok(expiresInS !== undefined && expiresInS > 0 && expiresInS <= 86_400);
      await until(async () => (await planned(id, "sent")) === 1, "noted as sent");
    });

    itOnOne("are as many as three for each missing answer, and others a quarter of an hour later", async () => {
      await crowd(10);
      const { id } = await world.agent("ana-bot").ask({ min_responses: 1 });
      await choose();
      assert.equal(await planned(id), 3);
      await choose();
      assert.equal(await planned(id), 3);
      await world.advance(15 * MINUTE);
      await choose();
      assert.equal(await planned(id), 6);
      const told = await world.server.ctx.db.all<{ person: string }>(
        sql`SELECT DISTINCT person FROM notices WHERE ask_id = ${id}`,
      );
      assert.equal(told.length, 6, "nobody is told twice");
    });

    it("are told once, however many nodes choose at the same time", async () => {
      await crowd(20);
      const nodes: Node[] = on === "postgres" ? [world, await world.addNode()] : [world];
      const { id } = await world.agent("ana-bot").ask({ min_responses: 2 });
      const other = await world.agent("cy-bot").ask({ min_responses: 2 });
      await Promise.all(Array.from({ length: 8 }, (_, i) => choose(nodes[i % nodes.length])));
      await choose();
      assert.deepEqual([await planned(id), await planned(other.id)], [6, 6]);
      const twice = await world.server.ctx.db.all(
        sql`SELECT subscription_id FROM notices GROUP BY subscription_id HAVING count(*) > 1`,
      );
      assert.deepEqual(twice, [], "a device rests after one message");
      await until(() => service.pushed.length >= 12, "twelve messages");
      assert.equal(service.pushed.length, 12);
    });

    it("rest for their own interval", async () => {
      await subscribe(world.person("bo"), { min_interval_minutes: 60 });
      const first = await world.agent("ana-bot").ask({ timeout_seconds: 7200 });
      await choose();
      const second = await world.agent("ana-bot").ask({ timeout_seconds: 7200 });
      await world.advance(59 * MINUTE);
      await choose();
      assert.deepEqual([await planned(first.id), await planned(second.id)], [1, 0]);
      await world.advance(MINUTE);
      await choose();
      assert.deepEqual([await planned(first.id), await planned(second.id)], [1, 1]);
    });

    itOnOne("hear of what they are interested in, and of everything general", async () => {
      await subscribe(world.person("bo"), { audience: ["ethics"] });
      const technical = await world.agent("ana-bot").ask({ audience: ["technical", "product"] });
      await choose();
      assert.equal(await planned(technical.id), 0);
      const mixed = await world.agent("ana-bot").ask({ audience: ["technical", "ethics"] });
      await choose();
      assert.equal(await planned(mixed.id), 1);
      await world.advance(31 * MINUTE);
      const general = await world.agent("ana-bot").ask();
      await choose();
      assert.equal(await planned(general.id), 1);
    });

    itOnOne("are left alone in their quiet hours, which may span midnight", async () => {
      // The world's clock stands at noon UTC: 21:00 in Tokyo.
      await subscribe(world.person("bo"), { quiet_hours: { start: "20:00", end: "07:00", time_zone: "Asia/Tokyo" } });
      await subscribe(world.person("cy"), { quiet_hours: { start: "13:00", end: "14:00", time_zone: "UTC" } });
      const { id } = await world.agent("ana-bot").ask({ timeout_seconds: 86_400 });
      await choose();
      assert.equal(await planned(id), 1, "cy alone");
      await world.advance(10 * HOUR);
      await choose();
      assert.equal(await planned(id), 2, "bo at seven in the morning");
    });

    itOnOne("hear nothing of what their person has answered, skipped or reported, on whatever device", async () => {
      const { id } = await world.agent("ana-bot").ask({ min_responses: 20 });
      const [answered, skipped, reported] = [world.person("bo"), world.person("cy"), world.person("di")];
      for (const person of [answered, skipped, reported]) await subscribe(person);
      assert.equal((await answered.answer(id, "Neither.")).status, 201);
      assert.equal((await skipped.post(`/human/questions/${id}/skip`, {})).status, 204);
      assert.equal((await reported.post(`/human/questions/${id}/report`, { reason: "unclear" })).status, 204);

      // Two devices of one person, who has answered on one of them.
      const eve = await enrol(world.server.ctx, "Eve");
      const [phone, laptop] = [await openBrowser(world, eve), await openBrowser(world, eve)];
      await subscribe(phone);
      assert.equal((await laptop.post("/human/responses", { question_id: id, answer: "Both." })).status, 201);
      await subscribe(world.person("fi"));
      await choose();
      assert.equal(await planned(id), 1, "fi alone");
    });

    itOnOne("hear nothing of a question that is over, or kept out of sight", async () => {
      await crowd(3);
      service.answerNext({ status: 503 }, { status: 503 }, { status: 503 });
      const { id } = await world.agent("ana-bot").ask({ min_responses: 1 });
      await until(async () => (await planned(id)) === 3 && service.tries() >= 3, "three tries");
      await world.agent("ana-bot").cancel(id);
      await until(async () => (await planned(id, "dropped")) === 3, "dropped");
      assert.equal(service.pushed.length, 0);
    });

    it("are tried again while their push service is busy or broken, and given up after four tries", async () => {
      await subscribe(world.person("bo"));
      const before = service.tries();
      service.answerNext({ status: 429, headers: { "retry-after": "40" } }, { status: 500 }, { status: 502 });
      const { id } = await world.agent("ana-bot").ask();
      await until(() => service.tries() === before + 1, "a first try");
      await until(() => service.pushed.length === 1, "taken in the end");
      assert.equal(service.tries(), before + 4);
      await until(async () => (await planned(id, "sent")) === 1, "noted as sent");

      await world.advance(HOUR);
      service.answerNext(...Array.from({ length: 5 }, () => ({ status: 503 })));
      const second = await world.agent("ana-bot").ask();
      await until(async () => (await planned(second.id, "failed")) === 1, "given up");
      assert.equal(service.tries(), before + 8);
    });

    itOnOne("end when their push service knows them no more, unless they have moved since", async () => {
      for (const status of [404, 410]) {
        const { id } = await subscribe(world.person(`gone-${status}`));
        service.answerNext({ status });
        const question = await world.agent("ana-bot").ask();
        await until(async () => (await planned(question.id, "failed")) === 1, "a failure");
        assert.equal(await isActive(id), false);
        await world.agent("ana-bot").cancel(question.id);
      }
      const { id } = await subscribe(world.person("kept"));
      service.answerNext({ status: 403 });
      const question = await world.agent("ana-bot").ask();
      await until(async () => (await planned(question.id, "failed")) === 1, "a refusal");
      assert.equal(await isActive(id), true, "what is refused for another reason stays");
    });

    it("hear again what a node was sending when it died", async () => {
      await subscribe(world.person("bo"));
      const { ctx } = world.server;
      const { id } = await world.agent("ana-bot").ask();
      await choose();
      const [due] = await findDueNotices(ctx.db, 10);
      assert.ok(due);
      // A node claims the notice and then dies.
      assert.ok(await transact(ctx, (tx) => claimNotice(tx, due, 60_000)));
      assert.equal(
        await transact(ctx, (tx) => claimNotice(tx, due, 60_000)),
        undefined,
        "nobody else has it meanwhile",
      );
      await world.advance(61_000);
      await until(() => service.pushed.length === 1, "sent by another");
      await until(async () => (await planned(id, "sent")) === 1, "noted as sent");
    });

    itOnOne("of named people hear of what is addressed to them: who asks, and the subject", async () => {
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz");
      const browser = await subscribe(await openBrowser(world, ana));
      const bystander = await subscribe(world.person("bo"));
      const ask = await askPeople(ctx, {
        title: "Refund order A-1007",
        kwargs: { secret: "canary" },
        audience: toPerson(ana),
      });
      await transact(ctx, (tx) => tellDevices(tx, ask.id, ask.audience));
      await until(() => service.pushed.length === 1, "a message");
      const [message] = service.pushed;
      assert.equal(message?.browser.endpoint, browser.endpoint);
      assert.deepEqual(message?.payload.notification, {
        title: "ana-bot",
        body: "Wants your approval",
        navigate: `${world.url}/inbox/${ask.id}`,
        tag: `/inbox/${ask.id}`,
        icon: `${world.url}/icons/notification.png`,
        data: { ask_id: ask.id, url: `/inbox/${ask.id}` },
      });
      assert.equal(message?.headers.urgency, "high");
      assert.equal(await planned(ask.id), 1, "one device, once");
      assert.ok(await isActive(bystander.id));
    });

    it("of named people are told so often within an hour, and once how many requests wait", async () => {
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz");
      await subscribe(await openBrowser(world, ana));
      const most = ctx.addressed.messagesPerHour;
      const titles = () => service.pushed.map(({ payload }) => (payload as Pushed).notification.title);
      const settled = async () => {
        const [row] = await ctx.db.all<{ n: number }>(sql`SELECT count(*) AS n FROM notices WHERE state <> 'queued'`);
        return row?.n;
      };
      // Slowly: a lease is not over before its message is sent.
      const soon = (holds: () => boolean | Promise<boolean>) => advanceUntil(world, 200, holds);
      for (let i = 0; i < most; i += 1) await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await soon(async () => (await settled()) === most);
      assert.deepEqual(
        titles(),
        Array.from({ length: most }, () => "ana-bot"),
      );
      await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await soon(() => service.pushed.length === most + 1);
      const { notification } = service.pushed.at(-1)?.payload as Pushed;
      assert.deepEqual(
        [notification.title, notification.navigate],
        [`${most + 1} requests wait for you`, `${world.url}/inbox`],
      );
      for (let i = 0; i < 3; i += 1) await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await soon(async () => (await settled()) === most + 4);
      assert.equal(service.pushed.length, most + 1);
      await world.advance(HOUR);
      await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 86_400 });
      await soon(() => service.pushed.length === most + 2);
      assert.equal(titles().at(-1), "ana-bot");
    });

    itOnOne("of somebody who is away are silent, and the stand-in's hear of what they may decide, once", async () => {
      const { ctx } = world.server;
      const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lind")];
      const devices = [
        await subscribe(await openBrowser(world, ana)),
        await subscribe(await openBrowser(world, bo)),
      ] as const;
      await goAway(ctx, ana, { until: world.clock.now() + 24 * HOUR, standIn: bo });
      const both = { kind: "any", of: [ana, bo].map((id) => ({ afterMs: 0, node: toPerson(id) })) } as const;
      const { id } = await askPeople(ctx, { audience: both });
      await until(async () => (await planned(id, "queued")) + (await planned(id, "sending")) === 0, "all are sent");
      assert.deepEqual(
        service.pushed.map(({ browser, payload }) => [browser.endpoint, payload.notification.body]),
        [[devices[1].endpoint, "Ana Ruiz is away, and you stand in."]],
      );
      await askPeople(ctx, { audience: toPerson(ana) });
      await until(() => service.pushed.length === 2, "a message of what Bo may not decide");
      assert.equal(service.pushed[1]?.browser.endpoint, devices[0].endpoint);
    });

    itOnOne("hear nothing of a decision that is pressed, and nothing more once it is made", async () => {
      const { ctx } = world.server;
      const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lind")];
      const app = await openBrowser(world, ana);
      await subscribe(app);
      const { endpoint } = await subscribe(await openBrowser(world, bo));
      const after = (person: string, afterMs: number) => ({ afterMs, node: toPerson(person) });
      const audience = { kind: "any", of: [after(ana, 0), after(bo, HOUR)] } as const;
      const ask = () => askPeople(ctx, { audience, timeoutSeconds: 86_400 });
      const [made, undone] = [await ask(), await ask()];
      await until(() => service.pushed.length === 2, "both are told to Ana");
      for (const { id, digest } of [made, undone])
        await app.post(`/people/me/asks/${id}/decision`, { approved: true, digest });
      await app.post("/people/me/undo", { asks: [undone.id] });
      await advanceUntil(world, 1000, async () => (await readRequest(ctx, made.id)).state === "answered");
      await world.advance(HOUR);
      await until(() => service.pushed.length > 2, "Bo is told of the one that was undone");
      await until(async () => (await planned(made.id, "dropped")) === 1, "nobody else is told of the other");
      const told = service.pushed.slice(2).map((one) => [one.browser.endpoint, one.payload.notification.tag]);
      assert.deepEqual(told, [[endpoint, `/inbox/${undone.id}`]]);
    });

    itOnOne("of named people wait for the end of their quiet hours", async () => {
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [], { seesAll: true });
      const quiet_hours = { start: "11:00", end: "12:30", time_zone: "UTC" };
      await subscribe(await openBrowser(world, ana), { quiet_hours });
      const ask = await askPeople(ctx, { title: "Refund order A-1007" });
      const putOff = async () =>
        first<{ due_at: number }>(
          ctx.db,
          sql`SELECT due_at FROM notices WHERE ask_id = ${ask.id} AND attempt = 0 AND epoch > 0`,
        );
      await until(async () => (await putOff()) !== undefined, "put off");
      const { due_at: dueAt = 0 } = (await putOff()) ?? {};
      assert.ok(dueAt >= NOON + 30 * MINUTE && dueAt < NOON + 31 * MINUTE, new Date(dueAt).toISOString());
      assert.equal(await planned(ask.id, "queued"), 1);
      assert.equal(service.pushed.length, 0);
      await world.advance(30 * MINUTE);
      await until(() => service.pushed.length === 1, "told after all");
    });
  });
}
