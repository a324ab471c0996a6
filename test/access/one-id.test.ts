import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pino } from "pino";
import { RENAMED_TABLES } from "../../src/core/store/migrations/0033-table-names.ts";
import { loadConfig } from "../../src/config/config.ts";
import { policyInput } from "../../src/policy/model/policy.ts";
import { startServer } from "../../src/server/server.ts";
import { transact } from "../../src/core/store/transact.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { changeRole } from "../../src/access/change-role.ts";
import { createKey } from "../../src/access/create-key.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { storeGrant } from "../../src/policy/grants.ts";
import { askPeople, enrol, leaf } from "../support/addressed.ts";
import { accepted, callBody, openScene } from "../support/a2h.ts";
import { answer, namedPerson, OPERATOR } from "../support/identities.ts";
import { WITHOUT_36_TO_52 } from "../support/former-schema.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`a person's one id, on ${on}`, () => {
    it("is the same number in the key, the session, the receipt, the record and what the agent is told", async () => {
      await using scene = await openScene(on);
      const { admin, agent, world } = scene;
      const { id } = accepted(
        await admin.post("/humans", { name: "Ana Ruiz", prioritizedContactChannels: [{ inbox: {} }] }),
      );
      assert.match(id, /^[1-9]\d*$/);
      const { people } = accepted(await admin.call("GET", "//admin/people"));
      assert.deepEqual(
        people.map((one: { id: string; operator: boolean }) => [one.id, one.operator]),
        [
          [OPERATOR, true],
          [id, false],
        ],
      );
      const made = accepted(await admin.call("POST", "//admin/keys", { name: "phone", scope: "answer", person: id }));
      assert.equal(made.person, id);
      const { url } = accepted(await admin.call("POST", `//admin/people/${id}/sign_in_link`));
      const session = accepted(await world.call("POST", "/session", { body: { code: url.split("#start=")[1] } }));
      assert.equal(session.person.id, id);

      const call = callBody({ channel: { human: { id } } });
      accepted(await agent.post("/function_calls", call));
      const answer = { approved: true };
      const headers = { authorization: `Bearer ${made.key}` };
      accepted(
        await world.call("POST", `/a2h/v1alpha1/agent/function_calls/${call.call_id}/respond`, {
          headers,
          body: answer,
        }),
      );
      const { status } = accepted(await agent.get(`/function_calls/${call.call_id}`));
      const receipt = await agent.call("GET", `//receipts/${status.ask_id}`);
      const [decided] = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString()).decided;
      assert.deepEqual([decided.kind, decided.id, status.user_info.id], ["person", id, id]);
      const { items } = accepted(await admin.get(`/audit?ask_id=${status.ask_id}&action=function_call.approved`));
      assert.deepEqual(items[0].actor, { kind: "human", id });
    });

    it("names somebody wherever one is named: whoever is nobody is refused", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const refused = { code: "person_not_found" };
      for (const person of ["99", "operator", "Ana Ruiz"]) {
        await assert.rejects(createKey(ctx, { name: "x", scope: "answer", person }), refused, person);
      }
      await assert.rejects(createKey(ctx, { name: "x", scope: "agent", channel: "99" }), refused);
      assert.equal((await createKey(ctx, { name: "x", scope: "agent", channel: OPERATOR })).key.channel, OPERATOR);
    });

    it("is all that is left in a store in which people had another id as well, and nothing else changes there", async () => {
      await using world = await openWorld({ on });
      await liveFully(world);
      const before = await rowsOf(world);
      await callAsBefore(world);
      assert.notDeepEqual(await rowsOf(world), before);
      await world.restart();
      assert.deepEqual(await rowsOf(world), before);
      const { ctx } = world.server;
      const flags = await ctx.db.all(sql`SELECT person_id, former_id, is_operator FROM people ORDER BY number`);
      assert.deepEqual(flags, [
        { person_id: OPERATOR, former_id: null, is_operator: 0 },
        { person_id: ANA, former_id: "operator", is_operator: 1 },
        { person_id: BO, former_id: "person_4Jx0mT9bVq2Lr7Hs1Zc8Wd", is_operator: 0 },
      ]);
      const findings = await examineStore(ctx, { quick: false });
      assert.deepEqual(
        findings.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });
  });
}

/** Numbers that are no part of anything else that is stored, so that every one that is found is somebody's. */
const [ANA, BO] = ["70345001", "70345002"];
const FORMER = [
  [ANA, "operator"],
  [BO, "person_4Jx0mT9bVq2Lr7Hs1Zc8Wd"],
] as const;

/** Both have keys and sessions, decide, answer the crowd's questions, are refused, and are asked. */
async function liveFully(world: World): Promise<void> {
  const { ctx } = world.server;
  await ctx.db.transact((tx) => tx.all(sql`UPDATE numbers SET last = ${Number(ANA) - 1} WHERE name = 'channel'`));
  const slack = { channel: "slack", target: { via: "slack", to: "U0ANA" } } as const;
  const webhook = (person: string) => ({ channel: "webhook", target: { to: "desk", people: [person] } }) as const;
  await enrol(ctx, "Ana", [slack, webhook(ANA)], { identities: [{ kind: "slack", value: "U0ANA" }], seesAll: true });
  await changeRole(ctx, { person: ANA, role: "admin" }, { kind: "server", id: "test" });
  const bo = await namedPerson(world, "Bo");
  assert.equal(bo.id, BO);

  const { id } = await world.agent("asker").ask({ type: "multiple_choice", options: ["a", "b"], min_responses: 2 });
  for (const shown of [await bo.signIn(), await bo.key()]) await answer(world, id, shown);
  await answer(world, id, {
    authorization: `Bearer ${(await createKey(ctx, { name: "a", scope: "answer", person: ANA })).text}`,
  });

  const people = [ANA, BO];
  const nodes = [leaf({ via: "webhook", to: "desk", people }), leaf({ ...slack.target, settings: {} })];
  const audience = { kind: "any", of: nodes.map((node) => ({ afterMs: 0, node })) } as const;
  const ask = await askPeople(ctx, { audience });
  const approve = { kind: "approve" } as const;
  await assert.rejects(
    decideRequest(ctx, { requestId: ask.id, responder: await responderOf(ctx.db, BO, "web"), decision: approve }),
  );
  await askPeople(ctx, { audience: leaf({ via: "person", person: BO }) });
  await decideRequest(ctx, { requestId: ask.id, responder: await responderOf(ctx.db, ANA, "web"), decision: approve });
  const open = await askPeople(ctx, { audience });
  await assert.rejects(
    decideRequest(ctx, { requestId: open.id, responder: await responderOf(ctx.db, BO, "web"), decision: approve }),
  );
  await ctx.db.transact((tx) => tx.all(sql`UPDATE deliveries SET person = ${ANA}`));
  const input = policyInput({ action: "deploy", resource: "shop-api", agent: "ana-bot" });
  await transact(ctx, (tx) => storeGrant(ctx, tx, { input, approvalId: ask.id, person: ANA, forMs: 30 * 86_400_000 }));
}

type Column = { table: string; column: string };

/** Every column of text in the store; the record keeps what was written. */
async function textColumns({ server: { ctx } }: World): Promise<Column[]> {
  const columns = await ctx.db.all<Column>(
    ctx.db.dialect === "sqlite"
      ? sql`SELECT m.name AS "table", c.name AS "column" FROM sqlite_master m JOIN pragma_table_info(m.name) c
          WHERE m.type = 'table' AND c.type = 'TEXT' ORDER BY 1, 2`
      : sql`SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
          WHERE table_schema = 'public' AND data_type = 'text' ORDER BY 1, 2`,
  );
  return columns.filter(({ table, column }) => table !== "audit" && table !== "migrations" && column !== "former_id");
}

/** Returns the values of these columns, sorted, so that the order of rows does not matter. */
async function rowsOf(world: World): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const { table, column } of await textColumns(world)) {
    const name = `${table}.${column}`;
    const rows = await world.server.ctx.db.all<{ said: unknown }>(
      raw(`SELECT ${column} AS said FROM ${table} ORDER BY 1`),
    );
    const said = rows.map((row) => String(row.said));
    if (said.some((text) => /70345|person_4Jx|operator/.test(text))) found[name] = said;
  }
  return found;
}

/** The store is as it was before numbers were the only ids. */
async function callAsBefore(world: World): Promise<void> {
  const columns = await textColumns(world);
  await world.server.ctx.db.transact(async (tx) => {
    await withoutReferences(tx);
    for (const { table, column } of columns) {
      for (const [id, former] of FORMER) {
        await tx.all(
          raw(
            `UPDATE ${table} SET ${column} = replace(${column}, '${id}', '${former}') WHERE ${column} LIKE '%${id}%'`,
          ),
        );
      }
    }
    await tx.all(raw("DROP INDEX people_operator"));
    for (const column of ["former_id", "is_operator"]) await tx.all(raw(`ALTER TABLE people DROP COLUMN ${column}`));
    // Nor was there what came after that.
    for (const statement of WITHOUT_36_TO_52) await tx.all(raw(statement));
    await tx.all(raw("DROP TABLE gate_calls"));
    await tx.all(raw("DROP TABLE policy_servers"));
    await tx.all(raw("DROP TABLE leaderboard_names"));
    await tx.all(raw("DROP TABLE person_totals"));
    await tx.all(raw("DROP INDEX asks_question"));
    await tx.all(raw("ALTER TABLE asks DROP COLUMN question_id"));
    await tx.all(raw("ALTER TABLE deliveries DROP COLUMN exposed_at"));
    await tx.all(raw("DROP INDEX push_subscriptions_of_credential"));
    await tx.all(raw("ALTER TABLE push_subscriptions DROP COLUMN credential"));
    for (const [before, now] of RENAMED_TABLES) await tx.all(raw(`ALTER TABLE ${now} RENAME TO ${before}`));
    await tx.all(raw("DELETE FROM migrations WHERE number >= 27"));
    if (tx.dialect === "postgres") await tx.all(raw("SET LOCAL session_replication_role = origin"));
  });
}

async function withoutReferences(tx: Tx): Promise<void> {
  if (tx.dialect === "sqlite") await tx.all(raw("PRAGMA defer_foreign_keys = ON"));
  else await tx.all(raw("SET LOCAL session_replication_role = replica"));
}

describe("a server whose settings name people", () => {
  it("does not start where one of them is nobody, and says which and where", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-named-"));
    const file = join(folder, "parley.yaml");
    const start = (settings: string) => {
      writeFileSync(file, settings);
      const env = { HOME: folder, PARLEY_DATA_DIR: join(folder, "data"), PARLEY_PORT: "0" };
      return startServer(loadConfig({ env, file }), { log: pino({ level: "fatal" }) });
    };
    const target = (humans: string) =>
      `webhook_targets: { desk: { url: "https://desk.example.com", secret: whsec_${"A".repeat(32)}, humans: [${humans}] } }\n`;
    const rest =
      'a2h: { default_channel: 8, channels: { billing: { any_of: [{ human: { id: "9" } }, { human: { id: "1" } }] } } }\n';
    await assert.rejects(start(target('1, "7"') + rest), {
      message: [
        "webhook_targets.desk.humans names 7, and no person has this number; parley people list shows them.",
        "a2h.channels.billing names 9, and no person has this number; parley people list shows them.",
        "a2h.default_channel names 8, and no person has this number; parley people list shows them.",
      ].join("\n"),
    });
    await assert.rejects(start(target("operator")), {
      message:
        "webhook_targets.desk.humans names operator, which is no group of people.groups; people are named by number.",
    });
    assert.throws(() => loadConfig({ env: { HOME: folder }, file: writeTarget('"Ana Ruiz"') }), /numbers of people/);
    const server = await start(target("1"));
    await server.stop();
    rmSync(folder, { recursive: true });

    function writeTarget(humans: string): string {
      writeFileSync(file, target(humans));
      return file;
    }
  });
});
