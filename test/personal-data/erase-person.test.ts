import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readTables } from "../../src/backup/store/tables.ts";
import { changeHuman } from "../../src/access/enroll-human.ts";
import { findBrokenAudit, sealAudit } from "../../src/core/store/audit.ts";
import { DATABASE_FILE } from "../../src/core/store/data-dir.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { erasePerson } from "../../src/personal-data/erase-person.ts";
import { exportPerson } from "../../src/personal-data/export-person.ts";
import { answerInquiry } from "../../src/requests/inbox/inquire.ts";
import { ANSWERS_INQUIRIES } from "../../src/requests/model/inquiry.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { setOptedOut } from "../../src/requests/store/phones.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { askPeople, leaf, until } from "../support/addressed.ts";
import { accepted, callBody, openScene, type Scene } from "../support/a2h.ts";
import { DATABASES, type DatabaseName } from "../support/world.ts";

const BY = { kind: "server", id: "cli:root" } as const;
const MAIL = "ana.ruiz@people.example";
const OLD_MAIL = "anita@old.example";
const PHONE = "+4915112345678";
const SLACK = "U0ANARUIZ1";
const TRACES = ["ana ruiz", MAIL, OLD_MAIL, PHONE.slice(1), SLACK.toLowerCase()];

interface Town {
  scene: Scene;
  /** Ana's number. */
  id: string;
  /** The request she approved, the one that waits for her, and the one that waits for a mail address of hers. */
  asks: { approved: string; waiting: string; byAddress: string };
  /** The call she approved, as the agent names it. */
  called: string;
}

const sent = async ({ world, email }: Scene, count: number) =>
  until(async () => {
    await world.advance(500);
    return email.sent.length >= count;
  });

/** Ana has approved a call, is asked for another, has answered the crowd, and had another mail address before. */
async function openTown(on: DatabaseName): Promise<Town> {
  const scene = await openScene(on);
  const { world, agent, admin } = scene;
  const { ctx } = world.server;
  const email = (address: string) => ({ email: { address, context_about_user: "Ana Ruiz pays" } });
  const ana = await scene.human("Ana Ruiz", { prioritizedContactChannels: [email(OLD_MAIL)] });
  await scene.human("Bo Lind");
  const spec = { fn: "issue_refund", kwargs: { note: "as Ana Ruiz said" }, channel: { human: { id: ana.id } } };

  const first = callBody(spec);
  accepted(await agent.post("/function_calls", first));
  await sent(scene, 1);
  const answer = { approved: true, comment: "Fine. Ana Ruiz" };
  accepted(await ana.answer.post(`/agent/function_calls/${first.call_id}/respond`, answer));
  await changeHuman(
    ctx,
    Number(ana.id),
    (human) => ({
      ...human,
      title: "Head of Ana Ruiz Ltd",
      channels: [
        { channel: "email", target: { to: MAIL, informed: false, settings: { to: [MAIL], cc: [] } } },
        { channel: "sms", target: { to: PHONE, settings: {} } },
        { channel: "slack", target: { to: SLACK, settings: {} } },
      ],
    }),
    BY,
  );
  await transact(ctx, (tx) => setOptedOut(tx, "sms", PHONE, true));
  const second = callBody({ ...spec, kwargs: { order: 7 } });
  accepted(await agent.post("/function_calls", second));
  const byAddress = await askPeople(ctx, {
    ref: "call:by-address",
    audience: leaf({ via: "email", to: MAIL, informed: false, settings: { to: [MAIL], cc: ["bo@people.example"] } }),
  });
  await sent(scene, 3);

  const { url } = accepted(await admin.call("POST", `//admin/people/${ana.id}/sign_in_link`));
  accepted(await world.call("POST", "/session", { body: { code: url.split("#start=")[1] } }));
  const { id: question } = await world.agent("crowd-bot").ask({ prompt: "Is Ana Ruiz in today?" });
  const answered = await ana.answer.call("POST", "//human/responses", { question_id: question, answer: "I am." });
  assert.equal(answered.status, 201, answered.text);
  await transact(ctx, (tx) =>
    tx.all(
      sql`INSERT INTO limit_windows (bucket, subject, opened_at, used) VALUES ('mails', ${MAIL}, parley_now(), 1)`,
    ),
  );
  const idOf = async (call: string) => accepted(await agent.get(`/function_calls/${call}`)).status.ask_id as string;
  return {
    scene,
    id: ana.id,
    called: first.call_id,
    asks: { approved: await idOf(first.call_id), waiting: await idOf(second.call_id), byAddress: byAddress.id },
  };
}

/** Returns every value of every table in which something of Ana stands still. */
async function tracesIn({ world }: Scene): Promise<string[]> {
  const { db } = world.server.ctx;
  const found: string[] = [];
  for (const { name } of await readTables(db)) {
    for (const row of await db.all<Record<string, unknown>>(raw(`SELECT * FROM "${name}"`))) {
      for (const [column, value] of Object.entries(row)) {
        const text = String(value).toLowerCase();
        if (TRACES.some((trace) => text.includes(trace))) found.push(`${name}.${column}`);
      }
    }
  }
  return found.sort();
}

async function sealAll({ world }: Scene): Promise<void> {
  while (await sealAudit(world.server.ctx.db));
}

for (const on of DATABASES) {
  describe(`erasing a person, on ${on}`, () => {
    it("leaves the name and the addresses nowhere but in arguments that were approved", async () => {
      const { scene, id, asks } = await openTown(on);
      await using _ = scene;
      const { ctx } = scene.world.server;
      const tables = (columns: readonly string[]) => new Set(columns.map((column) => column.split(".")[0]));
      const before = tables(await tracesIn(scene));
      for (const table of ["people", "identities", "deliveries", "requests", "decisions", "phones", "questions"]) {
        assert.ok(before.has(table), `${table} of [${[...before].join(", ")}]`);
      }

      const tried = await erasePerson(ctx, "Ana Ruiz", { by: BY, dryRun: true });
      assert.deepEqual(tables(await tracesIn(scene)), before);
      const erased = await erasePerson(ctx, "Ana Ruiz", { by: BY, dryRun: false });
      assert.deepEqual(erased, tried);
      assert.deepEqual([erased.pseudonym, erased.addresses], [`Erased person ${id}`, 4]);
      assert.deepEqual(erased.argumentsKept, [asks.approved]);
      assert.deepEqual(await tracesIn(scene), ["requests.form"]);
    });

    it("keeps what was decided, by the pseudonym, with its receipt and a record that is whole", async () => {
      const { scene, id, asks, called } = await openTown(on);
      await using _ = scene;
      const { world, agent, admin } = scene;
      const { ctx } = world.server;
      const receipt = () => agent.call("GET", `//receipts/${asks.approved}`);
      const decided = async () =>
        JSON.parse(Buffer.from((await receipt()).text.split(".")[1] ?? "", "base64url").toString()).decided;
      const before = await decided();
      await sealAll(scene);
      await erasePerson(ctx, id, { by: BY, dryRun: false });
      await sealAll(scene);

      assert.deepEqual(await decided(), before);
      assert.equal(await findBrokenAudit(ctx.db), undefined);
      const broken = (await examineStore(ctx, { quick: false })).filter(({ offenders }) => offenders.length > 0);
      assert.deepEqual(broken, []);
      const { items } = accepted(await admin.get("/audit?action=human.erased"));
      assert.deepEqual([items[0].actor, items[0].data], [BY, { person: id }]);
      const { items: approvals } = accepted(
        await admin.get(`/audit?ask_id=${asks.approved}&action=function_call.approved`),
      );
      assert.deepEqual(approvals[0].actor, { kind: "human", id });
      const { status } = accepted(await agent.get(`/function_calls/${called}`));
      assert.deepEqual([status.user_info.id, status.user_info.name], [id, `Erased person ${id}`]);
    });

    it("has what waited for the person, or for an address of theirs, wait for everybody who sees all", async () => {
      const { scene, id, asks } = await openTown(on);
      await using _ = scene;
      const { ctx } = scene.world.server;
      await erasePerson(ctx, id, { by: BY, dryRun: false });
      for (const requestId of [asks.waiting, asks.byAddress]) {
        const [row] = await ctx.db.all<{ state: string; audience: string }>(
          sql`SELECT state, audience FROM requests WHERE ask_id = ${requestId}`,
        );
        assert.equal(row?.state, "open");
        assert.deepEqual(JSON.parse(row.audience), { kind: "leaf", target: { via: "inbox" } });
      }
    });

    it("finds people who were removed, tells those of one name apart, and spares whoever runs the server", async () => {
      const { scene, id } = await openTown(on);
      await using _ = scene;
      const { ctx } = scene.world.server;
      const other = await scene.human("Ana Ruiz");
      await assert.rejects(erasePerson(ctx, "Ana Ruiz", { by: BY, dryRun: false }), /say which by number: \d+, \d+/);
      await assert.rejects(erasePerson(ctx, "Nobody", { by: BY, dryRun: false }), /No person has this number/);
      await assert.rejects(erasePerson(ctx, "1", { by: BY, dryRun: false }), /Whoever runs this server/);

      await removeHuman(ctx, Number(id), BY);
      const erased = await erasePerson(ctx, id, { by: BY, dryRun: false });
      assert.equal(erased.isNameShared, true);
      const addresses = (await tracesIn(scene)).filter((place) => /identities|phones|limit_windows/.test(place));
      assert.deepEqual(addresses, []);
      const { name } = accepted(await scene.admin.get(`/humans/${other.id}`));
      assert.equal(name, "Ana Ruiz");
    });

    it("exports all of it before, without a credential, and nobody else's", async () => {
      const { scene, id, asks } = await openTown(on);
      await using _ = scene;
      const found = await exportPerson(scene.world.server.ctx, "Ana Ruiz");
      assert.deepEqual([found.person, found.name], [id, "Ana Ruiz"]);
      assert.deepEqual(new Set(found.addresses), new Set([MAIL, OLD_MAIL, PHONE, SLACK]));
      const { tables } = found;
      const idsIn = (table: string, column: string) => (tables[table] ?? []).map((row) => row[column]);
      assert.ok(idsIn("requests", "ask_id").includes(asks.approved));
      assert.ok(idsIn("requests", "ask_id").includes(asks.waiting));
      assert.deepEqual(idsIn("responses", "answer"), ["I am."]);
      assert.deepEqual(idsIn("questions", "prompt"), ["Is Ana Ruiz in today?"]);
      assert.deepEqual(idsIn("phones", "number"), [PHONE]);
      assert.deepEqual(idsIn("people", "name"), ["Ana Ruiz"]);
      assert.ok(found.record.some(({ action }) => action === "function_call.approved"));
      assert.match(String(tables["people"]?.[0]?.["created_at"]), /^\d{4}-\d\d-\d\dT/);
      assert.doesNotMatch(JSON.stringify(tables), /"(hash|link_hash|reply_hash|recovery_hash|network)":/);
      assert.doesNotMatch(JSON.stringify(tables), /Bo Lind/);
    });

    it("exports and erases a question that somebody who sees everything put to an agent", async () => {
      const scene = await openScene(on);
      await using _ = scene;
      const { ctx } = scene.world.server;
      const eve = await scene.human("Eve Moe", { inboxScope: "all" });
      await scene.human("Bo Lind");
      const { id: ask, asker } = await askPeople(ctx, {
        audience: leaf({ via: "inbox" }),
        form: { kind: "reply", options: [] },
        digest: null,
        wire: ANSWERS_INQUIRIES,
      });
      accepted(await eve.answer.post(`//people/me/asks/${ask}/inquiries`, { text: "Eve Moe asks: why?" }));
      const rows = async (name: string) => (await exportPerson(ctx, name)).tables["requests"] ?? [];
      assert.deepEqual([(await rows("Eve Moe")).length, (await rows("Bo Lind")).length], [1, 0]);
      await erasePerson(ctx, "Eve Moe", { by: BY, dryRun: false });
      const [inquiry] = (await findRequest(ctx.db, ask))?.request.inquiries ?? [];
      assert.match(inquiry?.text ?? "", /^Erased person \d+ asks: why\?$/);
      await answerInquiry(ctx, { asker, id: `${ask}.1` }, "Because");
      assert.deepEqual(await listDeliveries(ctx.db, ask), []);
    });
  });
}

describe("the file of an SQLite store", () => {
  it("holds no byte of the addresses once the person is erased and the server has stopped", async () => {
    const { scene, id } = await openTown("sqlite");
    await using _ = scene;
    const { world } = scene;
    const file = join(world.config.dataDir, DATABASE_FILE);
    await erasePerson(world.server.ctx, id, { by: BY, dryRun: false });
    await world.server.stop();
    const bytes = readFileSync(file).toString("latin1").toLowerCase();
    for (const trace of [MAIL, OLD_MAIL, PHONE.slice(1), SLACK.toLowerCase()]) assert.ok(!bytes.includes(trace), trace);
  });
});
