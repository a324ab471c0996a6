import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callAt, openAssignment, sharedAssignment } from "../support/assignment.ts";
import { Dice } from "../support/secret-corpus.ts";
import { ONE_DATABASE, type CallOptions, type Reply } from "../support/world.ts";

/** A secret that nobody wrote down anywhere. */
const TOKEN = `ghp_${new Dice(7).text("abcdefghijklmnopqrstuvwxyz0123456789", 36)}`;
const CARDS = "https://cards.example";

const codeOf = ({ status, body }: Reply): unknown[] => [status, body.error?.code];

for (const on of ONE_DATABASE) {
  describe(`the assignment door on ${on}`, () => {
    const shared = sharedAssignment(on);

    it("takes a task and shows it as the protocol has it", async () => {
      const { ana, world } = shared();
      const reply = await ana.call("POST", "/assignment", {
        body: { id: "card 1/ü", prompt: "\n  Add VAT to the export\nand test it", unknown: { field: 1 }, agent: null },
      });
      assert.equal(reply.status, 202, reply.text);
      assert.equal(reply.headers.get("location"), "/assignment/tasks/card%201%2F%C3%BC");
      assert.deepEqual(reply.body, {
        repo: "shop",
        id: "card 1/ü",
        submittedAt: "2026-02-02T12:00:00Z",
        status: "queued",
        state: "queued",
        title: "Add VAT to the export",
        attempt: 0,
        agent: "claude",
        dependencies: [],
        blockedBy: [],
        stale: false,
      });
      const list = await ana.call("GET", "/assignment");
      assert.deepEqual([list.body.serverName, list.body.protocolVersion], ["Parley on studio", "0.0.1"]);
      assert.deepEqual(list.body.tasks, [reply.body]);
      const whole = await ana.call("GET", reply.headers.get("location") ?? "");
      const { prompt, attempts, reviews, notes, asks, asksNext, ...task } = whole.body;
      assert.deepEqual(task, reply.body);
      assert.equal(prompt, "\n  Add VAT to the export\nand test it");
      assert.deepEqual([attempts, reviews, notes, asks, asksNext], [[], [], [], [], null]);
      assert.ok(world.url);
    });

    it("reads a body as JSON whatever its type is said to be, or not at all", async () => {
      const { ana, world } = shared();
      for (const [i, type] of ["text/plain;charset=UTF-8", "application/octet-stream", "what/ever", ";;"].entries()) {
        const body = JSON.stringify({ id: `typed-${i}`, prompt: "Do it" });
        const reply = await ana.call("POST", "/assignment", { body, headers: { "content-type": type } });
        assert.equal(reply.status, 202, `${type}: ${reply.text}`);
      }
      const headers = { authorization: `Bearer ${ana.key}` };
      const body = JSON.stringify({ id: "untyped", prompt: "Do it" });
      const untyped = await callAt(world.url, "POST", "/assignment", { host: "localhost", headers, body });
      assert.equal(untyped.status, 202, untyped.text);
    });

    it("is found under each form of its endpoint, and nothing else changes there", async () => {
      const { ana, world } = shared();
      const headers = { authorization: `Bearer ${ana.key}` };
      const at = (host: string, method: string, path: string, more: CallOptions = {}) =>
        callAt(world.url, method, path, { host, ...more, headers: { ...headers, ...more.headers } });
      for (const host of ["agent-assignment-server.localhost:3000", "aa.localhost", "AA.localhost:81"]) {
        const made = await at(host, "POST", "/", { body: { id: "rooted", prompt: "Do it" } });
        assert.equal(made.status, 202, made.text);
        assert.equal(made.headers.get("location"), "/tasks/rooted");
        assert.equal((await at(host, "GET", "/tasks/rooted")).body.id, "rooted");
        assert.equal((await at(host, "GET", "/?id=rooted")).body.tasks[0].id, "rooted");
        assert.equal(
          (await at(host, "HEAD", "/events")).headers.get("content-type"),
          "text/event-stream; charset=utf-8",
        );
        assert.equal((await at(host, "OPTIONS", "/")).status, 204);
        assert.equal((await at(host, "GET", "/healthz")).status, 200);
        assert.equal((await at(host, "DELETE", "/", { body: { id: "rooted" } })).body.state, "canceled");
      }
      assert.notEqual((await at("localhost", "POST", "/", { body: { id: "x", prompt: "y" } })).status, 202);
      assert.equal((await at("localhost", "GET", "/assignment/")).status, 200);
      const blog = await ana.submit("b1", {}, "/assignment/blog");
      assert.equal(blog.repo, "blog");
      assert.equal((await ana.call("GET", "/assignment/blog")).body.tasks.length, 1);
      assert.deepEqual(codeOf(await ana.call("GET", "/assignment/nowhere")), [404, "REPO_NOT_FOUND"]);
    });

    it("takes keys that give work, and in their repositories only", async () => {
      const { ana, world, sender } = shared();
      const missing = await world.call("GET", "/assignment");
      assert.deepEqual(codeOf(missing), [401, "UNAUTHORIZED"]);
      assert.equal(missing.headers.get("www-authenticate"), "Bearer");
      const wrong = { authorization: `Bearer ${ana.key.slice(0, -1)}_` };
      assert.deepEqual(codeOf(await world.call("POST", "/assignment", { headers: wrong })), [401, "UNAUTHORIZED"]);
      assert.deepEqual(codeOf(await world.call("GET", `/k/${ana.key}/assignment`)), [401, "UNAUTHORIZED"]);
      for (const scope of ["agent", "executor", "answer", "admin"] as const) {
        const other = await sender({ scope, name: `other-${scope}` });
        assert.deepEqual(codeOf(await other.call("GET", "/assignment")), [403, "FORBIDDEN"]);
        assert.deepEqual(codeOf(await other.call("GET", "/assignment/events")), [403, "FORBIDDEN"]);
      }
      const blogger = await sender({ repos: ["blog"] });
      assert.equal((await blogger.call("GET", "/assignment/blog")).status, 200);
      assert.deepEqual(codeOf(await blogger.call("GET", "/assignment")), [403, "FORBIDDEN"]);
      assert.deepEqual(codeOf(await blogger.call("POST", "/assignment/shop")), [403, "FORBIDDEN"]);
    });

    it("lets pages of listed origins in, with headers on every reply, and no other page", async () => {
      const { ana, world } = shared();
      const origin = { origin: CARDS };
      const replies = [
        await ana.call("GET", "/assignment", { headers: origin }),
        await ana.call("POST", "/assignment", { headers: origin, body: { id: "from-page", prompt: "Do it" } }),
        await ana.call("POST", "/assignment", { headers: origin, body: "{" }),
        await ana.call("POST", "/assignment", { headers: origin, body: "x".repeat(300_000) }),
        await ana.call("GET", "/assignment/nowhere/tasks/x", { headers: origin }),
        await ana.call("GET", "/assignment/shop/no/such/place", { headers: origin }),
        await ana.call("PUT", "/assignment", { headers: origin }),
        await world.call("GET", "/assignment", { headers: origin }),
        await world.call("OPTIONS", "/assignment/shop/tasks/x", { headers: origin }),
        await callAt(world.url, "GET", "/assignment", { host: "evil.example", headers: origin }),
      ];
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 202, 400, 413, 404, 404, 405, 401, 204, 421],
      );
      for (const reply of replies) {
        assert.equal(reply.headers.get("access-control-allow-origin"), CARDS, reply.text);
        assert.equal(reply.headers.get("vary"), "Origin");
      }
      for (const foreign of ["https://evil.example", "null", "http://cards.example", `${CARDS}.evil.example`]) {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
          const reply = await ana.call(method, "/assignment", { headers: { origin: foreign } });
          assert.deepEqual(codeOf(reply), [403, "ORIGIN_REFUSED"], `${method} from ${foreign}`);
          assert.equal(reply.headers.get("access-control-allow-origin"), null);
        }
      }
      assert.equal((await ana.call("GET", "/assignment", { headers: { origin: world.url } })).status, 200);
    });

    it("answers a preflight without a key, with the contract's headers", async () => {
      const { world } = shared();
      const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
      for (const path of ["/assignment", "/assignment/blog", "/assignment/tasks/x/review", "/assignment/events"]) {
        const reply = await world.call("OPTIONS", path, { headers: { origin: CARDS, ...asked } });
        assert.equal(reply.status, 204);
        assert.deepEqual(
          ["allow-methods", "allow-headers", "max-age"].map((name) => reply.headers.get(`access-control-${name}`)),
          ["GET,POST,DELETE,OPTIONS", "authorization,content-type,accept,idempotency-key", "600"],
        );
      }
    });

    it("declines what is wrong with a body, and says what", async () => {
      const { ana } = shared();
      const refused = async (body: unknown) => {
        const reply = await ana.call("POST", "/assignment", { body });
        const { code, details } = reply.body.error;
        return [reply.status, code, details?.field, details?.constraint];
      };
      assert.deepEqual(await refused("{"), [400, "INVALID_JSON", undefined, undefined]);
      assert.deepEqual(await refused(""), [400, "INVALID_JSON", undefined, undefined]);
      assert.deepEqual(await refused("[]"), [400, "VALIDATION_ERROR", undefined, undefined]);
      const invalid = (field: string, constraint: string) => [400, "VALIDATION_ERROR", field, constraint];
      const prompt = "Do it";
      assert.deepEqual(await refused({ prompt }), invalid("id", "required"));
      assert.deepEqual(await refused({ id: 7, prompt }), invalid("id", "type"));
      assert.deepEqual(await refused({ id: "", prompt }), invalid("id", "length"));
      assert.deepEqual(await refused({ id: "x".repeat(201), prompt }), invalid("id", "length"));
      assert.deepEqual(await refused({ id: "a\u0000b", prompt }), invalid("id", "characters"));
      assert.deepEqual(await refused({ id: "a\nb", prompt }), invalid("id", "characters"));
      assert.deepEqual(await refused({ id: "p", prompt: null }), invalid("prompt", "required"));
      assert.deepEqual(await refused({ id: "p", prompt: " \n" }), invalid("prompt", "length"));
      assert.deepEqual(await refused({ id: "p", prompt: "x".repeat(100_001) }), invalid("prompt", "length"));
      assert.deepEqual(await refused({ id: "p", prompt: "a\u0000" }), invalid("prompt", "characters"));
      assert.deepEqual(await refused({ id: "p", prompt, dependencies: "a" }), invalid("dependencies", "type"));
      assert.deepEqual(await refused({ id: "p", prompt, dependencies: ["", 1] }), invalid("dependencies[0]", "length"));
      assert.deepEqual(await refused({ id: "p", prompt, dependencies: ["p"] }), invalid("dependencies", "self"));
      const many = Array.from({ length: 51 }, (_, i) => `d${i}`);
      assert.deepEqual(await refused({ id: "p", prompt, dependencies: many }), invalid("dependencies", "length"));
      assert.deepEqual(await refused({ id: "p", prompt, agent: "nobody" }), invalid("agent", "enum"));
      assert.deepEqual(await refused({ id: "p", prompt, base: "" }), invalid("base", "length"));
      assert.deepEqual(
        await refused({ id: "p", prompt, startDependentsOn: "never" }),
        invalid("startDependentsOn", "enum"),
      );
      const twice = await ana.submit("twice", { dependencies: ["d", "e", "d"], prompt: "x".repeat(100_000) });
      assert.deepEqual(twice.dependencies, ["d", "e"]);
      assert.equal((await ana.submit("🙂".repeat(200))).state, "queued");
    });

    it("says that a task, a repository or an address is not there", async () => {
      const { ana } = shared();
      for (const path of ["/assignment/tasks/none", "/assignment/tasks/none/diff", "/assignment/tasks/none/log"]) {
        assert.deepEqual(codeOf(await ana.call("GET", path)), [404, "TASK_NOT_FOUND"]);
      }
      for (const path of ["/assignment/tasks/none", "/assignment?id=none", "/assignment/tasks/a%00b"]) {
        assert.deepEqual(codeOf(await ana.call("DELETE", path)), [404, "TASK_NOT_FOUND"]);
      }
      assert.deepEqual(codeOf(await ana.call("DELETE", "/assignment", { body: { id: "none" } })), [
        404,
        "TASK_NOT_FOUND",
      ]);
      assert.deepEqual(codeOf(await ana.call("DELETE", "/assignment")), [400, "VALIDATION_ERROR"]);
      assert.deepEqual((await ana.call("GET", "/assignment?id=none")).body.tasks, []);
      assert.deepEqual((await ana.call("GET", "/assignment?id=a%00b")).body.tasks, []);
      await ana.submit("bare");
      assert.deepEqual(codeOf(await ana.call("GET", "/assignment/tasks/bare/diff")), [404, "DIFF_NOT_FOUND"]);
      assert.deepEqual(codeOf(await ana.call("GET", "/assignment/tasks/bare/diff?against=x")), [
        400,
        "VALIDATION_ERROR",
      ]);
      assert.deepEqual(codeOf(await ana.call("GET", "/assignment/shop/tasks/bare/what")), [404, "NOT_FOUND"]);
      const put = await ana.call("PUT", "/assignment/tasks/bare");
      assert.deepEqual(codeOf(put), [405, "METHOD_NOT_ALLOWED"]);
      assert.equal(put.headers.get("allow"), "DELETE, GET, OPTIONS");
    });

    it("sends a list again only when it has changed, to whoever says what it knows", async () => {
      const { ana } = shared();
      const first = await ana.call("GET", "/assignment/wiki");
      const etag = first.headers.get("etag") ?? assert.fail("no etag");
      const known = (value: string) => ana.call("GET", "/assignment/wiki", { headers: { "if-none-match": value } });
      for (const value of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) assert.equal((await known(value)).status, 304);
      assert.equal((await ana.call("GET", "/assignment/wiki")).status, 200);
      await ana.submit("fresh", {}, "/assignment/wiki");
      assert.equal((await known(etag)).status, 200);
    });

    it("names a secret in a prompt, which is kept as it is", async () => {
      const { ana } = shared();
      const prompt = `Log in with ${TOKEN} and look.`;
      const task = await ana.submit("secret", { prompt });
      assert.deepEqual(task.warnings, [
        "The prompt holds a secret (github-token), and becomes part of a commit message.",
      ]);
      assert.equal((await ana.call("GET", "/assignment/tasks/secret")).body.prompt, prompt);
    });

    it("limits how often a key changes something and reads", async () => {
      const { sender } = shared();
      const busy = await sender();
      const replies = await Promise.all(Array.from({ length: 601 }, () => busy.call("DELETE", "/assignment?id=none")));
      const limited = replies.filter(({ status }) => status === 429);
      assert.equal(limited.length, 1);
      assert.deepEqual(limited[0]?.body.error.details, { limit: 600, window_seconds: 60, retry_after: 1 });
      assert.equal(limited[0]?.headers.get("retry-after"), "1");
      assert.equal((await busy.call("GET", "/assignment")).status, 200);
    });
  });

  describe(`an assignment door that refuses secrets, on ${on}`, () => {
    it("takes no prompt that holds one", async () => {
      await using scene = await openAssignment(on, { settings: "assignment: { secrets: reject }\n" });
      const body = { id: "s", prompt: `Log in with ${TOKEN}.` };
      const reply = await scene.ana.call("POST", "/assignment", { body });
      assert.deepEqual(codeOf(reply), [422, "SECRET_DETECTED"]);
      assert.deepEqual(reply.body.error.details, [{ path: "prompt", rule: "github-token", from: 12, to: 52 }]);
      assert.deepEqual((await scene.ana.call("GET", "/assignment")).body.tasks, []);
    });

    it("has nothing where no repository is named", async () => {
      await using scene = await openAssignment(on, { repos: "" });
      assert.deepEqual(codeOf(await scene.ana.call("GET", "/assignment")), [404, "REPO_NOT_FOUND"]);
      assert.deepEqual(codeOf(await scene.world.call("GET", "/assignment")), [401, "UNAUTHORIZED"]);
    });
  });
}
