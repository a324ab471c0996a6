import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { listKeys } from "../../src/access/list-keys.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { sharedAssignment, type AssignmentScene } from "../support/assignment.ts";
import { advanceUntil, openStream, type OpenStream } from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

type Event = NonNullable<Awaited<ReturnType<OpenStream["nextEvent"]>>>;

async function take(stream: OpenStream, count: number): Promise<Event[]> {
  const events: Event[] = [];
  while (events.length < count) events.push((await stream.nextEvent()) ?? assert.fail("the stream ended"));
  return events;
}

const inShort = ({ event, id, data }: Event): string => `${id} ${event} ${data.state ?? data.text ?? ""}`.trim();

function follow({ world, ana }: AssignmentScene, path: string, last?: string): Promise<OpenStream> {
  const headers = { authorization: `Bearer ${ana.key}`, ...(last !== undefined && { "last-event-id": last }) };
  return openStream(`${world.url}/assignment${path}`, headers);
}

for (const on of DATABASES) {
  describe(`following tasks on ${on}`, () => {
    const shared = sharedAssignment(on);

    it("ends for a key that is revoked, before it hears anything more", async () => {
      const { ana, runner, sender, world } = shared();
      await ana.submit("secret");
      const bo = await sender({ name: "bo-leaves" });
      const streams = await Promise.all(
        ["/events", "/tasks/secret/log?after=1"].map((path) =>
          openStream(`${world.url}/assignment${path}`, { authorization: `Bearer ${bo.key}` }),
        ),
      );
      for (const stream of streams) assert.deepEqual(await stream.next(), { retry: "2000" });
      const { ctx } = world.server;
      const key = (await listKeys(ctx)).find(({ name }) => name === "bo-leaves");
      await revokeKey(ctx, key?.id ?? "");
      assert.equal(await runner.start(), "secret");
      for (const stream of streams) assert.equal(await stream.nextEvent(), undefined);
      await runner.fail("shop", "secret");
    });

    it("tells a task's log from its beginning and goes on, resumes behind any event, and ends after the task", async () => {
      const { ana, runner, world } = shared();
      await ana.submit("told");
      await runner.start();
      const stream = await follow(shared(), "/tasks/told/log");
      assert.deepEqual(
        [stream.status, stream.headers.get("content-type"), stream.headers.get("cache-control")],
        [200, "text/event-stream; charset=utf-8", "no-store"],
      );
      assert.deepEqual(await stream.next(), { retry: "2000" });
      const [first] = await take(stream, 2);
      assert.deepEqual(first?.data, {
        state: "queued",
        status: "queued",
        by: "assign:ana-cards",
        seq: 1,
        attempt: 0,
        type: "state",
        at: new Date(world.clock.now()).toISOString(),
      });
      await runner.say("shop", "told", "Reading\nthe export");
      await runner.complete("shop", "told");
      const rest = await take(stream, 4);
      const lines = ["3 message Reading\nthe export", "4 state running", "5 state committing", "6 state review"];
      assert.deepEqual(rest.map(inShort), lines);
      for (let after = 0; after < 6; after += 1) {
        const again = await follow(shared(), "/tasks/told/log", String(after));
        const [next] = await take(again, 1);
        assert.equal(next?.id, String(after + 1));
        again.close();
        const byQuery = await follow(shared(), `/tasks/told/log?after=${after}`);
        assert.equal((await take(byQuery, 6 - after)).at(-1)?.id, "6");
        byQuery.close();
      }
      let ended = false;
      const end = stream.nextEvent().then((event) => (ended = event === undefined));
      await advanceUntil(world, 10_000, () => ended);
      await end;
    });

    it("begins anew where a number is too old or unknown, and says so", async () => {
      const { ana, runner, world } = shared();
      await ana.submit("cut");
      for (let i = 0; i < 5; i += 1) await runner.say("shop", "cut", `line ${i}`);
      await transact(world.server.ctx, (tx) => tx.all(sql`DELETE FROM task_events WHERE id = 'cut' AND seq <= 3`));
      for (const [last, expected] of [
        ["1", ["6 state", true]],
        ["99", ["6 state", true]],
        ["what", ["6 state", true]],
        ["3", ["4 message line 2", undefined]],
      ] as const) {
        const stream = await follow(shared(), "/tasks/cut/log", last);
        const [event] = await take(stream, 1);
        assert.deepEqual([event && inShort(event), event?.data.reset], expected, `after ${last}`);
        stream.close();
      }
      const whole = await follow(shared(), "/tasks/cut/log");
      assert.equal((await take(whole, 1))[0]?.id, "4");
      whole.close();
      assert.equal((await ana.call("GET", "/assignment/tasks/cut/log?after=x")).status, 400);
      await ana.call("DELETE", "/assignment?id=cut");
    });

    it("prints the log so far, line by line, for whoever takes that", async () => {
      const { ana, runner } = shared();
      await ana.submit("printed");
      await runner.say("shop", "printed", "one");
      await runner.say("shop", "printed", "two");
      const accept = "application/x-ndjson";
      const reply = await ana.call("GET", "/assignment/tasks/printed/log", { headers: { accept } });
      assert.equal(reply.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
      const lines = reply.text.trimEnd().split("\n");
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)).map(({ seq, type, text }) => [seq, type, text]),
        [
          [1, "state", undefined],
          [2, "message", "one"],
          [3, "message", "two"],
        ],
      );
      const after = await ana.call("GET", "/assignment/tasks/printed/log?after=2", { headers: { accept } });
      assert.equal(JSON.parse(after.text).text, "two");
      await ana.call("DELETE", "/assignment?id=printed");
    });

    it("tells states and questions of all tasks of a repository, from now on or behind what a list had in it", async () => {
      const { ana, runner } = shared();
      const { seq } = (await ana.call("GET", "/assignment/wiki")).body;
      const live = await follow(shared(), "/wiki/events");
      await ana.submit("w1", {}, "/assignment/wiki");
      await ana.submit("elsewhere");
      await ana.submit("w2", { dependencies: ["w1"] }, "/assignment/wiki");
      await runner.say("wiki", "w1", "not for the board");
      const told = await take(live, 2);
      assert.deepEqual(
        told.map(({ data }) => [data.id, data.state, data.blockedReason]),
        [
          ["w1", "queued", undefined],
          ["w2", "blocked", "w1 is not completed yet"],
        ],
      );
      live.close();
      const later = await follow(shared(), `/wiki/events?after=${seq}`);
      assert.deepEqual(await take(later, 2), told);
      later.close();
      const unknown = await follow(shared(), "/wiki/events", "4711");
      assert.equal((await take(unknown, 1))[0]?.data.reset, true);
      unknown.close();
    });

    if (on === "postgres") {
      it("is heard on another node than the one that changed something", async () => {
        const { ana } = shared();
        const other = await shared().addNode();
        const stream = await openStream(`${other.url}/assignment/blog/events`, { authorization: `Bearer ${ana.key}` });
        await ana.submit("far", {}, "/assignment/blog");
        assert.deepEqual(
          (await take(stream, 1)).map(({ data }) => [data.id, data.state]),
          [["far", "queued"]],
        );
        stream.close();
      });
    }
  });
}
