import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RequestId } from "../../src/core/model/ids.ts";
import type { Audience } from "../../src/requests/model/request.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { OWNED_TABLES } from "../../src/backup/store/owned-tables.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { insertSignIn } from "../../src/access/store/sign-ins.ts";
import { expireRequest } from "../../src/requests/end/end.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { claimDedupeKey } from "../../src/requests/create/dedupe-key.ts";
import { snoozedUntil, snoozeRequest } from "../../src/requests/inbox/snooze.ts";
import { openEditor } from "../../src/requests/read/open-editor.ts";
import { readLink } from "../../src/requests/links/open-link.ts";
import { askPeople, enrol, postedOnSlack, providerOf, toPerson } from "../support/addressed.ts";
import { advanceUntil, DAY, HOUR, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { OPERATOR } from "../support/identities.ts";
import { openJobs } from "../support/jobs.ts";
import { tool } from "../support/mcp.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const YEARS_73 = 73 * 365 * DAY;

for (const on of DATABASES) {
  for (const [wrong, stepMs] of [
    ["fast", 2 * HOUR],
    ["slow", -2 * HOUR],
  ] as const) {
    describe(`a node whose clock is two hours ${wrong}, on ${on}`, () => {
      it("counts reads as any other does", async () => {
        await using world = await openWorld({ on, env: { PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "3" } });
        const ana = world.agent("ana-bot");
        const { id } = await ana.ask();
        world.clock.step(stepMs);

        const first = [await ana.poll(id), await ana.poll(id), await ana.poll(id), await ana.poll(id)];
        await world.advance(HOUR + 1000);
        const later = await ana.poll(id);

        assert.deepEqual(
          first.map(({ status }) => status),
          [200, 200, 200, 429],
        );
        assert.equal(first[3]?.headers.get("retry-after"), "3600");
        assert.equal(later.status, 200);
      });

      it("asks whoever comes later at the store's time, in the inbox as in an editor", async () => {
        await using world = await openWorld({ on, channels: [providerOf("slack")] });
        const { ctx } = world.server;
        const bo = await enrol(ctx, "Bo Lind");
        const ana = await enrol(ctx, "Ana Ruiz", [{ channel: "slack", target: { to: "U1", settings: {} } }]);
        const audience: Audience = {
          kind: "any",
          of: [ana, bo].map((person, i) => ({ afterMs: i * HOUR, node: toPerson(person) })),
        };
        world.clock.step(stepMs);
        const { id } = await askPeople(ctx, { audience, timeoutSeconds: 4 * 3600 });
        const decides = await decider(world, bo);
        const [delivery] = await listDeliveries(ctx.db, id);
        const mayDecide = async () => {
          const pressed = { ...(await postedOnSlack(ctx, delivery?.id ?? "")), app: null, channel: "D1" };
          const edits = await openEditor(ctx, pressed, await responderOf(ctx.db, bo, "slack"));
          return [(await decides.whole(id)).body.may_decide, "view" in edits];
        };
        assert.deepEqual(await mayDecide(), [false, false]);
        await world.advance(HOUR + 1000);
        assert.deepEqual(await mayDecide(), [true, true]);
      });

      it("shows by its link how an ask ended for seven days of the store", async () => {
        const slack = providerOf("slack");
        await using world = await openWorld({ on, channels: [slack] });
        const { ctx } = world.server;
        const ana = await enrol(ctx, "Ana Ruiz", [{ channel: "slack", target: { to: "U1", settings: {} } }], {
          identities: [{ kind: "slack", value: "U1" }],
        });
        const { id } = await askPeople(ctx, { audience: toPerson(ana) });
        await advanceUntil(world, 500, () => Promise.resolve(slack.sent.length > 0));
        const token = slack.sent[0]?.link.split("/r/")[1] ?? "";
        const responder = await responderOf(ctx.db, ana, "web");
        await decideRequest(ctx, { requestId: id, responder, decision: { kind: "approve" } });
        world.clock.step(stepMs);
        await world.advance(7 * DAY - HOUR);
        assert.equal((await readLink(ctx, token)).request.id, id);
        await world.advance(HOUR + 1000);
        await assert.rejects(readLink(ctx, token), { code: "link_dead" });
      });

      it("joins the same request for a day of the store", async () => {
        await using world = await openWorld({ on });
        const { ctx } = world.server;
        const join = () => claimDedupeKey(ctx, { asker: "open:ana", key: "k", bodyHash: "h", timeoutSeconds: 60 });
        world.clock.step(stepMs);
        const first = await join();
        await world.advance(DAY - HOUR);
        assert.equal(await join(), first);
        await world.advance(HOUR + 1000);
        assert.notEqual(await join(), first);
      });

      it("holds a permission prompt until its deadline in the store", async () => {
        await using world = await openWorld({ on });
        const operator = await decider(world, OPERATOR);
        world.clock.step(stepMs);
        const args = { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1" };
        const prompt = tool(world, "approve", args, { headers: { "x-agent-id": "claude" } });
        const [waiting] = await until(async () => {
          const asks = await operator.inbox();
          return asks.length > 0 && world.clock.isAwaited(1000) && asks;
        });
        await world.advance(10_000);
        // A wait that ended with the hold is over before this call returns.
        await operator.whole(waiting?.id ?? "");
        await operator.decides({ approved: true });
        const { content } = await prompt;
        assert.equal(JSON.parse(content[0]?.text ?? "").behavior, "allow");
      });
    });
  }
}

const ask = (world: World) => world.agent("ana-bot").ask({ timeout_seconds: 3600 });
const statusOf = async (world: World, { id }: { id: string }) => (await world.agent("ana-bot").poll(id)).body["status"];

describe("a wall clock that steps, on SQLite", () => {
  it("ends and stops no deadline, however far it goes for a second, and the server starts again", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const asked: { id: string }[] = [];
    const steps = [1000, 3 * HOUR, YEARS_73, -1000, -3 * HOUR, -20 * 365 * DAY];
    for (const stepMs of steps) {
      asked.push(await ask(world));
      world.clock.step(stepMs);
      asked.push(await ask(world));
      await world.advance(1000);
      world.clock.step(-stepMs);
    }

    await world.restart();
    const statuses = () => Promise.all(asked.map((one) => statusOf(world, one)));
    await world.advance(HOUR - 1000 * (steps.length + 1));
    assert.deepEqual(new Set(await statuses()), new Set(["OPEN"]));
    await world.advance(1000 * (steps.length + 1));
    assert.deepEqual(new Set(await statuses()), new Set(["EXPIRED"]));
  });

  it("ends no lease early and lets none stay, however far it goes", async () => {
    await using scene = await openJobs("sqlite");
    const { ana, world } = scene;
    for (const stepMs of [3 * HOUR, YEARS_73, -3 * HOUR]) {
      const { id, lease } = await scene.claimed();
      const state = async () => (await ana.get(`/jobs/${id}`)).body.state;
      world.clock.step(stepMs);
      await world.advance(1000);
      const beat = await ana.post(`/jobs/${id}/heartbeat`, {}, lease);
      assert.deepEqual([beat.status, await state()], [200, "RUNNING"]);
      // The lease of fifteen seconds began anew.
      await world.advance(14_000);
      assert.equal(await state(), "RUNNING");
      await world.advance(2000);
      await advanceUntil(world, 500, async () => (await state()) !== "RUNNING");
      world.clock.step(-stepMs);
    }
  });

  it("is not believed by a start of the same boot, which says so", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const asked = await ask(world);
    world.clock.step(YEARS_73);
    await world.restart();
    assert.match(world.server.notes.join(), /the store's 2026-02-02T12:00:0.*parley serve --accept-clock/);
    assert.equal(await statusOf(world, asked), "OPEN");
  });

  it("is followed while it is off by less than a minute, a second in an hour", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const read = async () => (await world.server.ctx.db.all<{ now: number }>(sql`SELECT parley_now() AS now`))[0]?.now;
    world.clock.step(500);
    const behindMs: number[] = [];
    for (let passed = 0; passed <= HOUR; passed += 5000) {
      behindMs.push(world.clock.now() - ((await read()) ?? 0));
      await world.advance(5000);
    }
    assert.equal(behindMs[0], 500);
    assert.equal(behindMs.at(-1), 0);
    assert.ok(behindMs.every((ms, i) => i === 0 || (behindMs[i - 1] ?? 0) - ms <= 2));
  });
});

describe("a start in another boot than the last commit's, on SQLite", () => {
  it("refuses a clock that went back by years, and with --accept-clock keeps the time that was left", async () => {
    await using world = await openWorld({ on: "sqlite" });
    await ask(world);
    world.clock.reboot();
    world.clock.step(YEARS_73);
    await world.restart({ acceptClock: true });
    assert.match(
      world.server.notes.join(),
      /accepted: the store's went from 2026.* to 2099.*; 1 open deadline has passed/,
    );
    const meanwhile = await ask(world);
    await world.advance(60_000);
    world.clock.reboot();
    world.clock.step(-YEARS_73);

    await assert.rejects(
      world.restart(),
      /^Error: The clock says 2026-.*, but the last commit was at 2099-.*, if it is right: parley serve --accept-clock$/,
    );
    await world.restart({ acceptClock: true });
    assert.match(
      world.server.notes.join(),
      /went back from 2099.* to 2026.*; 1 open deadline that was given meanwhile/,
    );
    await world.restart();
    assert.deepEqual(world.server.notes, []);
    await world.advance(HOUR - 62_000);
    assert.equal(await statusOf(world, meanwhile), "OPEN");
    await world.advance(3000);
    assert.equal(await statusOf(world, meanwhile), "EXPIRED");
  });

  it("leaves a deadline where it is that was given under the right clock", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const asked = await world.agent("ana-bot").ask({ timeout_seconds: 86_400 });
    world.clock.reboot();
    world.clock.step(3 * HOUR);
    await world.restart();
    world.clock.reboot();
    world.clock.step(-3 * HOUR);
    await world.restart({ acceptClock: true });
    const { body } = await world.agent("ana-bot").poll(asked.id);
    assert.equal(body["expires_at"], asked.expiresAt);
  });

  it("puts nothing aside again that had come back under the wrong clock", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const person = await enrol(world.server.ctx, "Ana Ruiz");
    const aside = async (id: RequestId) => snoozedUntil(world.server.ctx, { requestId: id, person });
    world.clock.reboot();
    world.clock.step(DAY);
    await world.restart();
    const { id } = await askPeople(world.server.ctx, { audience: toPerson(person), timeoutSeconds: 4 * 3600 });
    await snoozeRequest(world.server.ctx, { requestId: id, person }, world.clock.now() + HOUR);
    assert.notEqual(await aside(id), null);
    await world.advance(2 * HOUR);
    assert.equal(await aside(id), null);
    world.clock.reboot();
    world.clock.step(-DAY);
    await world.restart({ acceptClock: true });
    assert.equal(await aside(id), null);
  });

  it("makes at once what was pressed under the wrong clock", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_INBOX_UNDO_SECONDS: "5" } });
    const { ctx } = world.server;
    const person = await enrol(ctx, "Ana Ruiz");
    await transact(ctx, (tx) => insertSignIn(tx, "session", person));
    world.clock.reboot();
    world.clock.step(2 * HOUR);
    await world.restart();
    const { id, digest } = await askPeople(world.server.ctx, { audience: toPerson(person), timeoutSeconds: 4 * 3600 });
    const responder = await responderOf(world.server.ctx.db, person, "web");
    const decision = { kind: "approve" as const, ...(digest !== null && { digest }) };
    await decideRequest(world.server.ctx, { requestId: id, responder, decision, session: "session" });
    world.clock.reboot();
    world.clock.step(-2 * HOUR);
    await world.restart({ acceptClock: true });
    assert.equal((await expireRequest(world.server.ctx, id))?.outcome?.approved, true);
  });

  it("refuses a clock that is months ahead, under which much would be deleted", async () => {
    await using world = await openWorld({ on: "sqlite" });
    await ask(world);
    world.clock.reboot();
    world.clock.step(91 * DAY);
    await assert.rejects(world.restart(), /--accept-clock$/);
    world.clock.step(-2 * DAY);
    await world.restart();
  });
});

it("every time that lies ahead goes with the clock when one is accepted", async () => {
  await using world = await openWorld({ on: "sqlite" });
  const columns = await world.server.ctx.db.all<{ place: string }>(
    raw(`SELECT t.name || '.' || c.name AS place FROM sqlite_master t, pragma_table_info(t.name) c
      WHERE t.type = 'table' AND (c.name LIKE '%expires_at' OR c.name LIKE '%until' OR c.name IN ('due_at', 'respond_at'))`),
  );
  const clock = { wrongMs: 1, nowMs: 0 };
  const moved = new Set(
    OWNED_TABLES.flatMap(({ moveOpen, moveTimes }) => [
      ...(moveOpen?.(clock) ?? []),
      ...(moveTimes?.(clock) ?? []),
    ]).flatMap(({ sql: text }) => {
      const table = /^UPDATE (\w+)/.exec(text)?.[1];
      // The expiry that an approval is bound to cannot be moved. Such a call is dropped, and asked for again.
      const [, bound] = /SET state = 'dropped' WHERE state = 'asked' AND (\w+) > /.exec(text) ?? [];
      const columnsMoved = [...text.matchAll(/(\w+) = \1 - /g)].map(([, column]) => column);
      return [...columnsMoved, ...(bound === undefined ? [] : [bound])].map((column) => `${table}.${column}`);
    }),
  );
  assert.ok(columns.length > 15);
  assert.deepEqual(
    columns.map(({ place }) => place).filter((place) => !moved.has(place)),
    [],
  );
});
