import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fresh } from "../support/contract.ts";
import { assertRelayError } from "../support/jobs.ts";
import { invalid, sharedRelay } from "../support/relay.ts";
import { ONE_DATABASE } from "../support/world.ts";

const bare = (more: Record<string, unknown>) => ({
  job_id: "J-x",
  step_id: "S-1",
  ask_type: "CLARIFICATION",
  prompt: "Which?",
  context_hash: "h",
  ...more,
});
const times = (count: number, one: string) => one.repeat(count);

/** A wrong field with the details of its refusal, or null if the field is accepted. */
const FIELDS: readonly [what: string, more: Record<string, unknown>, details: object | null][] = [
  ["no job", { job_id: undefined }, { field: "job_id", constraint: "required" }],
  ["null for a job", { job_id: null }, { field: "job_id", constraint: "required" }],
  ["a number for a job", { job_id: 7 }, { field: "job_id", constraint: "type" }],
  ["no step", { step_id: undefined }, { field: "step_id", constraint: "required" }],
  ["no type", { ask_type: undefined }, { field: "ask_type", constraint: "required" }],
  ["no hash and no envelope", { context_hash: undefined }, { field: "context_hash", constraint: "required" }],
  ["a long hash", { context_hash: times(257, "h") }, { field: "context_hash", constraint: "length", min: 1, max: 256 }],
  ["a NUL in the hash", { context_hash: "a\0" }, { field: "context_hash", constraint: "characters" }],
  ["another type of body", { type: "Answer" }, { field: "type", constraint: "enum", allowed: ["Ask"] }],
  ["the right type of body", { type: "Ask" }, null],
  ["no prompt", { prompt: undefined }, { field: "prompt", constraint: "required" }],
  ["blanks for a prompt", { prompt: " \n " }, { field: "prompt", constraint: "length", min: 1, max: 16_000 }],
  ["a NUL in the prompt", { prompt: "a\0b" }, { field: "prompt", constraint: "characters" }],
  ["the longest prompt", { prompt: ` ${times(16_000, "é")} ` }, null],
  ["one too long", { prompt: times(16_001, "x") }, { field: "prompt", constraint: "length", min: 1, max: 16_000 }],
  [
    "too short a time",
    { constraints: { timeout_s: 0.5 } },
    { field: "constraints.timeout_s", constraint: "range", min: 1, max: 604_800 },
  ],
  ["the longest time", { constraints: { timeout_s: 604_800 } }, null],
  ["words for a time", { constraints: { timeout_s: "1" } }, { field: "constraints.timeout_s", constraint: "type" }],
  [
    "too many tokens",
    { constraints: { max_tokens: 8193 } },
    { field: "constraints.max_tokens", constraint: "range", min: 1, max: 8192 },
  ],
  ["half a token", { constraints: { max_tokens: 1.5 } }, { field: "constraints.max_tokens", constraint: "type" }],
  [
    "too many tools",
    { constraints: { allowed_tools: Array.from({ length: 33 }, (_, i) => `t${i}`) } },
    { field: "constraints.allowed_tools", constraint: "length", min: 0, max: 32 },
  ],
  ["no tools", { constraints: { allowed_tools: [] } }, null],
  ["a list for constraints", { constraints: [] }, { field: "constraints", constraint: "type" }],
  ["null for constraints", { constraints: null }, null],
  [
    "a role with blanks",
    { role_id: "a b" },
    { field: "role_id", constraint: "format", pattern: "^[a-z0-9._-]+(@v\\d+)?$" },
  ],
  ["a list for meta", { meta: [] }, { field: "meta", constraint: "type" }],
  ["a number for an action", { meta: { action: 1 } }, { field: "meta.action", constraint: "type" }],
  ["a NUL in whom to ask", { meta: { to: "a\0" } }, { field: "meta.to", constraint: "characters" }],
  [
    "somebody else for an audience",
    { meta: { audience: "all" } },
    { field: "meta.audience", constraint: "enum", allowed: ["team", "public"] },
  ],
  [
    "one option",
    { ask_type: "CHOICE", meta: { options: ["a"] } },
    { field: "meta.options", constraint: "length", min: 2, max: 20 },
  ],
  ["one option of something else", { meta: { options: ["a"] } }, null],
  [
    "too many members",
    { meta: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`k${i}`, i])) },
    { field: "meta", constraint: "length", min: 0, max: 200 },
  ],
  [
    "a schema that cannot be used",
    { meta: { prompt_overrides: { output_schema: { type: "nothing" } } } },
    { field: "meta.prompt_overrides.output_schema", constraint: "schema" },
  ],
  [
    "a long value",
    { meta: { input: { text: times(65_536, "x") } } },
    { field: "meta.input", constraint: "size", max_bytes: 65_536 },
  ],
  [
    "an envelope without a role",
    { context_envelope: { job_snapshot: {} } },
    { field: "context_envelope.role", constraint: "required" },
  ],
  ["words for an envelope", { context_envelope: "x" }, { field: "context_envelope", constraint: "type" }],
  ["digits beyond what doubles hold", { meta: { input: { n: "@" } } }, null],
];

for (const on of ONE_DATABASE) {
  describe(`the fields of an ask on ${on}`, () => {
    const scene = sharedRelay(on);

    it("says which field is wrong, and all of them where there are more", async () => {
      const { ana, world } = scene();
      for (const [what, more, details] of FIELDS) {
        const body = JSON.stringify(bare({ job_id: fresh("J"), ...more })).replace('"@"', "12345678901234567890");
        const reply = await world.call("POST", "/asks", {
          headers: { ...ana.headers, "content-type": "application/json" },
          body,
        });
        if (details === null) assert.equal(reply.status, 202, `${what}: ${reply.text}`);
        else
          assert.deepEqual(
            { ...reply.body.error.details, ...details },
            reply.body.error.details,
            `${what}: ${reply.text}`,
          );
        if (details !== null) assert.deepEqual([reply.status, reply.body.error.code], [400, "VALIDATION_ERROR"], what);
        if (reply.status === 202) await ana.call("DELETE", `/asks/${reply.body.ask_id}`);
      }
      const one = await ana.post("/asks", bare({ prompt: "" }));
      assertRelayError(one, 400, invalid({ field: "prompt", constraint: "length", min: 1, max: 16_000 }));
      const { body } = await ana.post("/asks", { step_id: "S", ask_type: "GUESS", prompt: 1, context_hash: "h" });
      assert.deepEqual(
        body.error.details.errors.map(({ field }: { field: string }) => field),
        ["job_id", "ask_type", "prompt"],
      );
      assert.equal(body.error.details.field, "job_id");
    });
  });
}
