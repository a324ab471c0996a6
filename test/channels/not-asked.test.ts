import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { enrol, until } from "../support/addressed.ts";
import { TEAM } from "./slack-double.ts";
import { aPress } from "./slack-scene.ts";
import { found, mailsTo, openTown, type Town } from "../support/town.ts";
import { ONE_DATABASE } from "../support/world.ts";

const BASE = "/humanlayer/v1";
const ROOM = "C024BE91L";

/** A request to a person, to a room on Slack where one may answer, and to an address. */
interface Guarded {
  requestId: string;
  callId: string;
  /** A mail and a message on Slack about it were sent. */
  sent(): Promise<unknown>;
}

let calls = 0;

async function guarded(town: Town): Promise<Guarded> {
  const { world, agent } = town;
  const callId = `guarded_${(calls += 1)}`;
  const any_of = [
    { human: { id: await enrol(world.server.ctx, `Ana ${calls}`) } },
    { slack: { channel_or_user_id: ROOM, allowed_responder_ids: ["U0ANA"] } },
    { email: { address: bo(callId) } },
  ];
  const body = { run_id: "run_1", call_id: callId, spec: { fn: "pay", kwargs: { order: 7 }, channel: { any_of } } };
  const posted = await world.call("POST", `${BASE}/function_calls`, { headers: agent, body });
  assert.equal(posted.status, 200, posted.text);
  const requestId = posted.body.status.ask_id as string;
  const sent = () =>
    until(async () => {
      const rows = (await listDeliveries(world.server.ctx.db, requestId)).filter(({ kind }) => kind === "ask");
      return rows.length === 2 && rows.every(({ state }) => state === "sent");
    });
  return { requestId, callId, sent };
}

const bo = (callId: string) => `bo-${callId}@people.example`;

/** All that the agent sees of a request, and what its version is; the note about a refused answer is left out. */
async function seen({ world, agent }: Town, { requestId, callId }: Guarded) {
  const read = async (path: string) => {
    const { text } = await world.call("GET", `${BASE}${path}`, { headers: agent });
    return text.replace(/"failed_validation_details":\{[^}]*\{[^}]*\}[^}]*\},?/g, "");
  };
  const { version, outcome, audience } = await readRequest(world.server.ctx, requestId);
  return {
    one: await read(`/function_calls/${callId}`),
    pending: await read("/agent/function_calls/pending"),
    whole: { version, outcome, audience },
    // The recipient of a mail reads that another address answered it.
    deliveries: (await listDeliveries(world.server.ctx.db, requestId)).filter(({ kind }) => kind !== "tell"),
  };
}

async function attempts({ world, admin }: Town, { requestId }: Guarded): Promise<unknown[]> {
  const path = `${BASE}/audit?ask_id=${requestId}&action=function_call.answer_refused&limit=1000`;
  return (await world.call("GET", path, { headers: admin })).body.items;
}

/** Every door through which somebody may try who was not asked. */
const DOORS: Readonly<Record<string, (town: Town, ask: Guarded) => Promise<void>>> = {
  async api({ world }, { callId }) {
    const person = await enrol(world.server.ctx, `Eve of ${callId}`, [], { seesAll: true });
    const { text } = await createKey(world.server.ctx, { name: `eve-${callId}`, scope: "answer", person });
    const headers = { authorization: `Bearer ${text}` };
    const path = `${BASE}/agent/function_calls/${callId}/respond`;
    const reply = await world.call("POST", path, { headers, body: { approved: true } });
    assert.deepEqual([reply.status, reply.body.error.code], [403, "responder_not_allowed"]);
  },
  async inbox({ world, di }, { requestId }) {
    const { digest } = (await world.call("GET", `/people/me/asks/${requestId}`, { headers: di })).body;
    const body = { approved: true, digest };
    const reply = await world.call("POST", `/people/me/asks/${requestId}/decision`, { headers: di, body });
    assert.deepEqual([reply.status, reply.body.error.code], [403, "NOT_ASKED"]);
  },
  async "a link"({ world, link }, { requestId }) {
    const { ctx } = world.server;
    // A message in a room belongs to nobody. A person who follows its link is not one who was asked.
    const delivery = (await listDeliveries(ctx.db, requestId)).find(({ channel }) => channel === "slack");
    const { link: token, code } = tokensOf(ctx, delivery?.id ?? assert.fail("nothing was sent to the room"));
    const page = await link(`/r/${token}`, "open", {});
    assert.equal(page.status, 200, page.text);
    const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
    const [cookie = ""] = (page.headers.get("set-cookie") ?? "").split(";");
    const given = { nonce: hidden("nonce"), digest: hidden("digest"), choice: "approve", code };
    // Sooner than a second after it was opened a page decides nothing.
    await until(async () => /was not asked/.test((await link(`/r/${token}`, "decide", given, cookie)).text));
  },
  async mail(town, { callId }) {
    const mail = await found(() => mailsTo(town, bo(callId))[0]);
    await town.reply(mail, "eve@people.example", "Approve.");
  },
  async "Slack over its socket"(town, ask) {
    await town.pressed(await strangersPress(town, ask), "socket");
  },
  async "Slack over HTTP"(town, ask) {
    await town.pressed(await strangersPress(town, ask), "http");
  },
};

async function strangersPress({ world, slack }: Town, { requestId }: Guarded): Promise<object> {
  slack.users.set("U0EVE", { id: "U0EVE", team_id: TEAM, name: "eve", deleted: false, is_bot: false });
  const delivery = (await listDeliveries(world.server.ctx.db, requestId)).find(({ channel }) => channel === "slack");
  const { channel = "", ts = "" } = delivery?.externalIds ?? {};
  return aPress("parley:approve", {
    user: "U0EVE",
    value: delivery?.id ?? assert.fail("nothing was sent"),
    channel,
    ts,
  });
}

for (const on of ONE_DATABASE) {
  describe(`an answer by somebody who was not asked, on ${on}`, () => {
    let town: Town;
    before(async () => {
      town = await openTown(on);
    });
    after(() => town[Symbol.asyncDispose]());

    for (const [door, tries] of Object.entries(DOORS)) {
      it(`changes nothing but the note about it by ${door}, and stands in the record`, async () => {
        const ask = await guarded(town);
        await ask.sent();
        const earlier = await seen(town, ask);
        await tries(town, ask);
        await until(async () => (await attempts(town, ask)).length > 0);
        assert.deepEqual(await seen(town, ask), earlier);
      });
    }
  });
}
