import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Decision } from "../../src/requests/model/request.ts";
import type { InboundMessage, InboundResult } from "../../src/requests/model/inbound-message.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { decideByLink } from "../../src/requests/links/open-link.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { Refusal } from "../../src/refusals.ts";
import { askPeople, enrol, leaf, providerOf, toPerson, until } from "../support/addressed.ts";
import { ONE_DATABASE, openWorld } from "../support/world.ts";

const ROUNDS = 20;
const PUBLIC = "http://parley.test";

for (const on of ONE_DATABASE) {
  describe(`one approval on four channels at once, on ${on}`, () => {
    it(`has one outcome ${ROUNDS} times, tells the others how it ended, and closes every message`, async () => {
      const [slack, email, sms] = [providerOf("slack"), providerOf("email"), providerOf("sms")];
      await using world = await openWorld({
        on,
        channels: [slack, email, sms],
        env: { PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000" },
      });
      const { ctx } = world.server;
      const people = {
        ana: await enrol(ctx, "Ana", [], { identities: [{ kind: "slack", value: "U1" }] }),
        bo: await enrol(ctx, "Bo", [], { identities: [{ kind: "email", value: "bo@example.com" }] }),
        cy: await enrol(ctx, "Cy", [], { identities: [{ kind: "phone", value: "+4912345678" }] }),
        di: await enrol(ctx, "Di"),
      };
      const audience = {
        kind: "any",
        of: [
          leaf({ via: "slack", to: "U1", settings: {} }),
          leaf({ via: "email", to: "bo@example.com", informed: false, settings: {} }),
          leaf({ via: "sms", to: "+4912345678", settings: {} }),
          toPerson(people.di),
        ].map((node) => ({ afterMs: 0, node })),
      } as const;

      for (let round = 0; round < ROUNDS; round += 1) {
        const ask = await askPeople(ctx, { audience });
        const sent = async () => (await listDeliveries(ctx.db, ask.id)).filter(({ state }) => state === "sent");
        await until(async () => {
          await world.advance(500);
          return (await sent()).length === 3;
        });
        const noticeOf = (provider: typeof slack) => {
          const notice = provider.sent.find(({ view }) => view.requestId === ask.id);
          return notice ?? assert.fail("no message");
        };
        const [onSlack, byMail, byText] = [noticeOf(slack), noticeOf(email), noticeOf(sms)];
        const says = round % 2 === 0 ? "approve" : "reject";
        const inbound = (
          provider: string,
          more: Pick<InboundMessage, "match" | "sender" | "content">,
        ): Promise<InboundResult> =>
          handleInbound(ctx, PUBLIC, { provider, id: `${provider} ${round}`, at: 0, trust: "verified", ...more });
        const won = (decided: Promise<unknown>): Promise<InboundResult["kind"]> =>
          decided.then(
            () => "accepted",
            (error: unknown) =>
              error instanceof Refusal && error.code === "already_decided" ? "already_decided" : "not_allowed",
          );
        const decision: Decision = { kind: says };
        const isIn = async (result: Promise<InboundResult>) => (await result).kind;

        const verdicts = {
          slack: isIn(
            inbound("slack", {
              match: { delivery: onSlack.delivery, ts: onSlack.delivery },
              sender: { kind: "slack", id: "U1", team: "T1", member: true, channel: "D1" },
              content: { choice: { kind: says } },
            }),
          ),
          email: isIn(
            inbound("email", {
              match: { token: byMail.replyToken },
              sender: { kind: "email", id: "bo@example.com" },
              content: { text: says },
            }),
          ),
          sms: isIn(
            inbound("sms", {
              match: { delivery: byText.delivery },
              sender: { kind: "phone", id: "+4912345678" },
              content: { text: `${says} ${byText.code}` },
            }),
          ),
          web: won(
            decideRequest(ctx, { requestId: ask.id, responder: await responderOf(ctx.db, people.di, "web"), decision }),
          ),
          link: won(decideByLink(ctx, byMail.link.split("/r/")[1] ?? "", { decision, code: byMail.code })),
        };
        const results = await Promise.all(
          Object.entries(verdicts).map(async ([name, verdict]) => [name, await verdict] as const),
        );
        const accepted = results.filter(([, is]) => is === "accepted").map(([name]) => name);
        // The link is Bo's too: with the reply it is one person who says the same twice.
        const winners = new Set(accepted.map((name) => (name === "link" ? "email" : name)));
        assert.equal(winners.size, 1, JSON.stringify(results));
        assert.ok(
          results.every(([, is]) => is === "accepted" || is === "already_decided"),
          JSON.stringify(results),
        );

        const { outcome, state } = await readRequest(ctx, ask.id);
        assert.deepEqual([state, outcome?.approved], ["answered", says === "approve"]);
        await until(async () => {
          await world.advance(500);
          return (await listDeliveries(ctx.db, ask.id)).every(
            ({ kind, state }) => kind === "tell" || state === "closed",
          );
        });
      }
      assert.equal(slack.closed.length, ROUNDS);
      assert.ok(slack.closed.every(({ closing }) => / by (Ana|Bo|Cy|Di)\.$/.test(closing.says)));
    });
  });
}
