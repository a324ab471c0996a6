import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { sharedAssignment } from "../support/assignment.ts";
import { DATABASES } from "../support/world.ts";

const RUNS = { numRuns: 60 };

const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("__proto__", "\0", "' OR '1'='1", "%00", "../..", "-x", "--upload-pack=x", "\ud800", "\u202e", "a/b"),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>(null, true, 0, -1, 1e308, [], {}, [[]], [null]),
);
/** Often what is right, so that what lies behind is reached. */
const mostly = <T>(good: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(good) }, { weight: 1, arbitrary: hostileValue });

const task = fc.record(
  {
    id: fc.oneof(mostly("card"), hostileText),
    prompt: fc.oneof(mostly("Do it"), hostileText),
    dependencies: fc.oneof(mostly(["other"]), fc.array(hostileText, { maxLength: 4 })),
    agent: mostly("codex"),
    base: mostly("main"),
    startDependentsOn: mostly("approved"),
    extra: hostileValue,
  },
  { requiredKeys: ["id", "prompt"] },
);

for (const on of DATABASES) {
  describe(`the assignment door under hostile input on ${on}`, () => {
    const shared = sharedAssignment(on);

    it("takes a task whole or refuses it, and never stumbles", async () => {
      const { ana } = shared();
      await fc.assert(
        fc.asyncProperty(task, async (body) => {
          const reply = await ana.call("POST", "/assignment", { body });
          assert.ok([202, 400, 409].includes(reply.status), reply.text);
          if (reply.status !== 202) {
            assert.equal(typeof reply.body.error.code, "string");
            return;
          }
          const { id } = body as { id: string };
          const shown = await ana.call("GET", `/assignment?id=${encodeURIComponent(id)}`);
          assert.deepEqual(shown.body.tasks, [reply.body]);
          // Paths such as these a client of the web takes for others.
          if (id === "." || id === "..") return;
          const whole = await ana.call("GET", `/assignment/tasks/${encodeURIComponent(id)}`);
          assert.equal(whole.body.prompt, body.prompt);
        }),
        RUNS,
      );
    });

    it("finds nothing under what no task can be called, and minds no header", async () => {
      const { ana } = shared();
      const wellFormed = hostileText.filter(
        (text) => text.isWellFormed() && text !== "." && text !== ".." && text !== "",
      );
      const header = fc.string({ unit: fc.constantFrom(...'abc019 "*,;=/-'), minLength: 1, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(wellFormed, header, async (id, value) => {
          const path = `/assignment/tasks/${encodeURIComponent(`none ${id}`)}`;
          const headers = { "idempotency-key": value, "if-none-match": value, "last-event-id": value, accept: value };
          for (const [method, at] of [
            ["GET", path],
            ["DELETE", path],
            ["GET", `${path}/log`],
            ["GET", `${path}/diff`],
          ] as const) {
            const reply = await ana.call(method, at, { headers });
            assert.deepEqual([reply.status, reply.body.error?.code], [404, "TASK_NOT_FOUND"], `${method} ${at}`);
          }
          const review = await ana.call("POST", `${path}/review`, { headers, body: { verdict: id } });
          assert.equal(review.status, 403);
          const repo = await ana.call("GET", `/assignment/${encodeURIComponent(`x${id}`)}`, { headers });
          assert.equal(repo.status, 404, repo.text);
        }),
        { numRuns: 25 },
      );
    });
  });
}
