import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { DeliveryError } from "../../src/channels/channel.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { freeze, thaw } from "../../src/policy/freezes.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { goAway } from "../../src/requests/inbox/away.ts";
import { askPeople, enrol, providerOf, toPerson } from "../support/addressed.ts";
import { advanceUntil, fresh, HOUR, MINUTE, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { namedPerson, OPERATOR } from "../support/identities.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const SECOND = 1000;
const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;

interface Item {
  id: string;
  kind: string;
  sentence: string | null;
  agent: string | null;
  people: { name: string }[];
  since: string | null;
  channel: string | null;
  error: string | null;
}

/** Returns what reads the causes as an admin, each by its name. */
async function looker(world: World) {
  const { text } = await createKey(world.server.ctx, { name: fresh("boss"), scope: "admin" });
  const headers = { authorization: `Bearer ${text}` };
  return {
    headers,
    async report() {
      const { status, body, text: whole } = await world.call("GET", "/admin/stuck", { headers });
      assert.equal(status, 200, whole);
      return body;
    },
    async causes(): Promise<Record<string, { count: number; items: Item[] }>> {
      const { causes } = await this.report();
      return Object.fromEntries(
        causes.map(({ cause, ...of }: { cause: string; count: number; items: Item[] }) => [cause, of]),
      );
    },
    remind: (id: string) => world.call("POST", `/admin/requests/${id}/remind`, { headers }),
  };
}

for (const on of DATABASES) {
  describe(`what is stuck, on ${on}`, () => {
    it("is each request that gets no answer by itself, with its cause, people and age", async () => {
      const slack = providerOf("slack");
      await using world = await openWorld({ on, channels: [slack] });
      const { ctx } = world.server;
      const admin = await looker(world);
      const [lone, away] = [await enrol(ctx, "Lou Lone"), await enrol(ctx, "Ada Away")];
      const onSlack = [{ channel: "slack", target: { to: "U0SAM", settings: {} } }] as const;
      const sam = await enrol(ctx, "Sam Slack", onSlack, { identities: [{ kind: "slack", value: "U0SAM" }] });
      const bo = await namedPerson(world, "Bo Lind");
      await bo.signIn();
      const day = { timeoutSeconds: 86_400 };
      assert.deepEqual(await admin.causes(), {});

      const unreached = await askPeople(ctx, { ref: fresh("call"), audience: toPerson(lone), ...day });
      await goAway(ctx, away, { until: world.clock.now() + 40 * HOUR, standIn: null });
      const absent = await askPeople(ctx, { ref: fresh("call"), audience: toPerson(away), ...day });
      slack.failing.push(new DeliveryError("gone", { retry: false, providerCode: "channel_not_found" }));
      const failed = await askPeople(ctx, { ref: fresh("call"), audience: toPerson(sam), ...day });
      const seen = await askPeople(ctx, { ref: fresh("call"), audience: toPerson(bo.id), ...day });
      const frozen = await askPeople(ctx, {
        ref: fresh("call"),
        asker: "agent:ice",
        audience: toPerson(bo.id),
        ...day,
      });
      const { id: freezeId } = await freeze(ctx, { scope: "agent", subject: "agent:ice" }, ADMIN);
      await advanceUntil(world, SECOND, async () => (await admin.causes())["message_failed"] !== undefined);

      const causes = await admin.causes();
      const ids = (cause: string) => causes[cause]?.items.map(({ id }) => id);
      assert.deepEqual(["nobody_reached", "away", "message_failed", "frozen", "unanswered"].map(ids), [
        [unreached.id],
        [absent.id],
        [failed.id],
        [frozen.id],
        undefined,
      ]);
      const [item] = causes["message_failed"]?.items ?? [];
      assert.deepEqual(
        [item?.people.map(({ name }) => name), item?.channel, item?.agent, item?.kind],
        [["Sam Slack"], "slack", "ana-bot", "request"],
      );
      assert.match(item?.error ?? "", /channel_not_found/);
      assert.match(item?.sentence ?? "", /Refund amount 49.9/);
      assert.equal(Date.parse(item?.since ?? ""), failed.createdAt);

      await world.advance(HOUR);
      assert.deepEqual(
        (await admin.causes())["unanswered"]?.items.map(({ id }) => id),
        [seen.id],
      );
      await thaw(ctx, freezeId, ADMIN);
      for (const { id } of [unreached, absent, failed, seen, frozen]) await cancelRequest(ctx, id, ADMIN.actor);
      assert.deepEqual(Object.keys(await admin.causes()), ["channel_failing"]);
    });

    it("is a call that began and has no known end, a question without answers, and a job without an executor", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const admin = await looker(world);
      const operator = await decider(world, OPERATOR);
      const { text } = await createKey(ctx, { name: "ana-bot", scope: "agent" });
      const headers = { authorization: `Bearer ${text}` };
      const spec = { fn: "issue_refund", kwargs: { order: "A-1007" } };
      const asked = await world.call("POST", "/a2h/v1alpha1/function_calls", {
        headers,
        body: { run_id: "r", call_id: "c", reports: "start", spec },
      });
      const { ask_id: id } = asked.body.status;
      assert.equal((await operator.decide(id, { approved: true })).status, 200);
      const begun = await world.call("POST", "/a2h/v1alpha1/agent/function_calls/c/claim", {
        headers,
        body: { run: "first" },
      });
      assert.equal(begun.status, 200, begun.text);
      const question = await world.agent("asker").ask({ timeout_seconds: 86_400 });
      const executor = await createKey(ctx, { name: "ci", scope: "assign" });
      const job = await world.call("POST", "/jobs", {
        headers: { authorization: `Bearer ${executor.text}` },
        body: { kind: "build", spec: { title: "Build the site" } },
      });
      assert.equal(job.status, 201, job.text);
      assert.deepEqual([(await admin.report()).running, await admin.causes()], [1, {}]);

      await world.advance(61 * MINUTE);
      await until(async () => (await admin.causes())["outcome_unknown"] !== undefined);
      const causes = await admin.causes();
      const shown = (cause: string) => causes[cause]?.items.map((one) => [one.kind, one.id, one.agent]);
      assert.deepEqual(shown("outcome_unknown"), [["request", id, "ana-bot"]]);
      assert.deepEqual(shown("question_unanswered"), [["question", question.id, "asker (without a key)"]]);
      assert.deepEqual(shown("job_unclaimed"), [["job", job.body.job_id, "ci"]]);
      assert.equal((await admin.report()).running, 0);
    });

    it("is asked again by a reminder, once a minute, which changes nothing else", async () => {
      const slack = providerOf("slack");
      await using world = await openWorld({ on, channels: [slack] });
      const { ctx } = world.server;
      const admin = await looker(world);
      const onSlack = [{ channel: "slack", target: { to: "U0SAM", settings: {} } }] as const;
      const sam = await enrol(ctx, "Sam Slack", onSlack, { identities: [{ kind: "slack", value: "U0SAM" }] });
      const ask = await askPeople(ctx, { audience: toPerson(sam), timeoutSeconds: 86_400 });
      await until(() => slack.sent.length === 1);

      const first = await admin.remind(ask.id);
      assert.deepEqual([first.status, first.body], [200, { told: 1 }], first.text);
      await until(() => slack.sent.length === 2);
      assert.match(JSON.stringify(slack.sent[1]), /still waits for you/);
      assert.deepEqual((await admin.remind(ask.id)).body, { told: 0 });
      await world.advance(MINUTE);
      assert.deepEqual((await admin.remind(ask.id)).body, { told: 1 });
      await until(() => slack.sent.length === 3);

      const { items } = await readAudit(ctx, { subjectId: ask.id, afterSeq: 0, limit: 100 });
      assert.equal(items.filter(({ action }) => action === "function_call.reminded").length, 2);
      await cancelRequest(ctx, ask.id, ADMIN.actor);
      assert.equal((await admin.remind(ask.id)).status, 409);
      assert.equal((await admin.remind("ask_nobody")).status, 404);
      assert.equal((await world.call("POST", `/admin/requests/${ask.id}/remind`)).status, 401);
    });
  });
}

describe("a mistake in the policy file", () => {
  it("is stuck with the words of the mistake", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const admin = await looker(world);
    writeFileSync(join(world.config.dataDir, "policy.yaml"), "version: 1\nrules: nonsense\n");
    await advanceUntil(world, SECOND, async () => (await admin.causes())["policy_stale"] !== undefined);
    assert.match((await admin.causes())["policy_stale"]?.items[0]?.error ?? "", /rules/);
  });
});
