import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { freeze, freezerOf, thaw } from "../../../src/policy/freezes.ts";
import { claimDecision } from "../../../src/requests/decide/claim-decision.ts";
import { TASK_OF_JOB } from "../../../src/requests/model/run.ts";
import { runOfTask } from "../../../src/requests/model/agent-note.ts";
import { noteGiven, readWaitingNotes } from "../../../src/requests/notes/give-notes.ts";
import { cleanNoteOf, sendNoteIn } from "../../../src/requests/notes/send-note.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { reportOutcome } from "../../../src/requests/outcome/report-outcome.ts";
import type { Request } from "../../../src/requests/model/request.ts";
import type { WireRun } from "../../../src/wire/run.ts";
import { askPeople, enrol, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { decider } from "../../support/deciders.ts";
import { DATABASES } from "../../support/world.ts";

for (const on of DATABASES) {
  describe(`the timeline of a run on ${on}`, () => {
    const world = sharedWorld({ on });
    const ctx = () => world().server.ctx;
    const ask = (to: string, run: string, more: Parameters<typeof askPeople>[1] = {}) =>
      askPeople(ctx(), {
        audience: toPerson(to),
        asker: "agent:bot",
        ref: fresh("call"),
        ...more,
        wire: { run_id: run, ...more.wire },
      });
    const headersOf = async (person: string) => {
      const { text } = await createKey(ctx(), { name: fresh("reader"), scope: "answer", person });
      return { authorization: `Bearer ${text}` };
    };
    const read = async (headers: Record<string, string>, { id }: Pick<Request, "id">, query = "") => {
      const { status, body, text } = await world().call("GET", `/people/me/asks/${id}/run${query}`, { headers });
      assert.equal(status, 200, text);
      return body as WireRun;
    };
    const kinds = ({ entries }: WireRun) => entries.map(({ kind }) => kind).toReversed();
    const decide = async (person: string, request: Request, approved: boolean, comment = "") => {
      const reply = await (await decider(world(), person)).decide(request.id, { approved, comment });
      assert.equal(reply.status, 200, reply.text);
      await world().advance(1000);
    };

    it("tells what was asked, decided, run and ended, by whom and in whose words, the newest first", async () => {
      const [ana, run] = [await enrol(ctx(), "Ana Ruiz"), fresh("run")];
      const headers = await headersOf(ana);
      const first = await ask(ana, run, { wire: { reports: "start" } });
      await decide(ana, first, true, "Go\u202e on");
      await claimDecision(ctx(), first.id, "r");
      await world().advance(1000);
      await reportOutcome(ctx(), first.id, { state: "failed", words: "No stock" });
      await world().advance(1000);
      const second = await ask(ana, run);
      await decide(ana, second, false, "Not now");
      const found = await read(headers, second);
      assert.deepEqual(kinds(found), ["asked", "approved", "started", "outcome", "asked", "rejected"]);
      assert.equal(found.next, null);
      const [rejected, , outcome, , approved] = found.entries;
      assert.deepEqual([rejected?.by?.name, rejected?.mine, rejected?.text], ["Ana Ruiz", true, "Not now"]);
      assert.deepEqual([outcome?.by?.kind, outcome?.state, outcome?.text], ["agent", "failed", "No stock"]);
      assert.equal(outcome?.ask?.id, first.id);
      assert.doesNotMatch(approved?.text ?? "", /\u202e/);
      assert.equal((await world().call("GET", `/people/me/asks/${first.id}`, { headers })).body.has_run, true);
    });

    it("holds nothing of a request that its reader may not open, and of another agent's run of the same name", async () => {
      const [ana, bo, run] = [await enrol(ctx(), "Ana Ruiz"), await enrol(ctx(), "Bo Lind"), fresh("run")];
      const all = await enrol(ctx(), "Cy All", [], { seesAll: true });
      const [mine, others] = [await ask(ana, run), await ask(bo, run)];
      const other = await ask(ana, run, { asker: "agent:other" });
      await decide(bo, others, true);
      const idsOf = async (person: string) =>
        (await read(await headersOf(person), mine)).entries.map((entry) => entry.ask?.id);
      assert.deepEqual(await idsOf(ana), [mine.id]);
      assert.deepEqual(new Set(await idsOf(all)), new Set([mine.id, others.id]));
      assert.deepEqual(
        (await read(await headersOf(ana), other)).entries.map((entry) => entry.ask?.id),
        [other.id],
      );
      const hidden = await world().call("GET", `/people/me/asks/${others.id}/run`, { headers: await headersOf(ana) });
      assert.equal(hidden.status, 404);
    });

    it("tells of the notes of people to its agent: those of its reader's cards, and those that were written at its task", async () => {
      const [ana, bo] = [await enrol(ctx(), "Ana Ruiz"), await enrol(ctx(), "Bo Lind")];
      const wire = { [TASK_OF_JOB]: { repo: "shop", id: fresh("T") } };
      const [one, other] = [await ask(ana, "", { wire }), await ask(bo, "", { wire })];
      const run = runOfTask("shop", wire[TASK_OF_JOB].id);
      const note = async (person: string, requestId: string | null, text: string) => {
        const words = await cleanNoteOf(ctx(), { requestId, person }, text);
        await transact(ctx(), (tx) => sendNoteIn(ctx(), tx, { ...run, requestId, person }, words));
        await world().advance(1000);
      };
      await note(ana, one.id, "From the card");
      await note(bo, other.id, "From a card of Bo's");
      await note(bo, null, "At the task");
      await noteGiven(
        ctx(),
        run,
        (await readWaitingNotes(ctx(), run)).map(({ id }) => id),
      );
      const found = await read(await headersOf(ana), one);
      assert.equal(found.next, null);
      assert.deepEqual(
        found.entries
          .map(({ kind, text, mine, by, ask: about }) => [kind, text, mine, by?.kind, about?.id])
          .toReversed(),
        [
          ["asked", null, false, "agent", one.id],
          ["noted", "From the card", true, "person", one.id],
          ["noted", "At the task", false, "person", undefined],
          ["note_given", null, false, "agent", one.id],
          ["note_given", null, false, undefined, undefined],
        ],
      );
      const strangers = await ask(ana, "", { wire: { [TASK_OF_JOB]: { ...wire[TASK_OF_JOB], id: fresh("T") } } });
      assert.deepEqual(kinds(await read(await headersOf(ana), strangers)), ["asked"]);
    });

    it("is read page after page, nothing twice and nothing left out, where all has one time", async () => {
      const [ana, run] = [await enrol(ctx(), "Ana Ruiz"), fresh("run")];
      const headers = await headersOf(ana);
      const made = [];
      for (let i = 0; i < 7; i += 1) made.push(await ask(ana, run));
      const by = await freezerOf(ctx(), ana, "web");
      for (let i = 0; i < 2; i += 1)
        await thaw(ctx(), (await freeze(ctx(), { scope: "all", subject: "" }, { ...by, isAdmin: true })).id, {
          ...by,
          isAdmin: true,
        });
      const [one] = made as [Request];
      const whole = await read(headers, one, "?limit=100");
      assert.equal(whole.entries.length, 7 + 4);
      assert.equal(new Set(whole.entries.map(({ at }) => at)).size, 1);
      const paged = [];
      for (let next: string | null = ""; next !== null;) {
        const page: WireRun = await read(headers, one, `?limit=2${next && `&before=${next}`}`);
        assert.ok(page.entries.length <= 2);
        paged.push(...page.entries);
        next = page.next;
      }
      assert.deepEqual(paged, whole.entries);
      for (const query of ["?limit=101", "?limit=0", "?before=x", "?before=1_2"])
        assert.equal((await world().call("GET", `/people/me/asks/${one.id}/run${query}`, { headers })).status, 400);
    });

    it("shows a freeze of its agent to its own person, and to others only while a request of theirs waited", async () => {
      const [ana, bo, cy, run] = [
        await enrol(ctx(), "Ana"),
        await enrol(ctx(), "Bo"),
        await enrol(ctx(), "Cy"),
        fresh("run"),
      ];
      const name = fresh("owned");
      await createKey(ctx(), { name, scope: "agent", person: ana });
      const asker = `agent:${name}`;
      const before = { scope: "agent" as const, subject: asker };
      const by = await freezerOf(ctx(), ana, "web");
      await thaw(ctx(), (await freeze(ctx(), before, by)).id, by);
      await world().advance(1000);
      const [own, done, waits] = [
        await ask(ana, run, { asker }),
        await ask(bo, run, { asker }),
        await ask(cy, run, { asker }),
      ];
      await decide(bo, done, false);
      // Nothing waits for whose agent it is.
      await ctx().db.transact((tx) =>
        tx.all(
          sql`UPDATE requests SET state = ${"cancelled"}, settled_at = created_at, outcome = ${"{}"} WHERE ask_id = ${own.id}`,
        ),
      );
      const { id } = await freeze(ctx(), before, { ...by, reason: "Runs wild" });
      await world().advance(1000);
      await thaw(ctx(), id, by);
      assert.deepEqual(kinds(await read(await headersOf(cy), waits)), ["asked", "frozen", "thawed"]);
      assert.deepEqual(kinds(await read(await headersOf(bo), done)), ["asked", "rejected"]);
      const seen = await read(await headersOf(ana), own);
      assert.deepEqual(seen.entries[1], {
        ...seen.entries[1],
        kind: "frozen",
        ask: null,
        text: "Runs wild",
        by: { kind: "person", name: "Ana", via: "web" },
      });
    });

    it("is none of a request that names no run, or is older than runs", async () => {
      const ana = await enrol(ctx(), "Ana Ruiz");
      const headers = await headersOf(ana);
      const older = await ask(ana, fresh("run"));
      await ctx().db.transact((tx) => tx.all(sql`UPDATE requests SET run = NULL WHERE ask_id = ${older.id}`));
      for (const one of [older, await ask(ana, "sdk")]) {
        assert.deepEqual(await read(headers, one), { entries: [], next: null });
        assert.equal((await world().call("GET", `/people/me/asks/${one.id}`, { headers })).body.has_run, false);
      }
    });
  });
}
