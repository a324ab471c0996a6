import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { raw, sql } from "../../src/core/store/sql.ts";
import { fresh, until } from "../support/contract.ts";
import { assertRelayError } from "../support/jobs.ts";
import { answer, codeOf, newAsk, sharedRelay, type RelayScene } from "../support/relay.ts";
import { ONE_DATABASE } from "../support/world.ts";

let drawn = 0;
/** A token that nobody else has, of a format that is known. */
const token = (): string => `gh${"p_"}${String((drawn += 1)).padStart(4, "0")}${"Zq7Xk2Lm".repeat(4)}`;

/** Returns where a text stands in the whole database: `asks.prompt`. */
async function placesOf({ world }: RelayScene, text: string): Promise<string[]> {
  const { db } = world.server.ctx;
  const tables = await db.all<{ name: string }>(
    world.on === "sqlite"
      ? sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  assert.ok(tables.length > 20);
  const places: string[] = [];
  for (const { name } of tables) {
    const rows = await db.all<Record<string, unknown>>(raw(`SELECT * FROM ${name}`));
    for (const row of rows) {
      for (const [column, value] of Object.entries(row))
        if (String(value).includes(text)) places.push(`${name}.${column}`);
    }
  }
  return places;
}

for (const on of ONE_DATABASE) {
  describe(`secrets in asks and answers on ${on}`, () => {
    const scene = sharedRelay(on);

    it("are taken out of an ask before anything is stored or sent, wherever they stand", async () => {
      const { ana, person, withPeople } = scene();
      const dana = await person();
      const planted: Record<string, string> = Object.fromEntries(
        ["prompt", "fact", "deep", "name", "args", "option", "append", "to", "reason"].map((where) => [where, token()]),
      );
      const wish = newAsk({
        job_id: "J-planted",
        ask_type: "APPROVAL",
        context_hash: undefined,
        prompt: `Deploy with ${planted["prompt"]}?`,
        context_envelope: { job_snapshot: { repo: planted["deep"] }, facts: { a: [planted["fact"]] }, role: "r" },
        meta: {
          action: "deploy",
          reason: planted["reason"],
          args: { token: planted["args"], [planted["name"] ?? ""]: 1 },
          options: [planted["option"], "b"],
          prompt_overrides: { system_append: planted["append"] },
          to: planted["to"],
        },
      });
      const reply = await ana.post("/asks", wish);
      assert.equal(reply.status, 202, reply.text);
      const warned = reply.body.warnings as { path: string; rule: string }[];
      assert.equal(warned.length, Object.keys(planted).length);
      assert.deepEqual(warned[0], { path: "prompt", rule: "github-token" });
      assert.equal(reply.body.prompt, "Deploy with [secret:github-token]?");
      const id = await withPeople(reply.body);
      const shown = [(await dana.whole(id)).text, (await ana.get(`/asks/${reply.body.ask_id}`)).text, reply.text];
      shown.push((await ana.get("/jobs/J-planted/asks")).text);
      await answer(dana.by, reply.body, { answer_json: { approved: true } });
      shown.push((await ana.get(`/asks/${reply.body.ask_id}/answer`)).text);
      for (const [where, secret] of Object.entries(planted)) {
        assert.deepEqual(await placesOf(scene(), secret), [], where);
        for (const text of shown) assert.ok(!text.includes(secret), where);
      }
      assert.equal((await ana.post("/asks", { ...wish, ask_id: reply.body.ask_id })).status, 409);
    });

    it("are refused where what holds them is a name, and leave nothing behind", async () => {
      const { ana } = scene();
      for (const [field, path] of [
        ["ask_id", "ask_id"],
        ["job_id", "job_id"],
        ["step_id", "step_id"],
        ["context_hash", "context_hash"],
        ["tools", "constraints.allowed_tools[0]"],
      ] as const) {
        const secret = token();
        const more = field === "tools" ? { constraints: { allowed_tools: [secret] } } : { [field]: secret };
        const reply = await ana.post("/asks", newAsk({ ...more, context_envelope: undefined }));
        const details = [{ path, rule: "github-token", from: 0, to: secret.length }];
        assertRelayError(reply, 422, { code: "SECRET_DETECTED", message: "A secret was found in the body", details });
        assert.deepEqual(await placesOf(scene(), secret), []);
      }
    });

    it("leave hashes and ordinary ids alone, and references where they are", async () => {
      const { ask } = scene();
      const one = await ask({ ask_id: fresh("018f3c2e-7b7a-7c3a-9e62"), prompt: "Use secret://db/main?" });
      assert.deepEqual([one.prompt, one.warnings], ["Use secret://db/main?", []]);
    });

    it("are refused for the public, whatever the operator wants for a team", async () => {
      const { ana } = scene();
      const reply = await ana.post("/asks", newAsk({ prompt: token(), meta: { audience: "public" } }));
      assert.deepEqual(codeOf(reply), [422, "SECRET_DETECTED"]);
    });

    it("are refused in answers, by a key and in the inbox, and the ask stays pending", async () => {
      const { ana, ask, program, person, withPeople, world } = scene();
      const service = await program({ name: fresh("service"), scope: "answer" });
      const dana = await person();
      const one = await ask();
      const id = await withPeople(one);
      for (const by of [service, dana.by]) {
        for (const [field, value] of [
          ["answer_text", token()],
          ["answer_json", { a: [token()] }],
          ["ask_back", token()],
          ["artifacts", [token()]],
        ] as const) {
          const reply = await answer(by, one, { answer_text: "x", [field]: value });
          assert.deepEqual(codeOf(reply), [422, "SECRET_DETECTED"], field);
          assert.ok(reply.body.error.details[0].path.startsWith(field));
        }
      }
      const secret = token();
      const told = await dana.decide(id, { text: `It is ${secret}` });
      assert.deepEqual(codeOf(told), [422, "SECRET_DETECTED"]);
      assert.match(told.body.error.message, /^What stands in text looks like a secret \(github-token\)\./);
      assert.deepEqual(await placesOf(scene(), secret), []);
      assert.equal((await ana.get(`/asks/${one.ask_id}`)).body.status, "PENDING");

      const approval = await ask({ ask_type: "APPROVAL", meta: { action: "deploy" } });
      const comment = { approved: true, comment: `with ${secret}` };
      assert.deepEqual(codeOf(await dana.decide(await withPeople(approval), comment)), [422, "SECRET_DETECTED"]);
      const choice = await ask({ ask_type: "CHOICE", meta: { options: ["a", "b"] } });
      assert.equal((await dana.decide(await withPeople(choice), { text: secret })).status, 422);
      assert.deepEqual(await placesOf(scene(), secret), []);
      await world.advance(1000);
    });
  });

  describe(`secrets where asks that hold them are refused on ${on}`, () => {
    const scene = sharedRelay(on, { env: { PARLEY_RELAY_SECRETS: "reject" } });
    it("make an ask a mistake, which says where they stand and stores nothing", async () => {
      const { ana, ask } = scene();
      const secret = token();
      const wish = newAsk({ prompt: `é ${secret}`, meta: { args: { x: secret } } });
      const places = { rule: "github-token" };
      assertRelayError(await ana.post("/asks", wish), 422, {
        code: "SECRET_DETECTED",
        message: "A secret was found in the body",
        details: [
          { path: "prompt", ...places, from: 2, to: 2 + secret.length },
          { path: "meta.args.x", ...places, from: 0, to: secret.length },
        ],
      });
      assert.deepEqual(await placesOf(scene(), secret), []);
      const one = await ask();
      await until(async () => (await ana.get(`/asks/${one.ask_id}`)).body.stage === "people");
    });
  });
}
