import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Context } from "../../src/context.ts";
import type { Target } from "../../src/requests/model/request.ts";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { changeHuman, enrollHuman, type Human, type HumanChannel } from "../../src/access/enroll-human.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { decideByLink, readLink } from "../../src/requests/links/open-link.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, leaf, providerOf, toPerson, until, type Provider } from "../support/addressed.ts";
import { fresh } from "../support/contract.ts";
import { DATABASES, ONE_DATABASE, openWorld, type World } from "../support/world.ts";

const BOSS = { kind: "admin", id: "boss" } as const;
const APPROVE = { kind: "approve" } as const;
const INBOX: HumanChannel = { channel: "inbox", target: {} };

/** Every kind of address that a message can go to; true where the address can belong to one person alone. */
const KINDS = [
  ["slack", (name: string) => `U${name.toUpperCase()}`, true],
  ["slack", (name: string) => `C${name.toUpperCase()}`, false],
  ["email", (name: string) => `${name}@example.com`, true],
  ["sms", (name: string) => `+49151${digits(name)}`, true],
  ["whatsapp", (name: string) => `+49160${digits(name)}`, true],
  ["webhook", (name: string) => `hook-${name}`, false],
] as const;

const digits = (name: string): string => name.replace(/\D/g, "").padStart(7, "0");

type Kind = (typeof KINDS)[number];

interface Losing {
  ctx: Context;
  ana: Human;
  bo: Human;
  channel: HumanChannel;
  another: HumanChannel;
}

const withChannels = (human: Human, channels: readonly HumanChannel[]) => ({ ...human, channels });

/** Every way in which an address stops being somebody's. */
const LOSSES: Readonly<Record<string, (of: Losing) => Promise<unknown>>> = {
  removed: ({ ctx, ana }) => changeHuman(ctx, ana.number, (human) => withChannels(human, [INBOX]), BOSS),
  changed: ({ ctx, ana, another }) =>
    changeHuman(ctx, ana.number, (human) => withChannels(human, [another, INBOX]), BOSS),
  "moved to somebody else": async ({ ctx, ana, bo, channel }) => {
    await changeHuman(ctx, ana.number, (human) => withChannels(human, [INBOX]), BOSS);
    await changeHuman(ctx, bo.number, (human) => withChannels(human, [channel]), BOSS);
  },
  "lost with its person": ({ ctx, ana }) => removeHuman(ctx, ana.number, BOSS),
};

function channelOf([channel, addressOf]: Kind, name: string): HumanChannel {
  const more = channel === "email" ? { informed: false, settings: {} } : { settings: {} };
  return { channel, target: { to: addressOf(name), ...more } };
}

interface Scene extends AsyncDisposable {
  world: World;
  providers: ReadonlyMap<string, Provider>;
}

async function openScene(on: (typeof DATABASES)[number]): Promise<Scene> {
  const names = ["slack", "email", "sms", "whatsapp", "webhook"] as const;
  const providers = new Map(names.map((name) => [name, providerOf(name)]));
  const world = await openWorld({ on, channels: [...providers.values()] });
  return { world, providers, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** Returns everybody, and where one of them is asked, and could be asked instead. */
async function enrolBoth({ world }: Scene, kind: Kind): Promise<Losing> {
  const { ctx } = world.server;
  const name = fresh("ana");
  const [channel, another] = [channelOf(kind, name), channelOf(kind, fresh("new"))];
  const input = { description: null, title: null, seesAll: false };
  const ana = await enrollHuman(ctx, { ...input, name: "Ana", channels: [channel, INBOX] }, BOSS);
  const bo = await enrollHuman(ctx, { ...input, name: "Bo", channels: [INBOX] }, BOSS);
  return { ctx, ana, bo, channel, another };
}

async function sentTo(scene: Scene, kind: Kind, to: unknown) {
  const sent = scene.providers.get(kind[0])?.sent ?? [];
  const isThere = ({ target }: { target: unknown }) => (target as { to: unknown }).to === to;
  await until(async () => {
    await scene.world.advance(500);
    return sent.some(isThere);
  });
  return sent.filter(isThere);
}

/** Returns the next message from the address, with its provider's proof. */
function saidBy([channel]: Kind, to: string, delivery: string, more: { code: string; number: number }): InboundMessage {
  const match = { delivery, ts: delivery };
  const message = { provider: channel, id: fresh("heard"), at: 0, match, trust: "verified" } as const;
  const said = { choice: { kind: "approve" } } as const;
  switch (channel) {
    case "slack":
      return {
        ...message,
        content: said,
        sender: to.startsWith("U")
          ? { kind: "slack", id: to, team: "T1", member: true, channel: "D1" }
          : { kind: "slack", id: "U0", team: "T1", member: true, channel: to },
      };
    case "email":
      return { ...message, content: { text: "approve" }, sender: { kind: "email", id: to } };
    case "webhook":
      return { ...message, content: said, digest: "", sender: { kind: "human", id: String(more.number), webhook: to } };
    case "sms":
    case "whatsapp":
      return { ...message, content: { text: `YES ${more.code}` }, sender: { kind: "phone", id: to } };
  }
}

for (const on of ONE_DATABASE) {
  describe(`a message to an address, on ${on}`, () => {
    let scene: Scene;
    before(async () => {
      scene = await openScene(on);
    });
    after(() => scene?.[Symbol.asyncDispose]());

    for (const [how, lose] of Object.entries(LOSSES)) {
      it(`decides nothing once the address is ${how}, by its link, its code or a reply`, async () => {
        for (const kind of KINDS) {
          for (const asks of kind[2] ? (["the person", "the address"] as const) : (["the person"] as const)) {
            const where = `${kind[1]("x")}, asking ${asks}`;
            const all = await enrolBoth(scene, kind);
            const { ctx, ana, channel } = all;
            const to = channel.target["to"] as string;
            const target = { via: channel.channel, ...channel.target } as unknown as Target;
            const audience = asks === "the person" ? toPerson(ana.person) : leaf(target);
            const ask = await askPeople(ctx, { audience, ref: fresh("call"), asker: `agent:${fresh("bot")}` });
            const [notice = assert.fail("nothing was sent")] = await sentTo(scene, kind, to);
            const token = notice.link.split("/r/")[1] ?? "";
            assert.equal((await readLink(ctx, token)).request.id, ask.id, where);

            await lose(all);
            const { code, delivery } = notice;
            await assert.rejects(readLink(ctx, token), { code: "link_dead" }, where);
            for (const signedIn of [undefined, ana.person, all.bo.person]) {
              const given = { decision: APPROVE, code, ...(signedIn !== undefined && { signedIn }) };
              await assert.rejects(decideByLink(ctx, token, given), { code: "link_dead" }, where);
            }
            for (const { number } of [ana, all.bo]) {
              const result = await handleInbound(
                ctx,
                "http://parley.test",
                saidBy(kind, to, delivery, { code, number }),
              );
              assert.equal(result.kind, "not_allowed", where);
            }
            assert.equal((await readRequest(ctx, ask.id)).state, "open", where);
          }
        }
      });
    }

    it("goes to what took the address's place, where it was not sent yet, and to the lost one no more", async () => {
      for (const kind of KINDS) {
        const all = await enrolBoth(scene, kind);
        const { ctx, ana, channel, another } = all;
        const later = { afterMs: 60_000, node: toPerson(ana.person) };
        const audience = { kind: "any", of: [{ afterMs: 0, node: leaf({ via: "inbox" }) }, later] } as const;
        const more = { ref: fresh("call"), asker: `agent:${fresh("bot")}`, timeoutSeconds: 3600 };
        const ask = await askPeople(ctx, { ...more, audience, remindAfterMs: 120_000 });
        await LOSSES["changed"]?.(all);
        await scene.world.advance(61_000);
        const [notice] = await sentTo(scene, kind, another.target["to"]);
        assert.equal(notice?.view.requestId, ask.id);

        // Its reminder goes nowhere when the new address is lost, too.
        await LOSSES["removed"]?.(all);
        await scene.world.advance(61_000);
        await until(async () => {
          await scene.world.advance(500);
          const rows = await listDeliveries(ctx.db, ask.id);
          return rows.every(({ state }) => ["sent", "closed", "skipped"].includes(state));
        });
        const responder = await responderOf(ctx.db, ana.person, "web");
        await decideRequest(ctx, { requestId: ask.id, responder, decision: APPROVE });
        await until(async () => {
          await scene.world.advance(500);
          return (await listDeliveries(ctx.db, ask.id)).every(({ state }) => state !== "closing" && state !== "sent");
        });
        const provider = scene.providers.get(kind[0]) ?? assert.fail("no provider");
        const sent = provider.sent.filter(({ view }) => view.requestId === ask.id);
        assert.deepEqual(
          sent.map(({ target }) => (target as { to: unknown }).to),
          [another.target["to"]],
          String(channel.target["to"]),
        );
        assert.equal(provider.closed.length, 0);
      }
    });
  });
}
