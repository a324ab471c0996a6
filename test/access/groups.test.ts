import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { signedWebhookHeaders } from "../../src/lib/network/standard-webhooks.ts";
import { sql } from "../../src/core/store/sql.ts";
import { createKey } from "../../src/access/create-key.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { handOn } from "../../src/requests/inbox/hand-on.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { callBody, contactBody } from "../support/a2h.ts";
import { ROOMY, fresh } from "../support/contract.ts";
import { somebody, type Decider } from "../support/deciders.ts";
import { OPERATOR } from "../support/identities.ts";
import { tool } from "../support/mcp.ts";
import { newFolder, parley } from "../support/program.ts";
import { gist, openRelayScene, type RelayScene } from "../support/relay.ts";
import { DATABASES, onOneDatabase } from "../support/world.ts";

/** Nobody listens there: what people say comes back by itself. */
const DESK = { url: "http://127.0.0.1:9/desk", secret: `whsec_${"A".repeat(32)}`, humans: ["finance"] };
const NO_WAIT = { max_wait_seconds: 0 };
const A2H = "/a2h/v1alpha1";

for (const on of DATABASES) {
  describe(`groups of people on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    let scene: RelayScene;
    let ana: Decider & { name: string };
    let bo: typeof ana;
    let cy: typeof ana;
    let gone: typeof ana;
    let headers: Record<string, string>;
    before(async () => {
      scene = await openRelayScene(on, { env: ROOMY });
      const { world } = scene;
      [ana, bo, cy, gone] = [
        await somebody(world),
        await somebody(world),
        await somebody(world),
        await somebody(world),
      ];
      world.config.people.groups = {
        finance: [Number(ana.number), bo.name],
        away: [gone.number],
        three: [ana.name, bo.name, cy.name],
      };
      world.config.webhookTargets = { desk: DESK, nobody: { ...DESK, humans: ["away"] } };
      await world.restart();
      await removeHuman(world.server.ctx, Number(gone.number), { kind: "admin", id: "operator" });
      await world.restart();
      const { text } = await createKey(world.server.ctx, { name: fresh("bot"), scope: "agent" });
      headers = { authorization: `Bearer ${text}` };
    });
    after(() => scene[Symbol.asyncDispose]());

    const inboxes = async () =>
      (await Promise.all([ana, bo, cy].map((one) => one.inbox()))).map(({ length }) => length);
    const post = (path: string, body: object) => scene.world.call("POST", `${A2H}${path}`, { headers, body });
    const get = async (path: string) => (await scene.world.call("GET", `${A2H}${path}`, { headers })).body;

    it("are asked together: whoever is first decides, and it leaves everybody's inbox", async () => {
      const body = callBody({ channel: { channel_id: "finance" } });
      assert.equal((await post("/function_calls", body)).status, 200);
      assert.deepEqual(await inboxes(), [1, 1, 0]);
      await bo.decides({ approved: true });
      assert.deepEqual(await inboxes(), [0, 0, 0]);
      const { status } = await get(`/function_calls/${body.call_id}`);
      assert.deepEqual([status.approved, status.user_info.id, status.user_info.name], [true, bo.number, bo.name]);
    });

    it("decide nothing more that the group was asked, once they have left it", async () => {
      const { world } = scene;
      const former = world.config.people.groups;
      const both = { all_of: [{ channel_id: "finance" }, { channel_id: "three" }] };
      const [one, joint] = [callBody({ channel: { channel_id: "finance" } }), callBody({ channel: both })];
      for (const body of [one, joint]) assert.equal((await post("/function_calls", body)).status, 200);
      const idOf = async ({ call_id }: { call_id: string }): Promise<string> =>
        (await get(`/function_calls/${call_id}`)).status.ask_id;
      const [oneId, jointId] = [await idOf(one), await idOf(joint)];
      await handOn(world.server.ctx, { requestId: oneId, person: bo.id }, { to: { person: ana.id } });
      assert.deepEqual(await inboxes(), [2, 1, 1]);
      assert.equal((await ana.decide(jointId, { approved: true })).status, 200);

      world.config.people.groups = { ...former, finance: [bo.name], three: [bo.name, cy.name] };
      await world.restart();
      assert.equal((await ana.decide(oneId, { approved: true })).status, 403);
      assert.equal((await bo.inbox()).length, 2, "what was handed to them is back");
      // An approval of somebody who has left fills no place, and no fewer people have to agree.
      assert.equal((await cy.decide(jointId, { approved: true })).status, 200);
      assert.equal((await get(`/function_calls/${joint.call_id}`)).status.approved, undefined);
      assert.equal((await bo.decide(jointId, { approved: true })).status, 200);
      assert.equal((await get(`/function_calls/${joint.call_id}`)).status.approved, true);
      assert.equal((await bo.decide(oneId, { approved: true })).status, 200);
      world.config.people.groups = former;
      await world.restart();
    });

    it("are in the record with the name of whoever decided", async () => {
      const body = callBody({ channel: { channel_id: "finance" } });
      await post("/function_calls", body);
      await ana.decides({ approved: false });
      const wanted = { callId: body.call_id, action: "function_call.rejected", afterSeq: 0, limit: 10 };
      const [one] = (await readAudit(scene.world.server.ctx, wanted)).items;
      assert.deepEqual([one?.actor, one?.data], [{ kind: "human", id: ana.id }, { group: "finance" }]);
    });

    itOnOne("fill as many places as they have people, where several must agree", async () => {
      const two = { quorum: { min: 2, of: [{ channel_id: "finance" }, { channel_id: "three" }] } };
      const body = callBody({ channel: two });
      assert.equal((await post("/function_calls", body)).status, 200);
      await bo.decides({ approved: true });
      assert.equal((await get(`/function_calls/${body.call_id}`)).status.approved, undefined);
      await cy.decides({ approved: true });
      assert.equal((await get(`/function_calls/${body.call_id}`)).status.approved, true);
    });

    itOnOne("are who a key's requests ask that name nobody", async () => {
      const { text } = await createKey(scene.world.server.ctx, {
        name: fresh("bot"),
        scope: "agent",
        channel: "finance",
      });
      const body = contactBody();
      const by = { authorization: `Bearer ${text}` };
      assert.equal((await scene.world.call("POST", `${A2H}/human_contacts`, { headers: by, body })).status, 200);
      assert.deepEqual(await inboxes(), [1, 1, 0]);
      await ana.decides({ text: "Tuesday" });
    });

    itOnOne("are who a target of the operator's own speaks for, each of them and nobody else", async () => {
      const { world } = scene;
      const body = callBody({ channel: { webhook: { name: "desk" } } });
      const { status, body: made } = await post("/function_calls", body);
      assert.equal(status, 200, JSON.stringify(made));
      const [sent] = await world.server.ctx.db.all<{ id: string }>(
        sql`SELECT delivery_id AS id FROM deliveries WHERE target LIKE ${'%"desk"%'} ORDER BY delivery_id DESC LIMIT 1`,
      );
      const says = async (responder: string) => {
        const answer = Buffer.from(
          JSON.stringify({ delivery: sent?.id, responder: { id: responder }, approved: false }),
        );
        const signed = signedWebhookHeaders([DESK.secret], fresh("msg"), world.clock.now(), answer);
        const reply = await fetch(`${world.url}/hooks/webhook/desk`, {
          method: "POST",
          headers: { "content-type": "application/json", ...signed },
          body: answer,
        });
        return reply.status;
      };
      assert.equal(await says(cy.number), 403);
      assert.equal(await says(bo.number), 200);
      const now = (await get(`/function_calls/${body.call_id}`)).status;
      assert.deepEqual([now.approved, now.user_info.id], [false, bo.number]);
    });

    itOnOne("speak for nobody at a target where nobody of them is left", async () => {
      const { status, body } = await post("/function_calls", callBody({ channel: { webhook: { name: "nobody" } } }));
      assert.equal(status, 403);
      assert.equal(body.error.code, "recipient_not_allowed");
    });

    itOnOne("are named by to of the tools, which list them", async () => {
      const { structuredContent: listed } = await tool(scene.world, "list_humans", {});
      assert.deepEqual(listed.groups, [
        { name: "finance", humans: [ana.number, bo.number] },
        { name: "three", humans: [ana.number, bo.number, cy.number] },
      ]);
      const args = { message: fresh("When?"), to: "finance", ...NO_WAIT };
      const { structuredContent: asked } = await tool(scene.world, "contact_human", args);
      assert.deepEqual(await inboxes(), [1, 1, 0]);
      await bo.decides({ text: "Tuesday" });
      const { structuredContent: said } = await tool(scene.world, "wait_for_human_responses", {
        question_id: asked.call_id,
      });
      assert.deepEqual([said.response, said.responder], ["Tuesday", { id: bo.number, name: bo.name }]);
    });

    itOnOne("are named by what executors ask, and answered by one of them", async () => {
      for (const meta of [{ to: "finance" }, { audience: "finance" }]) {
        const one = await scene.ask({ prompt: fresh("Which currency?"), meta });
        await scene.withPeople(one);
        assert.deepEqual(await inboxes(), [1, 1, 0]);
        await bo.decides({ text: "EUR" });
        const given = await scene.answerTo(one);
        assert.deepEqual(
          [gist(given), given.answered_by],
          [{ status: "ANSWERED", source: "person", answer_text: "EUR" }, bo.name],
        );
      }
      const body = { job_id: fresh("J"), step_id: "S", ask_type: "CLARIFICATION", prompt: "?", context_hash: "x" };
      const { error } = (await scene.ana.post("/asks", { ...body, meta: { audience: "nobody" } })).body;
      assert.deepEqual(error.details.field, "meta.audience");
      assert.ok(error.details.allowed.includes("finance"));
    });

    itOnOne("are named by rules, and so many of them must approve as the rule says", async () => {
      await scene.policy(
        "version: 7\ndefaults: { read: ESCALATE }\nrules:\n" +
          "  - { when: { action: one }, decision: ESCALATE, to: finance }\n" +
          "  - { when: { action: two }, decision: ESCALATE, to: three, need: 2 }\n",
      );
      const one = await scene.ask({ ask_type: "APPROVAL", meta: { action: "one", to: cy.name } });
      await scene.withPeople(one);
      assert.deepEqual(await inboxes(), [1, 1, 0]);
      await ana.decides({ approved: true });
      assert.equal((await scene.answerTo(one)).status, "ANSWERED");

      const two = await scene.ask({ ask_type: "APPROVAL", meta: { action: "two" } });
      const id = await scene.withPeople(two);
      const { body } = await ana.whole(id);
      assert.deepEqual(body.needs, { rule: "some", of: 3, least: 2 });
      await ana.decides({ approved: true });
      await cy.decides({ approved: true });
      assert.equal((await scene.answerTo(two)).status, "ANSWERED");
    });

    itOnOne("are refused as an unknown person is, where nobody of them can be asked", async () => {
      for (const channel of ["away", "nosuch"]) {
        const reply = await post("/function_calls", callBody({ channel: { channel_id: channel } }));
        assert.deepEqual([reply.status, reply.body.error.code], [422, "unknown_channel"], channel);
        const args = { message: "When?", to: channel, ...NO_WAIT };
        const { isError, structuredContent } = await tool(scene.world, "contact_human", args);
        assert.deepEqual([isError, structuredContent.error.code], [true, "UNKNOWN_HUMAN"], channel);
        const one = await scene.ask({ prompt: fresh("Which currency?"), meta: { to: channel } });
        const id = await scene.withPeople(one);
        const [row] = await scene.world.server.ctx.db.all<{ words: string; audience: string }>(
          sql`SELECT words, audience FROM requests WHERE ask_id = ${id}`,
        );
        assert.match(row?.words ?? "", new RegExp(`Nobody here is called ${channel}, so everybody who sees all`));
        assert.deepEqual(JSON.parse(row?.audience ?? ""), { kind: "leaf", target: { via: "inbox" } });
      }
    });

    it("stay asked alone when one of them leaves, and whoever sees all is asked when the last does", async () => {
      const [dan, eve] = [await somebody(scene.world), await somebody(scene.world)];
      scene.world.config.people.groups = { ...scene.world.config.people.groups, pair: [dan.name, eve.name] };
      await scene.world.restart();
      const body = contactBody({ channel: { channel_id: "pair" } });
      assert.equal((await post("/human_contacts", body)).status, 200);
      const audience = async () => {
        const [row] = await scene.world.server.ctx.db.all<{ audience: string }>(
          sql`SELECT audience FROM requests WHERE ref = ${`contact:${body.call_id}`}`,
        );
        return row?.audience ?? "";
      };
      const remove = (one: Decider) =>
        removeHuman(scene.world.server.ctx, Number(one.number), { kind: "admin", id: "operator" });
      await remove(dan);
      assert.doesNotMatch(await audience(), /inbox/);
      await remove(eve);
      assert.match(await audience(), /inbox/);
      await scene.world.restart();
      assert.deepEqual(
        scene.world.server.notes.filter((note) => note.includes(".pair ")),
        [dan, eve].map(({ name }) => `people.groups.pair names ${name}, and nobody of that name is here any more.`),
      );
    });
  });
}

for (const on of DATABASES) {
  describe(`the groups of servers on one ${on} store`, () => {
    it("are in the record when they change, and a start beside others says which differ", async () => {
      await using scene = await openRelayScene(on);
      const { world } = scene;
      const [ana, bo] = [await somebody(world), await somebody(world)];
      const noted = async () => {
        const wanted = { action: "groups.changed", afterSeq: 0, limit: 10 };
        return (await readAudit(world.server.ctx, wanted)).items.map(({ data }) => data);
      };
      const notes = () => world.server.notes.filter((note) => note.includes("differ"));
      await world.restart();
      assert.deepEqual(await noted(), [], "without groups there is nothing to say");
      world.config.people.groups = { finance: [Number(ana.number)], ops: ["operator"] };
      await world.restart();
      await world.restart();
      assert.deepEqual([(await noted()).length, notes()], [1, []]);
      world.config.people.groups = { finance: [bo.name], ops: ["operator"], sales: [ana.name] };
      await world.restart();
      assert.deepEqual(await noted(), [
        { finance: [ana.id], ops: [OPERATOR] },
        { finance: [bo.id], ops: [OPERATOR], sales: [ana.id] },
      ]);
      const says =
        "The people of finance, sales differ from those of the server that was started last on this database; " +
        "all its servers need the same people.groups.";
      assert.deepEqual(notes(), on === "sqlite" ? [] : [says]);
    });
  });
}

describe("groups in the settings", () => {
  it("are compared by the doctor with those of the server that was started last", async () => {
    await using scene = await openRelayScene("sqlite");
    const { world } = scene;
    const [ana] = [await somebody(world)];
    world.config.people.groups = { finance: [Number(ana.number)], ops: ["operator"] };
    await world.restart();
    const look = async (settings: string) => {
      writeFileSync(join(world.config.dataDir, "parley.yaml"), settings);
      const { out } = await parley(["doctor", "--quick", "--json"], { PARLEY_DATA_DIR: world.config.dataDir });
      const { findings } = JSON.parse(out) as { findings: { check: string; offenders: string[] }[] };
      return findings.find(({ check }) => check === "groups")?.offenders;
    };
    const same = `people: { groups: { ops: [operator], finance: [${ana.number}] } }\n`;
    assert.deepEqual(await look(same), []);
    const other = "start each server with the same people.groups";
    assert.deepEqual(await look(`people: { groups: { ops: [${ana.number}], finance: [${ana.number}] } }\n`), [
      `ops has other people there: ${other}`,
    ]);
    assert.deepEqual(await look("open: true\n"), [
      `finance has other people there: ${other}`,
      `ops has other people there: ${other}`,
    ]);
  });

  it("are what policy lint looks rules up in, and names those that ask nobody", async () => {
    await using scene = await openRelayScene("sqlite");
    const { dataDir } = scene.world.config;
    writeFileSync(join(dataDir, "parley.yaml"), "people: { groups: { finance: [operator] } }\n");
    const file = join(newFolder(), "asked.yaml");
    const rules = ["finance", "operator", "fnance"].map(
      (to, i) => `  - { id: rule-${to}, when: { action: a${i} }, decision: ESCALATE, to: ${to} }`,
    );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `version: 1\nrules:\n${rules.join("\n")}\n`);
    const linted = await parley(["policy", "lint", file], { PARLEY_DATA_DIR: dataDir });
    const says =
      "The policy's rule rule-fnance asks fnance, and nobody has that number or name; parley people list shows who is " +
      "there; everybody who sees all is asked.\n";
    assert.deepEqual([linted.code, linted.out], [1, says], linted.err);
    const storeless = newFolder();
    const unseen = await parley(["policy", "lint", file], { PARLEY_DATA_DIR: storeless });
    assert.deepEqual([unseen.code, unseen.out], [0, ""]);
    assert.ok(unseen.err.includes(`Whom rules ask was not looked up: there is no store in ${storeless}.`), unseen.err);
    assert.ok(!existsSync(storeless), "none is made");
  });

  it("refuse a start where they name somebody unknown or of a common name, one sentence each", async () => {
    await using scene = await openRelayScene("sqlite");
    const { world } = scene;
    const started = world.config.people;
    await scene.person("Same Name");
    await scene.person("Same Name");
    const wrong = { sales: [99, "operator"], ops: ["Nobody Such", "Same Name"] };
    world.config.people = { groups: wrong };
    const said = await world.restart().then(
      () => assert.fail("it started"),
      (error: Error) => error.message.split("\n"),
    );
    assert.deepEqual(said, [
      "people.groups.sales names 99, and nobody has that number or name; parley people list shows who is there.",
      "people.groups.ops names Nobody Such, and nobody has that number or name; parley people list shows who is there.",
      "people.groups.ops names Same Name, as several people are called; write the number of the one who is meant.",
    ]);
    world.config.people = started;
    for (const [change, sentence] of [
      [
        () => (world.config.relayRules.people = { default: "ghosts", public: false }),
        "relay.people.default names ghosts, and nobody has that number or name; parley people list shows who is there.",
      ],
      [
        () => {
          world.config.relayRules.people = { default: "sales", public: false };
          world.config.people = { groups: { sales: ["operator"] } };
          world.config.contacts.defaultChannel = "ghosts";
        },
        "a2h.default_channel names ghosts, which is neither among a2h.channels nor among people.groups.",
      ],
      [
        () => {
          world.config.contacts.defaultChannel = "sales";
          world.config.contacts.channels = { sales: { inbox: {} } };
        },
        "sales is the name of a channel in a2h.channels and of a group in people.groups; call one otherwise.",
      ],
    ] as const) {
      change();
      await assert.rejects(world.restart(), new Error(sentence));
    }
    world.config.contacts.channels = {};
    await world.restart();
  });
});
