import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findLiveAttempt } from "../../../src/tasks/store/attempts.ts";
import { findTask } from "../../../src/tasks/store/tasks.ts";
import { findRequest } from "../../../src/requests/store/requests.ts";
import { findJob } from "../../../src/asks/store/jobs.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { createKey } from "../../../src/access/create-key.ts";
import { enrollHuman } from "../../../src/access/enroll-human.ts";
import { postAsk } from "../../../src/asks/create/post-ask.ts";
import { retryTask } from "../../../src/tasks/submit.ts";
import { askForReviewIn } from "../../../src/tasks/ask-people.ts";
import { askPeople } from "../../support/addressed.ts";
import { sharedAssignment, type AssignmentScene } from "../../support/assignment.ts";
import { tool } from "../../support/mcp.ts";
import { DATABASES, type World } from "../../support/world.ts";

/** More than any page holds. */
const MANY = 230;
const A2H = "/a2h/v1alpha1";
const BY = { kind: "admin", id: "operator" } as const;
const UNREACHED = { description: "", title: null, channels: [], seesAll: false } as const;
const SETTINGS = `
relay: { pending_per_job: 1000, pending_per_agent: 1000 }
`;

/** Numbers that read in their order. */
const each = (n = MANY): string[] => Array.from({ length: n }, (_, i) => String(1000 + i));

/** Reads a list to its end by what each page says of the next, and returns its rows and how many pages there were. */
async function walk(
  call: (path: string) => Promise<{ status: number; text: string; body: Record<string, unknown> }>,
  path: string,
  member: string,
): Promise<{ rows: Record<string, unknown>[]; pages: number }> {
  const rows: Record<string, unknown>[] = [];
  for (let pages = 1, at = path; ; pages += 1) {
    const reply = await call(at);
    assert.equal(reply.status, 200, reply.text);
    rows.push(...(reply.body[member] as Record<string, unknown>[]));
    const next = reply.body["next"] ?? reply.body["next_cursor"] ?? reply.body["nextCursor"] ?? null;
    if (next === null) return { rows, pages };
    assert.ok(pages < 50, `${path} has an end`);
    const [place = "", query] = path.split("?");
    const wanted = new URLSearchParams(query);
    wanted.set("cursor", String(next));
    at = `${place}?${wanted.toString()}`;
  }
}

async function adminOf({ server: { ctx }, call }: World) {
  const { text } = await createKey(ctx, { name: "lists", scope: "admin" });
  return (path: string) => call("GET", path, { headers: { authorization: `Bearer ${text}` } });
}

/** Asks as a step of an attempt's work, and by its agent's own tools. */
async function askedBy(
  { world: { server } }: AssignmentScene,
  attempt: number,
  count: number,
  { byTools = true } = {},
): Promise<string[]> {
  const { ctx } = server;
  const ids: string[] = [];
  for (const i of each(count)) {
    const { held } = await postAsk(ctx, {
      jobId: `aa-job-${attempt}`,
      stepId: `step-${i}`,
      type: "CLARIFICATION",
      prompt: `Step ${i}?`,
      contextHash: "none",
      envelope: null,
      constraints: { timeoutS: 604_800 },
      roleId: null,
      meta: {},
      principal: "agent:attempt",
      bodyHash: i,
      warnings: [],
      mismatch: false,
    });
    ids.push(held.ask.id);
    if (byTools)
      ids.push((await askPeople(ctx, { asker: `agent:attempt-${attempt}`, ref: `call:${attempt}-${i}` })).id);
  }
  return ids;
}

for (const on of DATABASES) {
  describe(`lists that are longer than a page, on ${on}`, () => {
    const shared = sharedAssignment(on, { settings: SETTINGS });

    it("end with everything that was allowed for good, and every rule that was proposed", async () => {
      const { world } = shared();
      const { ctx } = world.server;
      for (const i of each()) {
        const over = Number(i) % 3 === 0;
        const rule = JSON.stringify({
          id: `learned-${i}`,
          when: { action: `a${i}` },
          decision: "ALLOW",
          reason: "Why",
        });
        await transact(ctx, async (tx) => {
          await tx.all(sql`INSERT INTO policy_grants (grant_id, class_key, action, resource, env, ask_id, made_by,
              created_at, expires_at, uses) VALUES (${`grant_${i}`}, ${i}, 'deploy', ${i}, 'dev', 'ask_1', 'operator',
              parley_now(), parley_now() + ${over ? 0 : 86_400_000}, 0)`);
          await tx.all(sql`INSERT INTO policy_proposals (proposal_id, class_key, rule, state, approvals, created_at)
            VALUES (${`proposal_${i}`}, ${i}, ${rule}, ${over ? "dismissed" : "accepted"}, 3, parley_now())`);
        });
      }
      const admin = await adminOf(world);
      const idsOf = async (path: string, member: string) => {
        const { rows, pages } = await walk(admin, path, member);
        assert.ok(pages > 1, path);
        return rows.map(({ id }) => String(id).replace(/^\w+_/, ""));
      };
      const [all, over] = [each().toReversed(), (i: string) => Number(i) % 3 === 0];
      assert.deepEqual(await idsOf("/admin/policy/grants", "grants"), all);
      assert.deepEqual(
        await idsOf("/admin/policy/grants?live=true", "grants"),
        all.filter((i) => !over(i)),
      );
      assert.deepEqual(await idsOf("/admin/policy/grants?live=false", "grants"), all.filter(over));
      assert.deepEqual(await idsOf("/admin/policy/proposals", "proposals"), all);
      assert.deepEqual(await idsOf("/admin/policy/proposals?state=dismissed", "proposals"), all.filter(over));

      const { body } = await admin("/admin/policy");
      assert.deepEqual([body.grants.length, body.proposals.length], [50, 50]);
      const rest = await walk(admin, `/admin/policy/grants?cursor=${body.grants_next}`, "grants");
      assert.deepEqual(
        [...body.grants, ...rest.rows].map(({ id }: { id: string }) => id),
        all.map((i) => `grant_${i}`),
      );
      assert.notEqual(body.proposals_next, null);
      for (const bad of ["grants?cursor=x", "proposals?cursor=1_..", "grants?live=maybe", "proposals?state=odd"]) {
        assert.equal((await admin(`/admin/policy/${bad}`)).status, 400, bad);
      }
    });

    it("end with everything that the agents of a task asked, by its steps and by their tools, and all that happened", async () => {
      const scene = shared();
      const { ana, runner, world } = scene;
      const { ctx } = world.server;
      await ana.submit("long");
      assert.equal(await runner.start(), "long");
      const first = await askedBy(scene, 1, MANY);
      await runner.fail("shop", "long");
      await retryTask(ctx, { repo: "shop", id: "long" }, { by: BY, principal: "agent:ana-cards" });
      assert.equal(await runner.start(), "long");
      const second = await askedBy(scene, 2, 3);

      const admin = await adminOf(world);
      const call = (path: string) => ana.call("GET", path);
      const path = "/assignment/tasks/long";
      const told = await walk(call, `${path}/asks`, "asks");
      assert.equal(told.pages, Math.ceil((first.length + second.length) / 200));
      const ids = told.rows.map(({ askId }) => String(askId));
      assert.deepEqual([...ids].sort(), [...first, ...second].sort());
      assert.deepEqual(ids.slice(first.length).sort(), [...second].sort(), "attempt by attempt");
      const whole = (await call(path)).body;
      const rest = await walk(call, `${path}/asks?cursor=${whole.asksNext}`, "asks");
      assert.deepEqual(
        [...whole.asks, ...rest.rows].map(({ askId }) => askId),
        ids,
      );
      for (const bad of ["x", "1.x_y", "0.1_a", "1.1_%20"]) {
        assert.equal((await call(`${path}/asks?cursor=${bad}`)).status, 400, bad);
      }
      assert.equal((await call(`${path}er/asks`)).status, 404);

      const { seq } = (await findJob(ctx.db, "aa-job-1")) ?? assert.fail("it has a job");
      assert.ok(seq > MANY);
      const { rows } = await walk(admin, "/admin/jobs/aa-job-1/history", "events");
      assert.deepEqual(
        rows.map((one) => one["seq"]),
        Array.from({ length: seq }, (_, i) => seq - i),
      );
      const created = rows.filter((one) => (one["data"] as { event?: string }).event === "ask.created");
      assert.equal(created.length, MANY);
      const asks = await walk(admin, "/admin/jobs/aa-job-1/asks", "asks");
      assert.equal(asks.rows.length, MANY);
    });

    it("tell the review of everything that was asked on the way", async () => {
      const scene = shared();
      const { ana, runner, world } = scene;
      await ana.submit("asker");
      assert.equal(await runner.start(), "asker");
      const { rows } = await walk((path) => ana.call("GET", path), "/assignment/tasks/asker/asks", "asks");
      assert.deepEqual(rows, []);
      const { ctx } = world.server;
      const first = await askPeople(ctx, { asker: "agent:attempt-3", title: "The first one" });
      const words = await transact(ctx, async (tx) => {
        await tx.all(sql`INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, audience,
            digest, state, version, created_at, expires_at, wire, kind)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
          SELECT ask_id || '_' || (10000 + i), door, asker, ref || i, same_hash, 'Number ' || i, words, form, audience,
            digest, state, version, created_at, expires_at, wire, kind FROM requests, n WHERE ask_id = ${first.id}`);
        const task = (await findTask(tx, "shop", "asker")) ?? assert.fail("there is the task");
        const attempt = (await findLiveAttempt(tx, "shop", "asker")) ?? assert.fail("it is worked on");
        const facts = {
          changed: false,
          diffstat: { files: 0, insertions: 0, deletions: 0 },
          files: "",
          branch: null,
          ref: "refs/aa/asker/1",
          warnings: [],
        };
        const id = await askForReviewIn(ctx, tx, task, { attempt, facts });
        return (await findRequest(tx, id))?.request.words ?? "";
      });
      assert.match(words, /- Number 1200: nobody has answered\nand 1181 before$/m);
      await runner.fail("shop", "asker");
    });

    it("end with everything that came too late for an ask, and every ask that shares its answer", async () => {
      const scene = shared();
      const { ana, runner, world } = scene;
      const { ctx } = world.server;
      await ana.submit("late");
      assert.equal(await runner.start(), "late");
      const ids = await askedBy(scene, 4, MANY, { byTools: false });
      const [one = "", ...others] = ids;
      await transact(ctx, async (tx) => {
        await tx.all(sql`UPDATE asks SET joined_to = ${one} WHERE job_id = 'aa-job-4' AND ask_id <> ${one}`);
        for (const i of each()) {
          await tx.all(sql`INSERT INTO late_answers (ask_id, principal, status, answer_text, at)
            VALUES (${one}, 'answer:svc', 'ANSWERED', ${i}, parley_now())`);
        }
      });
      const admin = await adminOf(world);
      const late = await walk(admin, `/admin/asks/${one}/late`, "late");
      assert.deepEqual(
        late.rows.map(({ text }) => text),
        each(),
      );
      const shared_by = await walk(admin, `/admin/asks/${one}/shared_by`, "shared_by");
      assert.deepEqual([...shared_by.rows].sort(), [...others].sort());
      const { body } = await admin(`/admin/asks/${one}`);
      const rest = await walk(admin, `/admin/asks/${one}/late?cursor=${body.late_next}`, "late");
      assert.equal(body.late.length + rest.rows.length, MANY);
      const sharing = await walk(admin, `/admin/asks/${one}/shared_by?cursor=${body.shared_by_next}`, "shared_by");
      assert.equal(body.shared_by.length + sharing.rows.length, others.length);
      for (const bad of ["late?cursor=0", "late?cursor=x", "shared_by?cursor=x"]) {
        assert.equal((await admin(`/admin/asks/${one}/${bad}`)).status, 400, bad);
      }
      for (const path of ["asks/nope/late", "asks/nope/shared_by", "jobs/nope/history"]) {
        assert.equal((await admin(`/admin/${path}`)).status, 404, path);
      }
    });

    it("end with every human whose name holds a word, at every door, and find the one who is called just so", async () => {
      const { world } = shared();
      const { ctx } = world.server;
      for (const i of each()) {
        await enrollHuman(ctx, { name: `Mara Vale ${i}`, ...UNREACHED }, BY);
      }
      const last = await enrollHuman(ctx, { name: "Mara Vale", ...UNREACHED }, BY);
      const admin = await adminOf(world);
      const { rows, pages } = await walk(admin, `${A2H}/humans/search?q=mara`, "humans");
      assert.deepEqual([rows.length, pages], [MANY + 1, 3]);
      assert.equal(rows.at(-1)?.["id"], String(last.number));
      const headers = await agentHeaders(world);
      const found: unknown[] = [];
      for (let cursor: string | null = null; ;) {
        const given = { query: "mara", limit: 50, ...(cursor !== null && { cursor }) };
        const said = await tool(world, "list_humans", given, { headers });
        const page = said.structuredContent as { humans: unknown[]; next_cursor: string | null };
        found.push(...page.humans);
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      assert.equal(found.length, MANY + 1);
    });

    it("end with every place where agents are told how their requests end", async () => {
      const { world } = shared();
      const { ctx } = world.server;
      await transact(ctx, async (tx) => {
        for (const i of each()) {
          await tx.all(sql`INSERT INTO webhook_endpoints (endpoint_id, agent, url, format, events, description, enabled,
              secrets, created_at) VALUES (${`whe_${i}`}, ${`agent:bot-${Number(i) % 2}`}, 'https://bot.example/hook',
              'a2h', '[]', '', 1, '[]', parley_now())`);
        }
      });
      const admin = await adminOf(world);
      const idsOf = (rows: Record<string, unknown>[]) => rows.map(({ id }) => String(id).replace("whe_", ""));
      const all = await walk(admin, `${A2H}/webhook_endpoints`, "items");
      assert.deepEqual([idsOf(all.rows), all.pages], [each(), 3]);
      const some = await walk(admin, `${A2H}/webhook_endpoints?agent=bot-1&limit=7`, "items");
      assert.deepEqual(
        idsOf(some.rows),
        each().filter((i) => Number(i) % 2 === 1),
      );
      for (const bad of ["cursor=x", "cursor=1.%20", "limit=0", "limit=201"]) {
        assert.equal((await admin(`${A2H}/webhook_endpoints?${bad}`)).status, 422, bad);
      }
    });

    it("say where the next page begins, wherever the reference shows a list", async () => {
      const { world } = shared();
      const { paths, components } = (await world.call("GET", "/openapi.json")).body;
      const ended: string[] = [];
      for (const [path, methods] of Object.entries(paths as Record<string, Record<string, Documented>>)) {
        const { $ref = "" } = methods["get"]?.responses["200"]?.content?.["application/json"]?.schema ?? {};
        const { properties = {} } = (components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}) as Shape;
        const lists = Object.entries(properties).filter(([, { type }]) => type === "array");
        const isPaged = Object.keys(properties).some((name) =>
          /^(next|next_cursor|nextCursor|asksNext|has_more)$|_next$/.test(name),
        );
        if (lists.length > 0 && !isPaged) ended.push(path);
      }
      assert.deepEqual(ended.sort(), WHOLE);
    });
  });
}

interface Documented {
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>;
}

interface Shape {
  properties?: Record<string, { type?: string }>;
}

/** Lists that are always there whole. */
const WHOLE: readonly string[] = [
  "/.well-known/jwks.json",
  // The operator's file has them.
  "/a2h/v1alpha1/groups",
  // At most 200.
  "/a2h/v1alpha1/plans/{id}",
  "/a2h/v1alpha1/webhook_endpoints/{id}",
  // One bar for each step of the span.
  "/admin/activity/hours",
  // The list is that of the protocol's board.
  // One row for each agent of the registry.
  "/admin/agents",
  "/admin/assignments",
  "/admin/channels",
  // Every promise is listed. Each says that not all its violations are named.
  "/admin/health",
  "/admin/keys",
  "/admin/people",
  "/admin/policy/file",
  // At most 20 of each cause, and how many there are.
  "/admin/stuck",
  // The lists of a question have limits of their own.
  "/agent/questions/{id}",
  // The first so many, as the request asks, and the caller.
  "/asks/{id}/answer",
  // The board shows every task, which its protocol says; what is reviewed is asked for again once it is settled.
  "/assignment",
  "/assignment/{repo}",
  "/assignment/{repo}/reviewed",
  // At most one of each agent and person.
  "/freezes",
  "/human/leaderboard",
  "/human/questions/{id}",
  "/human/questions/{id}/results",
  "/human/stats",
  // One request: its options, recipients and decisions.
  "/people/me/asks/{id}",
  // At most three.
  "/people/me/asks/{id}/alike",
  "/people/me/asks/{id}/precedents",
  // Those who may decide it.
  "/people/me/asks/{id}/receivers",
  // At most 200.
  "/people/me/batches/{id}",
  // Those of a group, and who sees all.
  "/people/me/stand-ins",
];

async function agentHeaders({ server: { ctx } }: World): Promise<Record<string, string>> {
  const { text } = await createKey(ctx, { name: "lister", scope: "agent" });
  return { authorization: `Bearer ${text}` };
}
