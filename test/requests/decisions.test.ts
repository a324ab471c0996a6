import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Audience, Decider, Decision } from "../../src/requests/model/request.ts";
import { Refusal } from "../../src/refusals.ts";
import { findBrokenAudit } from "../../src/core/store/audit.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createRequest } from "../../src/requests/create/create-request.ts";
import { decideRequest, type Decided } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { readRequest, readInInbox } from "../../src/requests/read/read-request.ts";
import { readInbox } from "../../src/requests/inbox/read-inbox.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { askPeople, newCallRequest, enrol, leaf, toPerson } from "../support/addressed.ts";
import { DATABASES, openWorld, type World, onOneDatabase } from "../support/world.ts";

const approve: Decision = { kind: "approve" };
const reject: Decision = { kind: "reject", comment: "Wrong account" };

async function decide(world: World, requestId: string, person: string, decision: Decision): Promise<Decided> {
  const { ctx } = world.server;
  return decideRequest(ctx, { requestId, responder: await responderOf(ctx.db, person, "web"), decision });
}

const refusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

for (const on of DATABASES) {
  describe(`a decision on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    it("is the first one of somebody who was asked, and stands", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lind")];
      const ask = await askPeople(ctx, { audience: toPerson(ana) });

      await assert.rejects(decide(world, ask.id, bo, approve), refusal("not_asked"));
      const first = await decide(world, ask.id, ana, approve);
      assert.deepEqual(
        [first.repeated, first.request.state, first.request.outcome?.approved],
        [false, "answered", true],
      );
      assert.equal(first.request.outcome?.digest, ask.digest);
      assert.deepEqual(first.request.outcome?.by, { kind: "person", id: ana, via: "web" });
      assert.equal((await decide(world, ask.id, ana, approve)).repeated, true);
      await assert.rejects(decide(world, ask.id, ana, reject), refusal("already_decided"));
      assert.equal((await readRequest(ctx, ask.id)).outcome?.approved, true);
    });

    itOnOne(
      "of somebody who is not enrolled counts for nobody where several have to agree, and they are told why",
      async () => {
        await using world = await openWorld({ on });
        const { ctx } = world.server;
        const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lind")];
        const room = leaf({ via: "slack", to: "C024BE91L", settings: {} });
        const press = (user: string, person: string | null = null): Decider => ({
          via: "slack",
          person,
          identities: [{ kind: "slack", value: user }],
          seesAll: false,
          slackMember: { channel: "C024BE91L", mayApprove: true },
        });
        const joint: Audience[] = [
          { kind: "all", of: [toPerson(ana), room] },
          { kind: "quorum", min: 2, of: [toPerson(ana), room, toPerson(bo)] },
          { kind: "any", of: [{ afterMs: 0, node: { kind: "all", of: [room, room] } }] },
        ];
        for (const audience of joint) {
          const ask = await askPeople(ctx, { audience });
          const decides = (responder: Decider): Promise<Decided> =>
            decideRequest(ctx, { requestId: ask.id, responder, decision: approve });
          await decides(press("U0ANA", ana));
          for (const user of ["U0PRIVATE", "U0OTHER"]) {
            const refused = await decides(press(user)).catch((error: unknown) => error);
            assert.ok(refused instanceof Refusal && refused.code === "not_counted", JSON.stringify(audience));
            assert.match(refused.message, /^Only enrolled people count/);
          }
          const { state, refused } = await readRequest(ctx, ask.id);
          assert.deepEqual([state, refused?.reason, refused?.attempts], ["open", "responder_not_allowed", 2]);
          assert.equal((await decides(press("U0BO", bo))).request.outcome?.approved, true);
        }
        // Alone in the room one suffices, and anybody there may reject.
        const alone = await askPeople(ctx, { audience: room });
        const done = await decideRequest(ctx, {
          requestId: alone.id,
          responder: press("U0PRIVATE"),
          decision: approve,
        });
        assert.equal(done.request.outcome?.approved, true);
        const both = await askPeople(ctx, { audience: joint[0] as Audience });
        const over = await decideRequest(ctx, { requestId: both.id, responder: press("U0PRIVATE"), decision: reject });
        assert.equal(over.request.outcome?.approved, false);
      },
    );

    itOnOne("rejects at the first rejection, and approves when everybody needed has approved", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lind")];
      const both = { kind: "all", of: [toPerson(ana), toPerson(bo)] } as const;

      const one = await askPeople(ctx, { audience: both });
      assert.equal((await decide(world, one.id, ana, { kind: "approve", comment: "ok for Q4" })).request.state, "open");
      assert.equal((await decide(world, one.id, ana, approve)).repeated, true);
      const done = await decide(world, one.id, bo, { kind: "approve", comment: "fine" });
      assert.deepEqual(
        [done.request.state, done.request.outcome?.comment],
        ["answered", "Ana Ruiz: ok for Q4; Bo Lind: fine"],
      );

      const other = await askPeople(ctx, { audience: both });
      await decide(world, other.id, ana, approve);
      const over = await decide(world, other.id, ana, reject);
      assert.deepEqual([over.request.outcome?.approved, over.request.outcome?.comment], [false, "Wrong account"]);
    });

    it("is refused when it was shown something else than would run", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz");
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      const other = { ...approve, digest: `sha256:${"0".repeat(64)}` };
      await assert.rejects(decide(world, ask.id, ana, other), refusal("digest_mismatch"));
      const { state, refused } = await readRequest(ctx, ask.id);
      assert.deepEqual([state, refused?.reason, refused?.attempts], ["open", "digest_mismatch", 1]);
    });

    it("comes too late once the deadline has passed: silence is a rejection that nobody made", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz");
      const ask = await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 60 });
      await world.advance(60_000);
      await assert.rejects(decide(world, ask.id, ana, approve), refusal("request_expired"));
      const { state, outcome, settledAt } = await readRequest(ctx, ask.id);
      assert.deepEqual([state, outcome, settledAt], ["expired", { status: "expired", approved: false }, ask.expiresAt]);
    });

    it("is one, however many decide at once", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const people = await Promise.all(["Ana", "Bo", "Cy", "Di"].map((name) => enrol(ctx, name)));
      const audience = { kind: "any", of: people.map((id) => ({ afterMs: 0, node: toPerson(id) })) } as const;
      for (let round = 0; round < 25; round += 1) {
        const ask = await askPeople(ctx, { audience });
        const told: PromiseSettledResult<Decided>[] = await Promise.allSettled(
          people.map((person, i) => decide(world, ask.id, person, i % 2 === 0 ? approve : reject)),
        );
        const won = told.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        const lost = told.flatMap((one) => (one.status === "rejected" ? [one.reason as Refusal] : []));
        assert.equal(won.length, 1);
        const standing = await readRequest(ctx, ask.id);
        assert.deepEqual(won[0]?.request.outcome, standing.outcome);
        for (const { code, details } of lost) {
          assert.deepEqual([code, details["by"]], ["already_decided", standing.outcome?.by?.id]);
        }
      }
    });

    it("can be withdrawn by its agent until somebody decides", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz");
      const agent = { kind: "agent", id: "agent:ana-bot" } as const;
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      assert.equal((await cancelRequest(ctx, ask.id, agent, "not needed")).state, "cancelled");
      assert.equal((await cancelRequest(ctx, ask.id, agent)).outcome?.comment, "not needed");
      await assert.rejects(decide(world, ask.id, ana, approve), refusal("request_cancelled"));

      const decided = await askPeople(ctx, { audience: toPerson(ana) });
      await decide(world, decided.id, ana, approve);
      await assert.rejects(cancelRequest(ctx, decided.id, agent), refusal("already_decided"));
    });

    it("is asked for once, however often the same request comes", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const input = newCallRequest();
      const made = await Promise.all(Array.from({ length: 5 }, () => createRequest(ctx, input)));
      assert.equal(new Set(made.map(({ request: ask }) => ask.id)).size, 1);
      assert.equal(made.filter(({ replayed }) => !replayed).length, 1);
      await assert.rejects(createRequest(ctx, { ...input, sameHash: "other" }), refusal("ref_taken"));
    });

    itOnOne("is found in the inbox of whoever is asked, and of nobody else", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lind")];
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      const inbox = async (person: string, state: "open" | "over") =>
        (await readInbox(ctx, person, { state }, { limit: 10 })).asks.map(({ id }) => id);

      assert.deepEqual([await inbox(ana, "open"), await inbox(bo, "open")], [[ask.id], []]);
      assert.deepEqual(await inbox("1", "open"), [ask.id]);
      await assert.rejects(readInInbox(ctx, bo, ask.id), refusal("request_not_found"));
      await decide(world, ask.id, ana, approve);
      assert.deepEqual([await inbox(ana, "open"), await inbox(ana, "over")], [[], [ask.id]]);
    });

    itOnOne("is written down in a chain that shows every change made to it", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz");
      const ask = await askPeople(ctx, { audience: toPerson(ana) });
      await decide(world, ask.id, ana, reject);
      const { items, head } = await readAudit(ctx, { subjectId: ask.id, afterSeq: 0, limit: 10 });
      assert.deepEqual(
        items.map(({ action }) => action),
        ["function_call.created", "function_call.rejected"],
      );
      assert.equal(head.hash, items.at(-1)?.hash);
      assert.equal(await findBrokenAudit(ctx.db), undefined);

      await transact(ctx, (tx) =>
        tx.all(sql`UPDATE audit SET entry = replace(entry, 'rejected', 'approved') WHERE seq = ${head.seq}`),
      );
      assert.equal(await findBrokenAudit(ctx.db), head.seq);
    });
  });
}
