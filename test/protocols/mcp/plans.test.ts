import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { consentText } from "../../../src/requests/model/consent.ts";
import { begun, fresh, HOUR, ROOMY, sharedWorld, until, wireNow } from "../../support/contract.ts";
import { decider, somebody } from "../../support/deciders.ts";
import { modern, TASKS, tool } from "../../support/mcp.ts";
import { DATABASES } from "../../support/world.ts";

const WAIT = "wait_for_human_responses";
const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const NO_WAIT = { max_wait_seconds: 0 };
const pay = (amount: number) => ({ fn: "pay_out", kwargs: { amount } });
const CALLS = [pay(1), pay(2)];
const TABLE = { kind: "table", columns: ["a"], rows: [] };
const MANY = Array.from({ length: 501 }, () => ["1"]);
const EVIDENCE = [
  { kind: "markdown", text: "The bills are in." },
  { kind: "diff", text: "-a\n+b" },
  { kind: "table", title: "Bills", columns: ["who", "amount"], rows: [["Bo", "1"]] },
  { kind: "link", url: "https://example.com/bills" },
  { kind: "image", media_type: "image/png", data: PNG },
];

for (const on of DATABASES) {
  describe(`plans by a tool on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    /** A person, and an agent that asks that person about the calls. */
    async function scene() {
      const jane = await somebody(world());
      const { text: key } = await createKey(world().server.ctx, { name: fresh("bot"), scope: "agent" });
      const headers = { authorization: `Bearer ${key}` };
      const call = async (name: string, args: object, more: Record<string, string> = {}) =>
        tool(world(), name, args, { headers: { ...headers, ...more } });
      const asks = (more: object = {}) =>
        call("request_approval", { calls: CALLS, title: "Pay the suppliers", to: jane.number, ...NO_WAIT, ...more });
      const uses = async (id: string, more = {}) => call("use_approved_call", { call_id: id }, more);
      return { jane, headers, call, asks, uses };
    }
    const codeOf = ({ isError, structuredContent: { error } }: Awaited<ReturnType<typeof tool>>) => [
      isError,
      error.code,
      error.details.reason,
    ];

    it("are one request with its evidence, whose calls are used each once and in order", async () => {
      const { jane, call, asks, uses } = await scene();
      const { structuredContent: asked } = await asks({ evidence: EVIDENCE, reason: "It is Friday." });
      const { plan_id: id, consent_digest: digest, ...pending } = asked;
      assert.match(id, /^plan_[0-9A-Za-z]{22}$/);
      const calls = [1, 2].map((n) => ({ call_id: `${id}.${n}`, fn: "pay_out" }));
      assert.deepEqual(pending, {
        kind: "plan",
        status: "pending",
        approved: null,
        expired: false,
        expires_at: wireNow(world(), HOUR),
        calls: calls.map((one) => ({ ...one, approved: null })),
        settled: false,
        waited_seconds: 0,
        next: { tool: WAIT, arguments: { question_id: id } },
      });
      const [line, ...others] = await jane.inbox();
      assert.deepEqual([line?.title, others], ["Pay the suppliers", []]);
      const shown = (await jane.whole(line?.id ?? "")).body;
      assert.deepEqual([shown.words, shown.digest], ["It is Friday.", digest]);
      const image = sha256Digest(Buffer.from(PNG, "base64"));
      const evidence = [...EVIDENCE.slice(0, 4), { kind: "image", media_type: "image/png", digest: image }];
      const text = JSON.stringify({ calls: CALLS, evidence, title: "Pay the suppliers" });
      assert.equal(digest, sha256Digest(consentText("plan", canonical(text))));
      assert.deepEqual(codeOf(await uses(`${id}.1`)), [true, "NOT_IN_PLAN", "not_approved"]);

      const waiting = call(WAIT, { question_id: id });
      await jane.decides({ approved: true, comment: "Go on" });
      const { structuredContent: over, content } = await waiting;
      assert.deepEqual(
        over.calls,
        calls.map((one) => ({ ...one, approved: true, comment: "Go on" })),
      );
      assert.deepEqual(
        [over.status, over.approved, over.approved_calls, over.comment, over.decided_by, over.consent_digest],
        ["approved", true, 2, "Go on", { kind: "person", id: jane.number, name: jane.name }, digest],
      );
      assert.match(content[1].text, /take it with use_approved_call.*not instructions/);

      const early = await uses(`${id}.2`);
      assert.deepEqual(codeOf(early), [true, "NOT_IN_PLAN", "order"]);
      assert.equal(early.structuredContent.error.details.expected_call_id, `${id}.1`);
      const lost = { "idempotency-key": fresh("message") };
      const first = await uses(`${id}.1`, lost);
      const { consent_digest: used, ...rest } = first.structuredContent;
      assert.deepEqual(rest, { plan_id: id, call_id: `${id}.1`, ord: 1, ...pay(1), used_at: wireNow(world()) });
      assert.equal(used, sha256Digest(consentText("pay_out", '{"amount":1}')));
      assert.deepEqual(await uses(`${id}.1`, lost), first);
      assert.equal((await uses(`${id}.2`, lost)).structuredContent.error.code, "IDEMPOTENCY_MISMATCH");
      assert.deepEqual(codeOf(await uses(`${id}.1`)), [true, "NOT_IN_PLAN", "spent"]);
      const taken = await Promise.all([1, 2, 3].map(() => uses(`${id}.2`)));
      assert.equal(taken.filter(({ isError }) => !isError).length, 1);
    });

    it("say which calls were taken out, and why", async () => {
      const { jane, call, asks, uses } = await scene();
      const { plan_id: id } = (await asks()).structuredContent;
      await jane.decides({ approved: true, approved_calls: 1, comment: "One is enough" });
      const { structuredContent: over } = await call("check_human_responses", { question_id: id });
      assert.deepEqual(
        over.calls.map(({ approved, comment }: { approved: boolean; comment: string }) => [approved, comment]),
        [
          [true, "One is enough"],
          [false, "It was taken out of the plan: One is enough"],
        ],
      );
      assert.equal((await uses(`${id}.1`)).structuredContent.ord, 1);
      assert.deepEqual(codeOf(await uses(`${id}.2`)), [true, "NOT_IN_PLAN", "not_approved"]);
    });

    it("are read call by call, which decides no call alone, and withdrawn as a whole", async () => {
      const { jane, headers, call, asks } = await scene();
      const { plan_id: id } = (await asks()).structuredContent;
      const read = (await call("check_human_responses", { question_id: `${id}.2` })).structuredContent;
      assert.deepEqual([read.call_id, read.kind, read.approved], [`${id}.2`, "approval", null]);
      assert.equal((await jane.inbox()).length, 1);
      const seen = await world().call("GET", `/mcp/requests/${id}`, { headers });
      assert.deepEqual(seen.body.asked, { calls: CALLS, evidence: [], title: "Pay the suppliers" });
      const a2h = (await world().call("GET", `/a2h/v1alpha1/plans/${id}`, { headers })).body;
      assert.deepEqual([a2h.run_id, a2h.spec], ["mcp", { title: "Pay the suppliers" }]);
      const respond = `/a2h/v1alpha1/agent/function_calls/${id}.1/respond`;
      assert.equal((await world().call("POST", respond, { headers, body: { approved: true } })).status, 403);
      assert.equal((await world().call("DELETE", `/mcp/requests/${id}.1`, { headers })).status, 200);
      assert.equal((await call(WAIT, { question_id: id })).structuredContent.status, "cancelled");
      assert.deepEqual(await jane.inbox(), []);
      for (const handle of [id, `${id}.1`, `${id}.3`]) {
        const { structuredContent } = await tool(world(), WAIT, { question_id: handle });
        assert.equal(structuredContent.error.code, "QUESTION_NOT_FOUND");
      }
    });

    it("that were made by A2H are used there, and those of a tool are used there too", async () => {
      const { jane, headers, call, asks } = await scene();
      const calls = CALLS.map((spec) => ({ spec }));
      const body = { plan_id: `plan_${fresh("a").replaceAll(/\W/g, "")}`, calls };
      const made = await world().call("POST", "/a2h/v1alpha1/plans", { headers, body });
      assert.equal(made.status, 201, made.text);
      const { structuredContent } = await call(WAIT, { question_id: made.body.plan_id });
      assert.equal(structuredContent.error.code, "QUESTION_NOT_FOUND");
      const { plan_id: id } = (await asks()).structuredContent;
      await jane.decides({ approved: true });
      const use = { headers, body: { call_id: `${id}.1`, run: "r" } };
      const used = await world().call("POST", `/a2h/v1alpha1/plans/${id}/uses`, use);
      assert.deepEqual([used.status, used.body.ord], [200, 1], used.text);
    });

    it("are the same when they are asked again, until their outcome was told, or for a day by their key", async () => {
      const { jane, asks } = await scene();
      const planOf = async (more: object = {}) => (await asks(more)).structuredContent;
      const many = await Promise.all(Array.from({ length: 8 }, () => planOf()));
      const [first] = many;
      assert.equal(new Set(many.map(({ plan_id: id }) => id)).size, 1);
      assert.equal((await jane.inbox()).length, 1);
      assert.notEqual((await planOf({ calls: [pay(2), pay(1)] })).plan_id, first.plan_id);
      for (let i = 0; i < 2; i += 1) await jane.decides({ approved: true });
      const told = await planOf();
      assert.deepEqual([told.plan_id, told.approved], [first.plan_id, true]);
      const anew = await planOf();
      assert.deepEqual([anew.status, anew.plan_id === first.plan_id], ["pending", false]);
      await jane.decides({ approved: false });

      const key = { idempotency_key: fresh("key") };
      const { plan_id: id } = await planOf(key);
      await jane.decides({ approved: true });
      for (let i = 0; i < 2; i += 1) assert.equal((await planOf(key)).plan_id, id);
      for (const more of [{ title: "Other" }, { evidence: EVIDENCE }, { calls: [pay(1)] }]) {
        assert.equal((await planOf({ ...key, ...more })).error.code, "IDEMPOTENCY_MISMATCH");
      }
    });

    it("keep every digit and every null of their arguments", async () => {
      const { headers, call } = await scene();
      const operator = await decider(world(), "1");
      const text = '{"calls":[{"fn":"ban","kwargs":{"user":1152921504606846977,"note":null}}],"max_wait_seconds":0}';
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"request_approval","arguments":${text}}}`;
      const json = { ...headers, "content-type": "application/json" };
      const { result } = (await world().call("POST", "/mcp", { body, headers: json })).body;
      const { plan_id: id, title } = result.structuredContent;
      assert.equal(title, undefined);
      await operator.decides({ approved: true });
      const { content } = await call("use_approved_call", { call_id: `${id}.1` });
      assert.ok(content[0].text.includes('"kwargs":{"note":null,"user":1152921504606846977}'), content[0].text);
    });

    it("are rejected by silence, and are not used after their time", async () => {
      const { jane, call, asks, uses } = await scene();
      const { plan_id: silent } = (await asks({ timeout_seconds: 60 })).structuredContent;
      const { plan_id: late } = (await asks({ timeout_seconds: 60, title: "Later" })).structuredContent;
      const lines = await jane.inbox();
      const { id = "" } = lines.find(({ title }) => title === "Later") ?? {};
      assert.equal((await jane.decide(id, { approved: true })).status, 200);
      await world().advance(60_000);
      const { structuredContent: over, content } = await call(WAIT, { question_id: silent });
      assert.deepEqual([over.status, over.expired, over.calls[1].approved], ["expired", true, false]);
      assert.match(content[1].text, /do not run it/);
      for (const plan of [silent, late]) {
        assert.deepEqual(codeOf(await uses(`${plan}.1`)), [true, "NOT_IN_PLAN", "expired"]);
      }
    });

    it("become tasks, and their calls are waited for by tasks of their own", async () => {
      const { jane, headers, asks } = await scene();
      const args = { calls: CALLS, title: "Pay", to: jane.number };
      const sent = { capabilities: TASKS, headers };
      await world().advance(1);
      const reply = modern(world(), "tools/call", { name: "request_approval", arguments: args }, sent);
      await begun(world(), 2000);
      await world().advance(2000);
      const { taskId, status } = (await reply).body.result;
      assert.equal(status, "working");
      const task = async () => (await modern(world(), "tasks/get", { taskId }, sent)).body.result;
      const [line] = await jane.inbox();
      await jane.decides({ approved: true });
      const over = await until(async () => ((await task()).status === "completed" ? task() : undefined));
      const { kind, calls } = over.result.structuredContent;
      assert.deepEqual([kind, calls.length, line?.title], ["plan", 2, "Pay"]);

      const { plan_id: id } = (await asks()).structuredContent;
      const [open] = await jane.inbox();
      await world().advance(1);
      const waiting = modern(world(), "tools/call", { name: WAIT, arguments: { question_id: `${id}.1` } }, sent);
      await begun(world(), 2000);
      await world().advance(2000);
      await modern(world(), "tasks/cancel", { taskId: (await waiting).body.result.taskId }, sent);
      assert.equal((await jane.whole(open?.id ?? "")).body.state, "open", "a wait of one call is not the plan");
    });

    it("tell mistakes as results", async () => {
      const { call } = await scene();
      const calls = CALLS;
      const cases: [args: object, field: string, says: RegExp][] = [
        [{}, "fn", /^give fn and kwargs, or calls$/],
        [{ calls, fn: "pay_out" }, "fn", /exclude each other/],
        [{ calls, kwargs: {} }, "kwargs", /exclude each other/],
        [{ calls, reject_options: [] }, "reject_options", /exclude each other/],
        [{ ...pay(1), title: "Pay" }, "title", /goes with calls/],
        [{ ...pay(1), evidence: [] }, "evidence", /goes with calls/],
        [{ calls: [] }, "calls", /1 to 200 items/],
        [{ calls: Array.from({ length: 201 }, () => pay(1)) }, "calls", /1 to 200 items/],
        [{ calls: [{ fn: "x" }] }, "calls[0].kwargs", /is required/],
        [{ calls, title: "a\nb" }, "title", /control/],
        [{ calls, evidence: [{ kind: "video" }] }, "evidence[0].kind", /markdown, diff, table, link or image/],
        [{ calls, evidence: [{ kind: "link", url: "file:///x" }] }, "evidence[0].url", /http or https/],
        [
          { calls, evidence: [{ kind: "image", media_type: "image/png", data: "eA==" }] },
          "evidence[0].data",
          /image\/png/,
        ],
        [
          { calls, evidence: [{ kind: "table", columns: ["a"], rows: [["1", "2"]] }] },
          "evidence[0].rows[0]",
          /1 cells/,
        ],
        [{ calls, evidence: [{ ...TABLE, columns: [] }] }, "evidence[0].columns", /must hold 1 or more items$/],
        [{ calls, evidence: [{ ...TABLE, rows: MANY }] }, "evidence[0].rows", /may hold at most 500 items$/],
        [{ calls, evidence: Array.from({ length: 21 }, () => EVIDENCE[0]) }, "evidence", /0 to 20 items/],
      ];
      for (const [args, field, says] of cases) {
        const { structuredContent, isError } = await call("request_approval", args);
        const { code, message, details } = structuredContent.error ?? {};
        assert.deepEqual([isError, code, details?.field], [true, "VALIDATION_ERROR", field], JSON.stringify(args));
        assert.match(message, says);
      }
      const single = await call("request_approval", { ...pay(1), ...NO_WAIT });
      const no = await call("use_approved_call", { call_id: single.structuredContent.call_id });
      assert.deepEqual(codeOf(no), [true, "NOT_IN_PLAN", "no_plan"]);
      const unknown = await call("use_approved_call", { call_id: "plan_0000000000000000000000.1" });
      assert.equal(unknown.structuredContent.error.code, "QUESTION_NOT_FOUND");
    });
  });
}

/** Sorts the names of this text as RFC 8785 does; it holds plain texts and numbers only. */
function canonical(text: string): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, one]) => [name, sorted(one)]),
    );
  };
  return JSON.stringify(sorted(JSON.parse(text)));
}
