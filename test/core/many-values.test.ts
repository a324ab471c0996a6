import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BadJson, parseJsonBody, TooManyValues } from "../../src/lib/json/json-body.ts";
import { openSecretScan } from "../../src/lib/secrets/secret-scan.ts";
import { redactJson } from "../../src/lib/json/strings-of.ts";
import { createKey } from "../../src/access/create-key.ts";
import { openAssignment } from "../support/assignment.ts";

const MOST = 10_000;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i % 10);

const valuesIn = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + valuesIn(member), 1)
    : 1;

describe("a body of many values", () => {
  it("is refused with 413 at every door that takes JSON, and one of as many as may be is not", async () => {
    await using scene = await openAssignment("sqlite");
    const { world } = scene;
    const keyed = async (scope: "admin" | "assign" | "executor" | "agent") => ({
      authorization: `Bearer ${(await createKey(world.server.ctx, { name: `many-${scope}`, scope })).text}`,
    });
    const [admin, assign, executor, agent] = await Promise.all([
      keyed("admin"),
      keyed("assign"),
      keyed("executor"),
      keyed("agent"),
    ]);
    const doors: [path: string, headers: Record<string, string>][] = [
      ["/agent/questions", agent],
      ["/human/responses", { "x-fingerprint": "many-values" }],
      ["/humanlayer/v1/function_calls", agent],
      ["/humanlayer/v1/human_contacts", agent],
      ["/jobs", assign],
      ["/asks", executor],
      ["/assignment", assign],
      ["/mcp", { ...agent, accept: "application/json, text/event-stream" }],
      ["/admin/keys", admin],
    ];
    for (const [path, headers] of doors) {
      // The body, its list, and what the list holds.
      const post = (values: number) =>
        world.call("POST", path, { headers, body: { many: numbers(values - 2) } }).then(({ status }) => status);
      assert.equal(await post(MOST + 1), 413, path);
      assert.notEqual(await post(MOST), 413, path);
    }
    const { body } = await world.call("POST", "/agent/questions", { headers: agent, body: { many: numbers(MOST) } });
    assert.deepEqual(body.error, {
      code: "PAYLOAD_TOO_LARGE",
      message: "The body holds more than 10,000 values.",
      details: { max_values: MOST },
    });
  });

  it("is counted before it is parsed, exactly", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1), (value, indent) => {
        const bytes = Buffer.from(JSON.stringify(value, null, indent));
        const count = valuesIn(value);
        assert.doesNotThrow(() => parseJsonBody(bytes, { maxDepth: 64, maxValues: count }));
        assert.throws(() => parseJsonBody(bytes, { maxDepth: 64, maxValues: count - 1 }), TooManyValues);
      }),
    );
    for (const text of ['"', '"\\', '{"a', "[", "{", "}", "]]", ",", '["\\"]']) {
      assert.throws(() => parseJsonBody(Buffer.from(text), { maxDepth: 64, maxValues: MOST }), BadJson, text);
    }
  });

  it("is searched for secrets without looking for each text among all others", async () => {
    const scan = openSecretScan({ canaries: [] });
    let searches = 0;
    /** A list, and every list that is made of it, that tells how often it is searched. */
    class Counted<T> extends Array<T> {
      override indexOf(item: T): number {
        searches += 1;
        return super.indexOf(item);
      }
    }
    const texts = Array.from({ length: 2000 }, (_, i) => ({ path: `${i}`, text: `a few ordinary words, ${i}` }));
    const token = `ghp_${"aB3dE6gH9".repeat(4)}`;
    try {
      const { finds } = await scan.find(Counted.from([...texts, { path: "last", text: `the key is ${token}` }]));
      assert.deepEqual(
        Array.from(finds, ({ path }) => path),
        ["last"],
      );
      assert.equal(searches, 0);
    } finally {
      await scan.close();
    }
  });

  it("is walked through once to say where its secrets stand, however many they are", async () => {
    const scan = openSecretScan({ canaries: ["canary-7Hq"] });
    const text = "\u{1f600} canary-7Hq ".repeat(300);
    const prototype = String.prototype as unknown as Record<"slice" | "codePointAt", (...args: number[]) => unknown>;
    const { slice, codePointAt } = prototype;
    let looked = 0;
    prototype.slice = function (this: string, ...args) {
      const part = slice.apply(this, args) as string;
      looked += part.length;
      return part;
    };
    prototype.codePointAt = function (this: string, ...args) {
      looked += 1;
      return codePointAt.apply(this, args);
    };
    try {
      const { finds } = await scan.find([{ path: "said", text }]);
      assert.deepEqual([finds.length, finds[299]?.from], [300, 299 * 13 + 2]);
      const { said } = redactJson({ said: text }, finds);
      assert.equal(said, "\u{1f600} [secret:canary] ".repeat(300));
    } finally {
      Object.assign(prototype, { slice, codePointAt });
      await scan.close();
    }
    assert.ok(looked < 10 * text.length, `${looked} of ${text.length}`);
  });
});
