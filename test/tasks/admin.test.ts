import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changeRole } from "../../src/access/change-role.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { sharedAssignment, type AssignmentScene } from "../support/assignment.ts";
import { openStream } from "../support/contract.ts";
import { namedPerson, OPERATOR, type Shown } from "../support/identities.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const codeOf = ({ status, body }: Reply): unknown[] => [status, body.error?.code];
const MOST_STREAMS = 3;
/** Its pages may send tasks, with a key. */
const CARDS = "https://cards.example";
const BY = { kind: "human", id: OPERATOR } as const;

/** Returns the headers that the browser of a signed-in person sends from a page of ours. */
async function sessionOf({ world }: AssignmentScene, person = OPERATOR): Promise<Shown> {
  const { code } = await createSignInLink(world.server.ctx, person);
  const reply = await world.call("POST", "/session", { body: { code } });
  return { cookie: (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "", "sec-fetch-site": "same-origin" };
}

/** Every route of the door that people use, of a task that is there. */
const ROUTES: readonly [method: string, path: string, body?: object][] = ["/assignment", "/assignment/shop"].flatMap(
  (at): [string, string, object?][] => [
    ["GET", at],
    ["HEAD", `${at}/events`],
    ["GET", `${at}/tasks/here`],
    ["GET", `${at}/tasks/here/asks`],
    ["GET", `${at}/tasks/here/diff`],
    ["HEAD", `${at}/tasks/here/log`],
    ["POST", at, { id: "here", prompt: "Do it" }],
    ["POST", `${at}/tasks/here/review`, { verdict: "approve", attempt: 9 }],
    ["DELETE", `${at}/tasks/here`],
    ["DELETE", `${at}?id=here`],
  ],
);

for (const on of DATABASES) {
  describe(`the assignment door for an admin's session on ${on}`, () => {
    const shared = sharedAssignment(on, { env: { PARLEY_LIMITS_HUMAN_STREAMS: String(MOST_STREAMS) } });

    it("lets it do what a key does, and review", async () => {
      const { world, runner, ana } = shared();
      const headers = await sessionOf(shared());
      const call = (method: string, path: string, body?: unknown, more: Shown = {}) =>
        world.call(method, path, { headers: { ...headers, ...more }, ...(body !== undefined && { body }) });
      const task = "/assignment/shop/tasks/on%2Fboard";
      const retry = "/admin/assignments/shop/tasks/on%2Fboard/retry";

      const once = { "idempotency-key": "once" };
      const made = await call("POST", "/assignment/shop", { id: "on/board", prompt: "Do it" }, once);
      assert.deepEqual([made.status, made.body.repo, made.body.id], [202, "shop", "on/board"]);
      const again = await call("POST", "/assignment/shop", { id: "on/board", prompt: "Do it" }, once);
      assert.equal(again.headers.get("idempotency-replayed"), "true");
      while ((await runner.start()) !== "on/board");
      await runner.fail("shop", "on/board");
      assert.equal((await call("POST", retry)).body.state, "queued");
      assert.deepEqual(codeOf(await call("POST", retry)), [409, "TASK_NOT_ENDED"]);
      while ((await runner.start()) !== "on/board");
      await runner.complete("shop", "on/board");

      const board = (await call("GET", "/admin/assignments")).body;
      assert.deepEqual(
        board.repos.map(({ name, isDefault }: Record<string, unknown>) => [name, isDefault]),
        [
          ["shop", true],
          ["blog", false],
          ["wiki", false],
        ],
      );
      assert.ok(board.tasks.some(({ id, state }: Record<string, unknown>) => id === "on/board" && state === "review"));
      const whole = await call("GET", task);
      assert.deepEqual([whole.body.prompt, whole.body.attempts.length], ["Do it", 2]);
      assert.deepEqual(whole.body, (await ana.call("GET", task)).body);
      const said = await call("POST", `${task}/review`, { verdict: "approve", attempt: 2 });
      assert.deepEqual([said.status, said.body.state], [200, "approved"]);
      assert.equal((await call("GET", task)).body.reviews[0].by, "operator");
      assert.equal((await call("DELETE", task)).body.state, "approved");
      assert.deepEqual(codeOf(await call("GET", "/assignment/nowhere")), [404, "REPO_NOT_FOUND"]);
    });

    it("refuses everybody else, and what another site's page asks for", async () => {
      const { world, ana } = shared();
      await ana.submit("here");
      const admin = await sessionOf(shared());
      const member = await (await namedPerson(world, "Bo Lind")).signIn();
      const answers = { authorization: `Bearer ${(await shared().sender({ scope: "agent" })).key}` };
      const { cookie = "" } = admin;
      const refused: [who: string, shown: Shown, status: number][] = [
        ["nobody", {}, 401],
        ["a session that has ended", { cookie: `${cookie.slice(0, -1)}_`, "sec-fetch-site": "same-origin" }, 401],
        ["a person who answers", member, 403],
        ["a wrong key beside the session", { ...admin, authorization: "Bearer parley_assign_wrong" }, 401],
        ["a key of another scope beside the session", { ...admin, ...answers }, 403],
        ["a foreign page", { ...admin, origin: "https://evil.example" }, 403],
        ["a page that may come with a key", { cookie, "sec-fetch-site": "same-site", origin: CARDS }, 403],
      ];
      const elsewhere: Shown[] = [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site", "content-type": "text/plain" },
        { origin: CARDS },
        {},
      ];
      for (const [method, path, body] of ROUTES) {
        const status = async (headers: Shown) =>
          (await world.call(method, path, { headers, ...(body && { body: JSON.stringify(body) }) })).status;
        for (const [who, shown, expected] of refused) {
          assert.equal(await status(shown), expected, `${method} ${path}: ${who}`);
        }
        if (method === "GET" || method === "HEAD") continue;
        for (const from of elsewhere) {
          assert.equal(await status({ cookie, ...from }), 403, `${method} ${path}: ${JSON.stringify(from)}`);
        }
      }
      for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
        const headers = { ...admin, "content-type": type };
        const form = await world.call("POST", "/assignment", { headers, body: JSON.stringify({ id: "here" }) });
        assert.deepEqual(codeOf(form), [415, "UNSUPPORTED_MEDIA_TYPE"], type);
      }
      assert.equal((await ana.task("here")).state, "queued", "nothing has happened to it");
      const says = (await world.call("GET", "/assignment", { headers: member })).body.error;
      assert.deepEqual(says, { code: "FORBIDDEN", message: "Only admins may do that.", details: { scope: "admin" } });
      for (const path of ["/assignment/shop/reviewed", "/assignment/shop/work/aa-job-1/bundle/here"]) {
        assert.equal((await world.call("GET", path, { headers: admin })).status, 401, `${path} is for workers' keys`);
      }
    });

    it("ends its streams, before they tell anything, once its person is no admin any more", async () => {
      const { world, ana } = shared();
      const { ctx } = world.server;
      const carl = await namedPerson(world, "Carl Voss");
      await changeRole(ctx, { person: carl.id, role: "admin" }, BY);
      await ana.submit("followed", {}, "/assignment/wiki");
      const headers = await carl.signIn();
      const paths = ["/assignment/wiki/events", "/assignment/wiki/tasks/followed/log?after=1"];
      const streams = await Promise.all(
        [...paths, "/admin/assignments/events"].map((path) => openStream(`${world.url}${path}`, headers)),
      );
      for (const stream of streams) assert.deepEqual(await stream.next(), { retry: "2000" });
      await ana.submit("followed", {}, "/assignment/wiki");
      for (const stream of streams) assert.ok(await stream.nextEvent(), "an admin is told");
      await changeRole(ctx, { person: carl.id, role: "member" }, BY);
      await ana.call("DELETE", "/assignment/wiki/tasks/followed");
      for (const stream of streams) {
        for (let event = await stream.nextEvent(); event; event = await stream.nextEvent()) {
          assert.notEqual(event.data.state, "canceled");
        }
      }
    });

    it("gives it no more streams than people have, whichever of them it follows", async () => {
      const { world } = shared();
      const headers = await sessionOf(shared());
      const open = () => openStream(`${world.url}/assignment/blog/events`, headers);
      const first = await openStream(`${world.url}/admin/assignments/events`, headers);
      const streams = [first, ...(await Promise.all(Array.from({ length: MOST_STREAMS - 1 }, open)))];
      assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
      assert.equal((await open()).status, 429);
      for (const stream of streams) stream.close();
    });
  });
}
