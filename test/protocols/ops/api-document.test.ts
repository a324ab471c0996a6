import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Validator } from "@cfworker/json-schema";
import { createKey } from "../../../src/access/create-key.ts";
import { openScene, type Scene } from "../../support/a2h.ts";
import { fresh } from "../../support/contract.ts";
import { noteRoutes, type Route } from "../../support/reach.ts";

/** Pages and what belongs to them: nothing that a program would call. */
const FOR_BROWSERS = [
  /^\/(?:|index\.html|q\/:id|me|leaderboard|inbox(?:\/:id)?|console(?:\/\*)?|embed\/.*|sw\.js|theme\.js|manifest\.webmanifest)$/,
  /^\/(?:icons|assets|docs|r)(?:\/|$)/,
];
/** Inbound messages of providers, in their own formats, to the configured channels. */
const FROM_PROVIDERS = /^\/hooks\//;
/** Refuses what the address of a task has no route for. */
const REST = /^\/assignment\/\*$/;

interface Described {
  operationId?: string;
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { schema?: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema?: object }> }>;
}
interface ApiDocument {
  servers: { url: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, object> };
}

const routesOfServer = noteRoutes();

describe("the document of the API", () => {
  let scene: Scene;
  let document: ApiDocument;
  let routes: Route[];
  before(async () => {
    scene = await openScene("sqlite", { env: { PARLEY_PUBLIC_URL: "https://ask.example.com" } });
    document = (await scene.world.call("GET", "/openapi.json")).body as ApiDocument;
    routes = routesOfServer();
  });
  after(() => scene[Symbol.asyncDispose]());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => ({ name: `${method.toUpperCase()} ${path}`, path, route })),
    );

  it("has every route of the server's own table, apart from pages", () => {
    const documented = new Set(operations().flatMap(({ name, path }) => [name, path]));
    const pathOf = ({ url }: Route) => url.replaceAll(/:(\w+)(?:\([^)]*\))?/g, "{$1}").replace(/\*$/, "{path}");
    // HumanLayer's clients find the protocol below another address too, and its families at the root. There the rest of
    // it only says what the base address is, whatever the method.
    const isDocumented = (route: Route) => {
      const path = pathOf(route);
      const below = `/a2h/v1alpha1${path.replace("/humanlayer/v1", "")}`;
      return [`${route.method} ${path}`, `${route.method} ${below}`, below].some((name) => documented.has(name));
    };
    const isForPrograms = ({ method, url }: Route) =>
      method !== "HEAD" && ![...FOR_BROWSERS, FROM_PROVIDERS, REST].some((pattern) => pattern.test(url));
    const programs = routes.filter(isForPrograms);
    assert.ok(programs.length > 200);
    assert.deepEqual(
      programs.filter((route) => !isDocumented(route)),
      [],
    );
  });

  it("names every route once, in letters that any language takes", () => {
    const names = operations().map(({ route }) => route.operationId ?? "");
    assert.deepEqual(
      operations().filter(({ route }) => !/^[a-z][A-Za-z0-9]+$/.test(route.operationId ?? "")),
      [],
    );
    assert.deepEqual(
      names.filter((name, i) => names.indexOf(name) !== i),
      [],
    );
  });

  it("says of every route what it takes, what it replies with and how it refuses", () => {
    for (const { name, path, route } of operations()) {
      const inPath = (route.parameters ?? []).filter((one) => one.in === "path").map((one) => one.name);
      assert.deepEqual(inPath.sort(), [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one).sort(), name);
      const succeeds = Object.keys(route.responses).filter((status) => status.startsWith("2"));
      assert.ok(succeeds.length > 0, name);
      assert.ok(route.responses["default"], name);
      for (const [status, { description, content }] of Object.entries(route.responses)) {
        assert.ok(description, name);
        const isEmpty = ["202", "204", "304"].includes(status);
        assert.ok(isEmpty || Object.values(content ?? {}).some(({ schema }) => schema), `${name} ${status}`);
      }
    }
    for (const name of ["POST /a2h/v1alpha1/function_calls", "POST /jobs/claim", "POST /assignment", "POST /answers"]) {
      const { route } = operations().find((one) => one.name === name) ?? assert.fail(name);
      assert.ok(route.requestBody, name);
    }
  });

  it("has each schema once, by a name", () => {
    const inline = operations().flatMap(({ name, route }) =>
      [route.requestBody, ...Object.values(route.responses)].flatMap((part) =>
        Object.values(part?.content ?? {}).flatMap(({ schema }) => (schema && "properties" in schema ? [name] : [])),
      ),
    );
    assert.deepEqual(inline, []);
    const seen = new Map<string, string>();
    const twice: string[] = [];
    const look = (value: unknown, at: string): void => {
      if (typeof value !== "object" || value === null) return;
      if ("properties" in value && Object.keys(value.properties as object).length > 0) {
        const text = JSON.stringify(value);
        const first = seen.get(text);
        if (first !== undefined) twice.push(`${at} is ${first}`);
        seen.set(text, at);
      }
      for (const [key, member] of Object.entries(value)) look(member, `${at}/${key}`);
    };
    look(document.components.schemas, "");
    assert.deepEqual(twice, []);
    const named = new Set(Object.keys(document.components.schemas));
    for (const [, name = ""] of JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      assert.ok(named.has(name), name);
    }
  });

  it("says of every object what it holds, or that it holds anything", () => {
    const bare: string[] = [];
    const look = (value: unknown, at: string): void => {
      if (typeof value !== "object" || value === null) return;
      const says = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf"].some((key) => key in value);
      if ("type" in value && value.type === "object" && !says) bare.push(at);
      for (const [key, member] of Object.entries(value)) look(member, `${at}/${key}`);
    };
    look(document, "");
    assert.deepEqual(bare, []);
  });

  it("says where the server is", () => assert.deepEqual(document.servers, [{ url: "https://ask.example.com" }]));

  /** Fails where a reply is not what the document says of the route. */
  function matches(route: string, { status, body }: { status: number; body: unknown }) {
    const { content } = operations().find(({ name }) => name === route)?.route.responses[status] ?? assert.fail(route);
    const { schema } = content?.["application/json"] ?? assert.fail(`${route} ${status} has no schema`);
    const checked = new Validator({ ...schema, components: document.components } as object, "2020-12", false);
    assert.deepEqual(checked.validate(body).errors, [], `${route} ${status} ${JSON.stringify(body)}`);
    strict(schema as Shape, body, route);
  }

  interface Shape {
    $ref?: string;
    properties?: Record<string, Shape>;
    additionalProperties?: unknown;
    items?: Shape;
  }
  /** Fails for a member that the schema does not know. */
  function strict(shape: Shape, value: unknown, at: string): void {
    const name = shape.$ref?.split("/").at(-1);
    if (name !== undefined) return strict((document.components.schemas[name] ?? {}) as Shape, value, `${at} ${name}`);
    if (Array.isArray(value)) {
      for (const one of value) strict(shape.items ?? {}, one, at);
    } else if (typeof value === "object" && value !== null && shape.properties) {
      for (const [key, member] of Object.entries(value)) {
        const known = shape.properties[key];
        assert.ok(known ?? shape.additionalProperties === true, `${at} does not know ${key}`);
        if (known) strict(known, member, `${at}.${key}`);
      }
    }
  }

  const A2H = "/a2h/v1alpha1";
  const as = (key: string, body?: object) => ({
    headers: { authorization: `Bearer ${key}` },
    ...(body && { body }),
  });

  it("is what is replied where people are asked and enrolled", async () => {
    const { world, agent } = scene;
    const { text: admin } = await createKey(world.server.ctx, { name: fresh("chief"), scope: "admin" });
    const call = fresh("call");
    const option = { name: "no", title: "No", prompt_fill: "Not today" };
    const { id: asked, person } = await scene.human(fresh("Ana"));
    const channel = { human: { id: String(asked) } };
    const spec = {
      channel,
      fn: "refund",
      kwargs: { amount: 49.9 },
      msg: "Torn",
      reject_options: [option],
      editable: true,
    };
    const send = async (
      route: string,
      { at, key = agent.key, body }: { at?: string; key?: string; body?: object } = {},
    ) => {
      const [method = "", path = ""] = route.split(" ");
      const reply = await world.call(method, at ?? path, as(key, body));
      matches(route, reply);
      return reply.body as Record<string, never>;
    };
    await send(`POST ${A2H}/function_calls`, { body: { run_id: "r", call_id: call, spec } });
    await send(`GET ${A2H}/function_calls/{id}`, { at: `${A2H}/function_calls/${call}` });
    await send(`GET ${A2H}/agent/function_calls/pending`);
    const decision = { approved: true, comment: "ok", kwargs: { amount: 20 } };
    const { text: answer } = await createKey(world.server.ctx, { name: fresh("ana"), scope: "answer", person });
    const respond = `POST ${A2H}/agent/function_calls/{id}/respond`;
    await send(respond, { at: `${A2H}/agent/function_calls/${call}/respond`, key: answer, body: decision });
    await send(respond, { at: `${A2H}/agent/function_calls/${call}/respond`, key: answer, body: { approved: false } });
    await send(`GET ${A2H}/function_calls/{id}`, { at: `${A2H}/function_calls/none` });
    await send(`POST ${A2H}/function_calls`, { body: { run_id: "r" } });
    const contact = fresh("contact");
    await send(`POST ${A2H}/human_contacts`, { body: { run_id: "r", call_id: contact, spec: { msg: "Which?" } } });
    await send(`POST ${A2H}/agent/human_contacts/{id}/cancel`, { at: `${A2H}/agent/human_contacts/${contact}/cancel` });
    await send(`GET ${A2H}/agent/human_contacts/pending`);
    const message = { apiVersion: "proto.a2h.dev/v1alpha1", kind: "Message", spec: { message: "Hello" } };
    const { metadata } = await send(`POST ${A2H}/messages`, { body: message });
    await send(`GET ${A2H}/messages/{uid}`, { at: `${A2H}/messages/${(metadata as unknown as { uid: string }).uid}` });
    for (const path of ["conversations", "humans", "groups", "channels", "status", "project", "webhook_endpoints"]) {
      await send(`GET ${A2H}/${path}`);
    }
    await send(`GET ${A2H}/audit`, { key: admin });
    const human = { name: fresh("Bo"), role: "CFO", prioritizedContactChannels: [{ inbox: {} }] };
    const { id } = await send(`POST ${A2H}/humans`, { key: admin, body: human });
    await send(`PATCH ${A2H}/humans/{id}`, { at: `${A2H}/humans/${String(id)}`, key: admin, body: { role: "CEO" } });
    await send(`GET ${A2H}/humans/search`, { at: `${A2H}/humans/search?q=Bo` });
    await send(`POST ${A2H}/channels/validate`, { body: { channel: { inbox: {} } } });
    await send(`POST ${A2H}/channels/validate`, { body: { channel: { none: {} } } });
    const hook = { url: "https://hooks.example.com/x", format: "a2h" };
    const endpoint = await send(`POST ${A2H}/webhook_endpoints`, { body: hook });
    const hooked = `${A2H}/webhook_endpoints/${String(endpoint["id"])}`;
    await send(`GET ${A2H}/webhook_endpoints/{id}`, { at: hooked });
    await send(`POST ${A2H}/webhook_endpoints/{id}/test`, { at: `${hooked}/test`, body: {} });
    await send(`GET ${A2H}/webhook_endpoints/{id}/deliveries`, { at: `${hooked}/deliveries` });
    await send("GET /version");
  });

  it("is what is replied where executors work", async () => {
    const { world } = scene;
    const { text: key } = await createKey(world.server.ctx, { name: fresh("runs"), scope: "executor" });
    const { text: giver } = await createKey(world.server.ctx, { name: fresh("gives"), scope: "assign" });
    const send = async (route: string, { at, body, by = key }: { at?: string; body?: object; by?: string } = {}) => {
      const [method = "", path = ""] = route.split(" ");
      const reply = await world.call(method, at ?? path, as(by, body));
      matches(route, reply);
      return reply.body as Record<string, never>;
    };
    const id = fresh("J");
    await send("POST /jobs", { body: { job_id: id, kind: "index", spec: { n: 1 }, labels: { a: "b" } }, by: giver });
    const { lease } = await send("POST /jobs/claim", { body: { kinds: ["index"], worker_id: "w" } });
    await send("GET /jobs/{id}", { at: `/jobs/${id}` });
    await send("GET /jobs");
    await send("GET /jobs/{id}", { at: "/jobs/none" });
    const headers = { authorization: `Bearer ${key}`, "parley-lease": (lease as unknown as { token: string }).token };
    const held = async (route: string, at: string, body: object) => {
      matches(route, await world.call("POST", at, { headers, body }));
    };
    await held("POST /jobs/{id}/heartbeat", `/jobs/${id}/heartbeat`, {});
    await held("POST /jobs/{id}/logs", `/jobs/${id}/logs`, { message: "begun" });
    const ask = { job_id: id, step_id: "s", ask_type: "CLARIFICATION", prompt: "Which?", context_hash: "h" };
    await held("POST /asks", "/asks", ask);
    await send("GET /jobs/{id}/asks", { at: `/jobs/${id}/asks` });
    await held("POST /jobs/{id}/finish", `/jobs/${id}/finish`, { state: "SUCCEEDED", result: { n: 2 } });
    await send("GET /jobs/{id}/asks", { at: `/jobs/${id}/asks` });
    await send("POST /asks", { body: {} });
  });

  it("says that a receipt is also a page", () => {
    const { content } = document.paths["/receipts/{id}"]?.["get"]?.responses["200"] ?? {};
    assert.deepEqual(Object.keys(content ?? {}), ["application/jose", "text/html"]);
  });
});
