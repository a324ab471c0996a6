import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { freeze, type FreezeScope, readFreezes, thaw } from "../../src/policy/freezes.ts";
import { Refusal } from "../../src/refusals.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import type { Decision, Request } from "../../src/requests/model/request.ts";
import { expireDueRequests } from "../../src/requests/loops/expire.ts";
import { readRequest, waitForRequest } from "../../src/requests/read/read-request.ts";
import { claimDecision } from "../../src/requests/decide/claim-decision.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { askPeople, enrol, leaf, toPerson } from "../support/addressed.ts";
import { DAY, fresh, MINUTE, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { gateClient } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const human = (id: string, isAdmin = false) => ({ actor: { kind: "human", id }, via: "web", isAdmin }) as const;
const approve: Decision = { kind: "approve" };
const reject: Decision = { kind: "reject" };
const refusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
const onAgent = (subject: string): FreezeScope => ({ scope: "agent", subject });
const ALL: FreezeScope = { scope: "all", subject: "" };

const RULES = `version: 1
rules:
  - { id: reads, when: { fn: files.read_file }, decision: ALLOW }
  - { id: no-drops, when: { fn: files.drop }, decision: DENY }
`;

async function decide({ server: { ctx } }: Pick<World, "server">, id: string, person: string, decision: Decision) {
  const responder = await responderOf(ctx.db, person, "web");
  return (await decideRequest(ctx, { requestId: id, responder, decision })).request;
}

for (const on of DATABASES) {
  describe(`a freeze on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    let ana = "";
    before(async () => {
      writeFileSync(world().config.relay.policyFile, RULES);
      await world().server.reload();
      ana = await enrol(world().server.ctx, "Ana Ruiz");
    });
    const ctx = () => world().server.ctx;
    const stored = async ({ id }: Request) => (await findRequest(ctx().db, id))?.request ?? assert.fail("gone");
    const ask = (asker: string, more = {}) => askPeople(ctx(), { asker, audience: toPerson(ana), ...more });
    const broken = async () => {
      const findings = await examineStore(ctx(), { quick: false });
      return findings.filter(({ offenders }) => offenders.length > 0);
    };

    it("refuses a person's approval with who froze and since when; a rejection still counts, and the thaw lets them approve", async () => {
      const asker = `agent:${fresh("bot")}`;
      const [first, second, other] = [await ask(asker), await ask(asker), await ask(`agent:${fresh("bot")}`)];
      const made = await freeze(ctx(), onAgent(asker), { ...human(OPERATOR, true), reason: "It pays everybody" });
      await assert.rejects(decide(world(), first.id, ana, approve), (error: Refusal) => {
        assert.deepEqual(
          [error.code, error.details],
          ["frozen", { frozen_by: OPERATOR, frozen_at: made.madeAt, scope: "agent", reason: "It pays everybody" }],
        );
        assert.match(error.message, /^operator has frozen this agent since 2\d{3}-.*An admin has to thaw it first/);
        return true;
      });
      assert.equal((await decide(world(), second.id, ana, reject)).outcome?.approved, false);
      assert.equal((await decide(world(), other.id, ana, approve)).outcome?.approved, true);
      await thaw(ctx(), made.id, ADMIN);
      assert.equal((await decide(world(), first.id, ana, approve)).outcome?.approved, true);
      assert.deepEqual(await broken(), []);
    });

    it("hands out no approval that was given before, and wakes the wait for it after the thaw; a rejection is handed out", async () => {
      const asker = `agent:${fresh("bot")}`;
      const [yes, no] = [await ask(asker), await ask(asker)];
      await decide(world(), yes.id, ana, approve);
      await decide(world(), no.id, ana, reject);
      const { id } = await freeze(ctx(), onAgent(asker), ADMIN);
      assert.deepEqual(
        [(await readRequest(ctx(), yes.id)).state, (await readRequest(ctx(), no.id)).outcome?.approved],
        ["open", false],
      );
      await assert.rejects(claimDecision(ctx(), yes.id, "run"), refusal("not_decided"));
      assert.equal((await ask(asker, { ref: yes.ref, sameHash: "same" })).state, "open");
      const waiting = waitForRequest(ctx(), yes.id, { waitMs: MINUTE, signal: new AbortController().signal });
      await thaw(ctx(), id, ADMIN);
      assert.equal((await waiting).outcome?.approved, true);
    });

    it("lets no rule allow a call, which people decide instead, and no gate start one; a rule still denies", async () => {
      const name = fresh("bot");
      const bot = await gateClient(world(), name);
      const before = await bot.ask("write_file", { path: "b.txt" });
      const { id } = await freeze(ctx(), onAgent(`agent:${name}`), ADMIN);
      const read = await bot.ask("read_file", { path: "a.txt" });
      assert.equal(read.body.state, "waiting");
      assert.equal((await bot.ask("drop", {})).body.state, "denied");
      await thaw(ctx(), id, ADMIN);
      await decide(world(), before.body.id, OPERATOR, approve);
      const again = await freeze(ctx(), onAgent(`agent:${name}`), ADMIN);
      assert.equal((await bot.ask("write_file", { path: "b.txt" })).body.state, "waiting");
      // Longer than it is good for: the time stands still.
      await world().advance(2 * DAY);
      await thaw(ctx(), again.id, ADMIN);
      assert.equal((await bot.ask("write_file", { path: "b.txt" })).body.state, "started");
      assert.deepEqual(await broken(), []);
    });

    it("lets deadlines stand still, counts overlapping ones once, and restores exactly the time that was left", async () => {
      const asker = `agent:${fresh("bot")}`;
      const old = await ask(asker, { timeoutSeconds: 60 });
      const free = await ask(`agent:${fresh("bot")}`, { timeoutSeconds: 7200 });
      const question = await world().agent("crowd-asker").ask({ timeout_seconds: 600 });
      await world().advance(20_000);
      const one = await freeze(ctx(), onAgent(asker), ADMIN);
      await world().advance(10_000);
      const all = await freeze(ctx(), ALL, ADMIN);
      await world().advance(5000);
      const young = await ask(asker, { timeoutSeconds: 60 });
      await world().advance(20 * MINUTE);
      await expireDueRequests(ctx(), new AbortController().signal);
      assert.equal((await readRequest(ctx(), old.id)).state, "open");
      assert.equal((await world().agent("crowd-asker").poll(question.id)).body.status, "OPEN");
      assert.deepEqual(await broken(), []);
      await thaw(ctx(), one.id, ADMIN);
      await world().advance(MINUTE);
      await thaw(ctx(), all.id, ADMIN);
      const now = world().clock.now();
      assert.equal((await stored(old)).expiresAt - now, 40_000);
      assert.equal((await stored(young)).expiresAt - now, 60_000);
      assert.equal((await stored(free)).expiresAt - free.expiresAt, 5000 + 21 * MINUTE);
      const left = Date.parse((await world().agent("crowd-asker").poll(question.id)).body.expires_at) - now;
      assert.equal(left, 570_000);
      await world().advance(40_000);
      assert.equal((await readRequest(ctx(), old.id)).state, "expired");
      assert.equal((await readRequest(ctx(), young.id)).state, "open");
      assert.deepEqual(await broken(), []);
    });

    it("covers the agents of a person by their keys, and all who ask without a key too", async () => {
      const name = fresh("bot");
      const owner = await enrol(ctx(), "Olga");
      await createKey(ctx(), { name, scope: "agent", person: owner });
      const [own, other, open] = [await ask(`agent:${name}`), await ask("agent:x"), await ask("open:nobody")];
      const made = await freeze(ctx(), { scope: "person", subject: owner }, human(owner));
      await assert.rejects(decide(world(), own.id, ana, approve), refusal("frozen"));
      await decide(world(), other.id, ana, approve);
      const all = await freeze(ctx(), ALL, ADMIN);
      await assert.rejects(decide(world(), open.id, ana, approve), refusal("frozen"));
      await thaw(ctx(), made.id, human(owner));
      await thaw(ctx(), all.id, ADMIN);
      await decide(world(), open.id, ana, approve);
    });

    it("is an admin's for anybody's agents and a person's for their own; the same again returns the one in force", async () => {
      const name = fresh("bot");
      const owner = await enrol(ctx(), "Olga");
      await createKey(ctx(), { name, scope: "agent", person: owner });
      for (const what of [ALL, onAgent("agent:nobodys"), { scope: "person", subject: ana } as const])
        await assert.rejects(freeze(ctx(), what, human(owner)), refusal("scope_missing"));
      const made = await freeze(ctx(), onAgent(`agent:${name}`), human(owner));
      assert.equal((await freeze(ctx(), onAgent(`agent:${name}`), ADMIN)).id, made.id);
      await world().advance(1);
      const all = await freeze(ctx(), ALL, human(OPERATOR, true));
      await assert.rejects(thaw(ctx(), all.id, human(owner)), refusal("scope_missing"));
      await assert.rejects(thaw(ctx(), made.id, human(ana)), refusal("scope_missing"));
      assert.deepEqual(
        (await readFreezes(ctx())).map(({ id }) => id),
        [made.id, all.id],
      );
      await thaw(ctx(), made.id, human(owner));
      await thaw(ctx(), all.id, ADMIN);
      await assert.rejects(thaw(ctx(), all.id, ADMIN), refusal("freeze_not_found"));
      const rows = await ctx().db.all<{ action: string; entry: string }>(
        sql`SELECT action, entry FROM audit WHERE action LIKE 'freeze.%' ORDER BY id DESC LIMIT 2`,
      );
      assert.deepEqual(
        rows.map(({ action, entry }) => [action, (JSON.parse(entry) as { via: string }).via]),
        [
          ["freeze.ended", "cli"],
          ["freeze.ended", "web"],
        ],
      );
    });

    it("is in force for the transaction that approves, also where it came after the request was locked", async () => {
      const asker = `agent:${fresh("bot")}`;
      const { id } = await ask(asker, { audience: leaf({ via: "inbox" }) });
      const late = (tx: Tx) =>
        tx.all(sql`INSERT INTO freezes (freeze_id, scope, subject, made_by, made_by_kind, via, made_at, settled_at)
          VALUES (${`frz_${asker}`}, 'agent', ${asker}, 'x', 'admin', 'cli', 1, 1)`);
      const rest = ctx().requesters;
      const ofRequest: typeof rest.ofRequest = (request) => ({
        ...rest.ofRequest(request),
        // Between the lock and the end of the request.
        isWanted: async (tx) => (await late(tx), true),
      });
      const responder = await responderOf(ctx().db, OPERATOR, "web");
      const input = { requestId: id, responder, decision: approve };
      await assert.rejects(decideRequest({ ...ctx(), requesters: { ...rest, ofRequest } }, input), refusal("frozen"));
      assert.equal((await readRequest(ctx(), id)).state, "open");
      // The doctor finds what was approved under a freeze all the same.
      await decide(world(), id, OPERATOR, approve);
      await transact(ctx(), late);
      assert.deepEqual(
        (await broken()).map(({ check, offenders }) => [check, offenders]),
        [["A14", [id]]],
      );
      await thaw(ctx(), `frz_${asker}`, ADMIN);
      assert.deepEqual(await broken(), []);
    });
  });
}

describe("a freeze of everything, on two servers under load", () => {
  it("allows nothing after it was acknowledged, by a rule, a person or a gate, on either server", async () => {
    await using world = await openWorld({ on: "postgres", env: ROOMY, running: true });
    writeFileSync(world.config.relay.policyFile, RULES);
    await world.server.reload();
    const nodes = [world, await world.addNode()];
    const { ctx } = world.server;
    const ana = await enrol(ctx, "Ana Ruiz");
    const over = new AbortController();
    let allowed = 0;
    const { text } = await createKey(ctx, { name: "loader", scope: "agent" });
    const callers = nodes.flatMap((node, i) => [
      (async () => {
        for (let n = 0; !over.signal.aborted; n += 1) {
          const { id } = await askPeople(node.server.ctx, {
            asker: "agent:p",
            audience: toPerson(ana),
            ref: `call:${i}-${n}`,
          });
          const done = await decide(node, id, ana, approve).catch((error: unknown) => {
            if (!refusal("frozen")(error)) throw error;
          });
          if (done) allowed += 1;
        }
      })(),
      (async () => {
        const headers = { authorization: `Bearer ${text}` };
        const tool = { name: "read_file", description: "Reads", inputSchema: { type: "object" } };
        for (let n = 0; !over.signal.aborted; n += 1) {
          const args = { path: `${i}-${n}` };
          const body = { gate: "files", tool, arguments: args, run: `${i}-${n}`, wait_seconds: 0 };
          const reply = await node.call("POST", "/gate/calls", { headers, body });
          if (reply.body.state === "started") allowed += 1;
        }
      })(),
    ]);
    await until(() => allowed > 40);
    const { madeAt } = await freeze(nodes[1]?.server.ctx ?? ctx, ALL, ADMIN);
    const acknowledged = Date.now();
    const before = allowed;
    await until(() => Date.now() > acknowledged + 1500);
    over.abort();
    await Promise.all(callers);
    const late = await ctx.db.all<{ action: string; at: number }>(
      sql`SELECT action, at FROM audit WHERE action IN ('function_call.approved', 'gate_call.started') AND at > ${madeAt + 1000}`,
    );
    assert.deepEqual(late, []);
    assert.ok(allowed - before <= callers.length, `${allowed - before} calls were under way at the press`);
    const open = await ctx.db.all(sql`SELECT 1 AS one FROM requests WHERE state = 'open'`);
    assert.ok(open.length > 0);
  });
});
