import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { newAsk } from "../support/relay.ts";
import { enrol } from "../support/addressed.ts";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { ROOMY } from "../support/contract.ts";
import { noteRoutes, type Route } from "../support/reach.ts";

const SCOPES = ["agent", "executor", "assign", "admin", "answer"] as const;
type Scope = (typeof SCOPES)[number];

/** Every name by which a query says a number; what else a route reads as one is refused by the linter's rule. */
const NAMES = ["limit", "wait", "after", "offset", "cursor", "before", "before_seq", "after_seq", "attempt"];
/** The cursor of these lists is an id. At every other list it is a text of the server's own. */
const OPAQUE = [
  ...["/conversations", "/humanlayer/v1/conversations"].map((url) => `${url} after`),
  ...["/people/me/asks", "/people/me/asks/:id/run", "/people/me/conversations", "/people/me/conversations/:id"].map(
    (url) => `${url} before`,
  ),
  ...[
    "/agent/questions",
    "/human/questions",
    "/humanlayer/v1/webhook_endpoints",
    "/humanlayer/v1/webhook_endpoints/:id/deliveries",
    "/asks",
    "/jobs",
    "/jobs/:id/asks",
    "/assignment/tasks/:id/asks",
    "/assignment/:repo/tasks/:id/asks",
    "/asks/:id/shared_by",
    "/admin/activity",
    "/admin/asking_agents",
    "/admin/asks",
    "/admin/asks/:id/shared_by",
    "/admin/jobs",
    "/admin/jobs/:id/asks",
    "/admin/decisions",
    "/admin/policy/grants",
    "/admin/policy/proposals",
  ].map((url) => `${url} cursor`),
];

/** Values that are not numbers in a query string, although some language's number parser accepts most of them. */
const NO_NUMBERS = ["", "%205", "5%20", "%2B5", "-1", "0x10", "0b1", "1e3", "1_000", "9007199254740992", "1,2"].concat([
  "[]",
  "{}",
  "[1]",
  "true",
  "NaN",
  "Infinity",
  "%EF%BC%95",
  "99999999999999999999999",
]);

/** One of each kind, for every other place where the same reader is used. */
const FEW_NO_NUMBERS = ["", "%205", "-1", "0x10", "9007199254740992", "true"];

/** The same in JSON; integers may be spelled as any JSON number. */
const NO_INTEGERS = ["{}", "[]", "[1]", '"5"', '" 5"', '"0x10"', '""', "true", "1.5", "-1", "9007199254740992"].concat([
  "99999999999999999999999",
  "1e308",
]);

/** Where a number stands in a body, and who sends it. A `wait` may be text. */
const IN_BODIES: [scope: Scope, path: string, base: object, names: string[]][] = [
  [
    "agent",
    "/agent/questions",
    { prompt: "Which label is clearer?", type: "text", fallback_human: "1" },
    ["min_responses", "timeout_seconds", "fallback_after_seconds"],
  ],
  ["executor", "/jobs/claim", { worker_id: "w" }, ["lease_ttl_s", "wait"]],
  ["assign", "/jobs", { kind: "k" }, ["ttl_s", "max_attempts"]],
  ["admin", "/admin/keys", { name: "n", scope: "agent" }, ["expires_in_seconds"]],
];

/** Every route of the table that reads numbers of its query, and their names; `wait` is a duration. */
const READ_IN_QUERIES: Record<string, string> = {
  "/agent/questions": "limit",
  "/agent/questions/:id": "wait after",
  "/human/questions": "limit",
  "/human/leaderboard": "limit",
  "/humans": "limit cursor",
  "/humans/search": "limit cursor",
  "/conversations": "limit wait",
  "/humanlayer/v1/humans": "limit cursor",
  "/humanlayer/v1/humans/search": "limit cursor",
  "/humanlayer/v1/conversations": "limit wait",
  "/humanlayer/v1/agent/function_calls/pending": "limit offset",
  "/humanlayer/v1/agent/human_contacts/pending": "limit offset",
  "/humanlayer/v1/audit": "limit before_seq after_seq",
  "/humanlayer/v1/webhook_endpoints": "limit",
  "/humanlayer/v1/webhook_endpoints/:id/deliveries": "limit",
  "/people/me/asks/:id/run": "limit",
  "/asks": "limit",
  "/asks/:id/answer": "wait",
  "/jobs": "limit",
  "/jobs/:id/asks": "limit",
  "/jobs/:id/events": "after",
  "/asks/:id/late": "cursor",
  "/jobs/:id/history": "cursor",
  "/admin/jobs/:id/events": "after",
  "/admin/asks/:id/late": "cursor",
  "/admin/jobs/:id/history": "cursor",
  ...Object.fromEntries(
    ["/assignment", "/assignment/:repo"].flatMap((endpoint) => [
      ...[`${endpoint}/events`, `${endpoint}/tasks/:id/log`].map((url) => [url, "after"]),
      [`${endpoint}/tasks/:id/diff`, "attempt"],
    ]),
  ),
};
/** A route that is read, with a key that opens it. */
type Opened = { url: string; path: string; scope: Scope };

/** They are clamped there, as the contract of the crowd says, and so may lie below zero. */
const CLAMPED = ["/agent/questions", "/human/questions", "/human/leaderboard"];

describe("a number or a duration", () => {
  const routes = noteRoutes();
  let scene: AssignmentScene;
  const keys = {} as Record<Scope, string>;
  const ids: [pattern: RegExp, id: string][] = [];

  before(async () => {
    scene = await openAssignment("sqlite", {
      env: { ...ROOMY, PARLEY_RELAY_REQUESTS_PER_SECOND: "1000000", PARLEY_CROWD_PUBLIC: "true" },
    });
    const { world } = scene;
    const { ctx } = world.server;
    const person = await enrol(ctx, "Ana Ruiz");
    for (const scope of SCOPES) {
      const { text } = await createKey(ctx, { name: scope, scope, ...(scope === "answer" && { person }) });
      keys[scope] = text;
    }
    const made = async (scope: Scope, path: string, body: object) => {
      const reply = await send("POST", path, scope, { body: JSON.stringify(body) });
      assert.ok(reply.status >= 200 && reply.status < 300, `${path} ${reply.text}`);
      return JSON.parse(reply.text) as Record<string, string>;
    };
    const question = await made("agent", "/agent/questions", { prompt: "Which label is clearer?", type: "text" });
    const job = await made("executor", "/jobs", { job_id: "j", external: true });
    const ask = await made("executor", "/asks", newAsk({ job_id: "j" }));
    const hook = await made("agent", "/humanlayer/v1/webhook_endpoints", {
      url: "http://127.0.0.1:9/x",
      format: "v1beta1",
    });
    await scene.ana.submit("t");
    ids.push(
      [/^(\/(?:agent|human)\/questions\/):id/, question["question_id"] ?? ""],
      [/^(\/(?:admin\/)?jobs\/):id/, job["job_id"] ?? ""],
      [/^(\/(?:admin\/)?asks\/):id/, ask["ask_id"] ?? ""],
      [/(\/webhook_endpoints\/):id/, hook["id"] ?? ""],
      [/(\/humans\/):id/, "1"],
      [/^(\/assignment\/):repo/, "shop"],
      [/(\/tasks\/):id/, "t"],
    );
  });
  after(() => scene[Symbol.asyncDispose]());

  const pathOf = ({ url }: Route) => ids.reduce((path, [pattern, id]) => path.replace(pattern, `$1${id}`), url);

  /** Sends a request as it stands; of a stream no more than its head is read. */
  async function send(
    method: string,
    path: string,
    scope: Scope,
    { body, headers = {} }: { body?: string | undefined; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; text: string }> {
    const reply = await fetch(scene.world.url + path, {
      method,
      headers: {
        authorization: `Bearer ${keys[scope]}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      // Time stands still in this world. A request that waits because of a wrong number would wait for ever.
      signal: AbortSignal.timeout(60_000),
    });
    if (!reply.headers.get("content-type")?.startsWith("text/event-stream")) {
      return { status: reply.status, text: await reply.text() };
    }
    await reply.body?.cancel();
    return { status: reply.status, text: "" };
  }

  /** Returns the routes below one prefix that are read, each with a key that opens it. */
  const opened = () => (openedOnce ??= findOpened());
  let openedOnce: Promise<Opened[]> | undefined;

  async function findOpened(): Promise<Opened[]> {
    const found = [];
    for (const route of routes()) {
      // The third place at which the protocol for named people is served is the second once more.
      if (route.method !== "GET" || route.url.startsWith("/a2h/")) continue;
      const path = pathOf(route);
      const tried = [];
      for (const scope of SCOPES) {
        const { status } = await send("GET", `${path}?wait=0&q=ana`, scope);
        assert.ok(status < 500, `${route.url} ${status}`);
        if (status !== 401 && status !== 403) tried.push({ url: route.url, path, scope, status });
        if (status <= 204) break;
      }
      const best = tried.at(-1)?.status ?? 404;
      found.push(...(best <= 204 ? tried.slice(-1) : tried.slice(0, 1)));
    }
    return found;
  }

  const isRefused = (status: number) => status === 400 || status === 422;

  it("in a query is digits, once, at every route that reads one", async () => {
    const read: Record<string, string[]> = {};
    const seen = new Set<string>();
    for (const { url, path, scope } of await opened()) {
      const ask = (query: string) => send("GET", `${path}?q=ana&${query}`, scope);
      for (const name of NAMES) {
        const others = name === "wait" ? "" : "&wait=0";
        if (OPAQUE.includes(`${url} ${name}`) || !isRefused((await ask(`${name}=0x10${others}`)).status)) continue;
        (read[url] ??= []).push(name);
        const spellings = seen.has(name) ? FEW_NO_NUMBERS : NO_NUMBERS;
        seen.add(name);
        for (const value of [...spellings, `1&${name}=1`]) {
          // A wait is cut to the longest allowed, whatever its length. Nothing would end it in this test.
          if (name === "wait" && /^\d+$/.test(value)) continue;
          const { status } = await ask(`${name}=${value}${others}`);
          const isClamped = value === "-1" && name === "limit" && CLAMPED.includes(url);
          assert.ok(isClamped ? status === 200 : isRefused(status), `${url}?${name}=${value} is ${status}`);
        }
        const { status } = await ask(name === "wait" ? "wait=0" : `${name}=1&wait=0`);
        assert.ok(!isRefused(status), `${url}?${name}= of a number is ${status}`);
      }
    }
    const found = Object.fromEntries(Object.entries(read).map(([url, names]) => [url, names.join(" ")]));
    assert.deepEqual(found, READ_IN_QUERIES);
  });

  it("in a body is a JSON number, and never anything that only looks like one", async () => {
    for (const [scope, path, base, names] of IN_BODIES) {
      for (const name of names) {
        const body = (value: string) => `${JSON.stringify(base).slice(0, -1)},"${name}":${value}}`;
        for (const value of NO_INTEGERS) {
          // A duration may be text, and part of a second.
          if (name === "wait" && (value === '"5"' || value === "1.5")) continue;
          const { status, text } = await send("POST", path, scope, { body: body(value) });
          assert.ok(isRefused(status), `${path} ${name}: ${value} is ${status} ${text}`);
        }
      }
    }
  });

  it("is never a fault of the server's, whatever body or header it comes in, wherever it is sent", async () => {
    const names = [...new Set([...NAMES, ...IN_BODIES.flatMap(([, , , fields]) => fields)])];
    for (const route of routes()) {
      if (!["POST", "PUT", "PATCH"].includes(route.method) || route.url.startsWith("/a2h/")) continue;
      const tries = SCOPES.flatMap((scope) => ["{}", "9007199254740992"].map((value) => ({ scope, value })));
      await Promise.all(
        tries.map(async ({ scope, value }) => {
          const body = `{${names.map((name) => `"${name}":${value}`).join()}}`;
          const { status, text } = await send(route.method, pathOf(route), scope, { body });
          assert.ok(status < 500, `${route.method} ${route.url} ${value}: ${status} ${text}`);
        }),
      );
    }
    for (const { url, path, scope } of await opened()) {
      for (const event of ["0x10", "-1", "9007199254740992", "99999999999999999999", "1e3"]) {
        const { status } = await send("GET", `${path}?wait=0&q=ana`, scope, { headers: { "last-event-id": event } });
        assert.ok(!isRefused(status) && status < 500, `${url} after event ${event}: ${status}`);
      }
    }
  });
});
