import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newAnswer, gist, sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const COLUMNS = [{ name: "id", type: "uuid", nullable: false }];
const ANY = [
  COLUMNS,
  { deep: { list: [1, null, "näher", { a: [] }] } },
  {},
  [],
  "EUR",
  "",
  412,
  0,
  -1.5,
  true,
  false,
  '{"not":"parsed"}',
  [null],
];
const schemaOf = (output_schema: object) => ({ meta: { prompt_overrides: { output_schema } } });

for (const on of DATABASES) {
  describe(`the JSON of an answer on ${on}`, () => {
    const scene = sharedRelay(on);

    it("comes back as it was given, from a person as from a service, alone or beside words", async () => {
      const { ask, withPeople, answerTo, person, program } = scene();
      const dana = (await person()).by;
      const service = await program({ name: "columns", scope: "answer" });
      for (const [who, by] of [
        ["person", dana],
        ["service", service],
      ] as const) {
        for (const [i, answer_json] of ANY.entries()) {
          for (const words of [{}, ...(i < 3 ? [{ answer_text: "The columns of orders." }] : [])]) {
            const one = await ask({ ask_type: "RESOURCE_FETCH", prompt: "Which columns has orders?" });
            await withPeople(one);
            const { status, body } = await by.post("/answers", newAnswer(one, { answer_json, ...words }));
            assert.equal(status, 202, JSON.stringify(body));
            assert.deepEqual(gist(body), { status: "ANSWERED", source: who, answer_json, ...words });
            assert.deepEqual(body, await answerTo(one), "whoever waits gets the same");
          }
        }
      }
    });

    it("stays beside a value for a schema, a choice, an approval and a rejection", async () => {
      const { ask, withPeople, person } = scene();
      const dana = (await person()).by;
      const approval = { ask_type: "APPROVAL", meta: { action: "deploy" } };
      const choice = { ask_type: "CHOICE", prompt: "Which?\n- Red\n- Blue" };
      for (const [input, given, expected] of [
        [
          schemaOf({ type: "array" }),
          { answer_json: COLUMNS, answer_text: "Without views." },
          { answer_json: COLUMNS, answer_text: "Without views." },
        ],
        [
          approval,
          { answer_json: { approved: true, until: ["Friday"], by: "somebody" } },
          { answer_json: { approved: true, until: ["Friday"], by: "person" } },
        ],
        [
          { ask_type: "POLICY_DECISION", meta: { action: "write" } },
          { answer_json: { decision: "ALLOW", ticket: 7 } },
          { answer_json: { decision: "ALLOW", rules: [], by: "person", ticket: 7 } },
        ],
        [
          choice,
          { answer_json: { choice: "blue", because: "It is calmer." } },
          { answer_text: "Blue", answer_json: { choice: "Blue", index: 1, because: "It is calmer." } },
        ],
        [
          approval,
          { status: "REJECTED", answer_text: "No.", answer_json: ["Monday"], artifacts: ["plan.md"] },
          { status: "REJECTED", error: "E_HUMAN_REJECT: No.", answer_json: ["Monday"] },
        ],
        [
          {},
          { status: "REJECTED", error: "not ours", answer_json: { owner: "shop" } },
          { status: "REJECTED", error: "E_HUMAN_REJECT: not ours", answer_json: { owner: "shop" } },
        ],
      ] as const) {
        const one = await ask(input);
        await withPeople(one);
        const { status, body } = await dana.post("/answers", newAnswer(one, given));
        assert.equal(status, 202, JSON.stringify(body));
        assert.deepEqual(gist(body), { status: "ANSWERED", source: "person", ...expected });
        if ("artifacts" in given) assert.deepEqual(body.artifacts, given.artifacts);
      }
    });

    it("keeps every digit, and another value is another answer", async () => {
      const { ask, withPeople, person } = scene();
      const dana = (await person()).by;
      const one = await ask();
      await withPeople(one);
      const send = (digits: string) =>
        dana.post("/answers", JSON.stringify(newAnswer(one, { answer_json: "DIGITS" })).replace('"DIGITS"', digits));
      const given = await send("12345678901234567890");
      assert.match(given.text, /"answer_json":12345678901234567890[,}]/);
      assert.equal((await send("12345678901234567890")).status, 202, "the same again is the same answer");
      assert.equal((await send("12345678901234567891")).status, 409);
    });
  });
}
