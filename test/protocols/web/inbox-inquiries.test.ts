import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RequestId } from "../../../src/core/model/ids.ts";
import { wordsOfTold } from "../../../src/requests/inbox/hand-on.ts";
import { readRequest } from "../../../src/requests/read/read-request.ts";
import { answerInquiry } from "../../../src/requests/inbox/inquire.ts";
import { ANSWERS_INQUIRIES } from "../../../src/requests/model/inquiry.ts";
import { listDeliveries } from "../../../src/requests/store/deliveries.ts";
import { sql } from "../../../src/core/store/sql.ts";
import {
  accepted,
  assertA2hError,
  callBody,
  contactBody,
  messageBody,
  sharedScene,
  type Scene,
} from "../../support/a2h.ts";
import { fresh } from "../../support/contract.ts";
import { askPeople, leaf } from "../../support/addressed.ts";
import { DATABASES } from "../../support/world.ts";

const WHY = "Which customer is this for?";
const BECAUSE = "For Lind & Sons, who paid twice.";

/** Somebody who may decide, with their inbox. */
async function somebody(scene: Scene, name = "Ana Ruiz") {
  const called = fresh(name);
  const { id, person, answer } = await scene.human(called, {
    prioritizedContactChannels: [{ inbox: {} }, { email: { address: `${id32(called)}@example.com` } }],
  });
  const path = (ask: string, rest = "") => `//people/me/asks/${ask}${rest}`;
  const whole = async (ask: string) => (await answer.get(path(ask))).body;
  return {
    person,
    called,
    channel: { human: { id } },
    whole,
    askBack: (ask: string, text: string = WHY) => answer.post(path(ask, "/inquiries"), { text }),
    snooze: (ask: string, until: string) => answer.post(path(ask, "/snooze"), { until }),
    decide: async (ask: string) =>
      accepted(await answer.post(path(ask, "/decision"), { approved: true, digest: (await whole(ask)).digest })),
  };
}

const id32 = (name: string) => Buffer.from(name).toString("hex").slice(-32);

for (const on of DATABASES) {
  describe(`an inquiry to the agent of a request, on ${on}`, () => {
    const scene = sharedScene(on);
    const open = async (spec: object = {}) => {
      const ana = await somebody(scene());
      const body = callBody({ channel: ana.channel, answers_inquiries: true, ...spec });
      const { status } = accepted(await scene().agent.post("/function_calls", body));
      const path = `/function_calls/${body.call_id}`;
      return {
        ana,
        ask: status.ask_id as string,
        path,
        read: async (query = "") => (await scene().agent.get(`${path}${query}`)).body,
      };
    };
    const answer = (id: string, text: string = BECAUSE, by = scene().agent) =>
      by.post(`/inquiries/${id}/answer`, { text });
    const noted = async (ask: string) =>
      (
        await scene().world.server.ctx.db.all<{ action: string }>(
          sql`SELECT action FROM audit WHERE ask_id = ${ask} AND action NOT LIKE '%.delivered' ORDER BY id`,
        )
      ).map(({ action }) => action.replace("function_call.", ""));

    it("ends a wait of the agent, is answered, and leaves the request open to be decided", async () => {
      const { ana, ask, read } = await open();
      const waiting = read("?wait=55");
      accepted(await ana.askBack(ask, `  ${WHY} `));
      const { status } = await waiting;
      assert.equal(status.approved, undefined);
      const [inquiry] = status.inquiries;
      assert.deepEqual(inquiry, {
        id: `${ask}.1`,
        text: WHY,
        user_info: { id: inquiry.user_info.id, name: ana.called, via: "web" },
        at: inquiry.at,
      });
      const whole = await ana.whole(ask);
      assert.deepEqual([whole.state, whole.answers_inquiries, whole.inquiries.length], ["open", true, 1]);
      assert.ok(whole.inquiries[0].told_at);
      const answered = accepted(await answer(inquiry.id));
      assert.deepEqual([answered.answer, answered.text], [BECAUSE, WHY]);
      const [shown] = (await ana.whole(ask)).inquiries;
      assert.deepEqual([shown.answer, shown.mine, shown.name], [BECAUSE, true, ana.called]);
      await ana.decide(ask);
      assert.equal((await read()).status.approved, true);
      assert.deepEqual(await noted(ask), ["created", "asked_back", "inquiry_answered", "approved"]);
    });

    it("tells the person who asked of the answer, in their list and by their channels", async () => {
      const { ana, ask } = await open({ timeout_seconds: 86_400 });
      accepted(await ana.askBack(ask));
      accepted(await ana.snooze(ask, new Date(scene().world.clock.now() + 3_600_000).toISOString()));
      const told = async () =>
        (await listDeliveries(scene().world.server.ctx.db, ask)).filter(({ words }) => words !== null);
      assert.equal((await told()).length, 0);
      accepted(await answer(`${ask}.1`));
      assert.deepEqual(
        (await told()).map(({ channel, person, words }) => [channel, person === ana.person, words]),
        [["email", true, "support has answered your question."]],
      );
      assert.equal((await ana.whole(ask)).snoozed_until, null);
      const { ctx } = scene().world.server;
      const words = await wordsOfTold(ctx, await readRequest(ctx, ask as RequestId), ana.person);
      assert.equal(words, "support has answered your question.", "what a device says");
    });

    it("tells nobody who may not decide the request any more", async () => {
      const { ctx } = scene().world.server;
      const ana = await somebody(scene());
      const group = fresh("finance");
      const groups = ctx.addressed.groups as Map<string, readonly string[]>;
      groups.set(group, [ana.person]);
      const { id: ask, asker } = await askPeople(ctx, {
        audience: leaf({ via: "person", person: ana.person, group }),
        wire: ANSWERS_INQUIRIES,
      });
      accepted(await ana.askBack(ask));
      groups.set(group, []);
      await answerInquiry(ctx, { asker, id: `${ask}.1` }, BECAUSE);
      const told = (await listDeliveries(ctx.db, ask)).filter(({ words }) => words !== null);
      assert.deepEqual(told, []);
    });

    it("takes one answer, of the agent that asked alone, while the request is open", async () => {
      const { ana, ask } = await open();
      accepted(await ana.askBack(ask));
      const other = await scene().holder({ name: fresh("other"), scope: "agent" });
      const missing = { code: "not_found", message: "There is no such inquiry." };
      assertA2hError(await answer(`${ask}.1`, BECAUSE, other), 404, missing);
      assertA2hError(await answer(`${ask}.2`), 404, missing);
      assertA2hError(await answer("ask_1"), 404, missing);
      assert.equal((await answer(`${ask}.1`, " ")).status, 422);
      assert.equal((await answer(`${ask}.1`, "x".repeat(5001))).status, 422);
      accepted(await answer(`${ask}.1`));
      accepted(await answer(`${ask}.1`));
      const says = "This inquiry has another answer already.";
      assertA2hError(await answer(`${ask}.1`, "Something else"), 409, { code: "inquiry_answered", message: says });
      accepted(await ana.askBack(ask, "And why now?"));
      await ana.decide(ask);
      assert.equal((await answer(`${ask}.2`)).body.error.code, "already_responded");
      accepted(await answer(`${ask}.1`));
    });

    it("is refused where its agent answers none, by somebody who was not asked, and as the eleventh", async () => {
      const { ana, ask } = await open();
      for (let i = 1; i <= 10; i += 1) accepted(await ana.askBack(ask, `Question ${i}`));
      assert.deepEqual([(await ana.askBack(ask)).status, (await ana.whole(ask)).inquiries.length], [409, 10]);
      assert.equal((await ana.askBack(ask, " ")).status, 400);
      assert.equal((await ana.askBack(ask, "x".repeat(1001))).status, 400);
      const bo = await somebody(scene(), "Bo Lind");
      assert.equal((await bo.askBack(ask)).status, 404);
      const silent = await open({ answers_inquiries: undefined });
      const refused = await silent.ana.askBack(silent.ask);
      assert.deepEqual([refused.status, refused.body.error.code], [409, "CANNOT_ASK_BACK"]);
      assert.equal((await silent.ana.whole(silent.ask)).answers_inquiries, false);
      await silent.ana.decide(silent.ask);
      assert.equal((await silent.ana.askBack(silent.ask)).body.error.code, "ALREADY_DECIDED");
    });

    it("ends one wait only, and no wait of people", async () => {
      const { ana, ask, path } = await open();
      accepted(await ana.askBack(ask));
      const byAdmin = await scene().admin.get(`${path}?wait=0`);
      assert.equal((await ana.whole(ask)).inquiries[0].told_at, null);
      assert.equal(byAdmin.body.status.inquiries.length, 1);
      const first = await scene().agent.get(`${path}?wait=55`);
      assert.equal(first.body.status.inquiries.length, 1);
      const waiting = scene().agent.get(`${path}?wait=55`);
      await ana.decide(ask);
      assert.equal((await waiting).body.status.approved, true);
    });

    it("goes to the agent of a contact, a message and a plan too", async () => {
      const ana = await somebody(scene());
      const { agent } = scene();
      const ways = [
        ["/human_contacts", contactBody({ channel: ana.channel, answers_inquiries: true })],
        ["/messages", messageBody({ answers_inquiries: true }, { metadata: { uid: fresh("m") } })],
        [
          "/plans",
          {
            plan_id: fresh("p"),
            calls: [{ spec: { fn: "f", kwargs: {} } }],
            channel: ana.channel,
            answers_inquiries: true,
          },
        ],
      ] as const;
      for (const [path, body] of ways) {
        const asked = accepted(await agent.post(path, body));
        assert.equal(asked.spec.answers_inquiries, true);
        const id = asked.call_id ?? asked.plan_id ?? asked.metadata.uid;
        const [ask = ""] = await scene()
          .world.server.ctx.db.all<{ ask_id: string }>(
            sql`SELECT ask_id FROM requests WHERE ref LIKE ${`%:${id}`} AND plan IS NULL`,
          )
          .then((rows) => rows.map(({ ask_id: one }) => one));
        const by = path === "/messages" ? await everybody() : ana;
        accepted(await by.askBack(ask));
        const { status } = (await agent.get(`${path}/${id}?wait=55`)).body;
        assert.equal(status.inquiries[0].text, WHY);
        accepted(await answer(status.inquiries[0].id));
      }
    });

    /** Somebody whose inbox shows all there is. */
    async function everybody() {
      const { person, answer: key } = await scene().human(fresh("Eve Moe"), { inboxScope: "all" });
      return {
        person,
        askBack: (ask: string) => key.post(`//people/me/asks/${ask}/inquiries`, { text: WHY }),
      };
    }
  });
}
