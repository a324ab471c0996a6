/** One approval offered to six people, each on a channel of their own, who all answer at the same moment. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { FIRST_LINE } from "../../src/channels/email/own-quote.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { enrol, until } from "./addressed.ts";
import type { Taken } from "../channels/mail.ts";
import { controlIn, TEAM, type ApiCall } from "../channels/slack-double.ts";
import { aPress } from "../channels/slack-scene.ts";
import type { ApiCall as PhoneCall } from "../channels/twilio-double.ts";
import { found, mailsTo, OURS, textsTo, type Town } from "./town.ts";
import type { Reply } from "./world.ts";

/** A person follows a link no faster than this. */
const LINK_PAUSE_MS = 1100;
/** Ways differ in length. A participant with this head start, in turn, may win in spite of a longer way. */
const AHEAD_MS = 4;

/** One approval, with every message about it as its counterpart got it. */
interface Offered {
  number: number;
  callId: string;
  requestId: string;
  digest: string;
  who: Addresses;
  slack: ApiCall;
  ts: string;
  mail: Taken;
  text: PhoneCall;
  whatsapp: PhoneCall;
  page: { path: string; code: string; cookie: string; given: Record<string, string> };
}

interface Addresses {
  slack: string;
  slackRoom: string;
  bo: string;
  ed: string;
  sms: string;
  whatsapp: string;
}

/** How each person learned what became of their answer. */
type Decisions = Record<"Ana" | "Bo" | "Cy" | "Di" | "Ed" | "Fay", string | null>;

let rounds = 0;

/** Offers so many approvals, races each of them, checks what came of it, and returns who won. */
export async function raceIn(town: Town, count: number): Promise<string[]> {
  const offered = await Promise.all(Array.from({ length: count }, () => offer(town, (rounds += 1))));
  await pause(LINK_PAUSE_MS);
  return Promise.all(offered.map((one) => race(town, one)));
}

async function offer(town: Town, number: number): Promise<Offered> {
  const { world, agent, slack } = town;
  const who = await enrolled(town, number);
  const callId = `call_${number}`;
  const any_of = [
    { slack: { channel_or_user_id: who.slack } },
    { email: { address: who.bo } },
    { sms: { phone_number: who.sms } },
    { inbox: {} },
    { email: { address: who.ed } },
    { whatsapp: { phone_number: who.whatsapp } },
  ];
  const spec = { fn: "pay", kwargs: { order: number }, channel: { any_of }, reject_options: [{ name: "no" }] };
  const body = { run_id: "run_1", call_id: callId, spec };
  const posted = await world.call("POST", "/humanlayer/v1/function_calls", { headers: agent, body });
  assert.equal(posted.status, 200, posted.text);
  const { ask_id: requestId, consent_digest: digest } = posted.body.status;

  const message = await found(() => postsIn(town, "chat.postMessage", who.slackRoom)[0]);
  const mail = await found(() => mailsTo(town, who.bo)[0]);
  const linked = await found(() => mailsTo(town, who.ed)[0]);
  const text = await found(() => textsTo(town, who.sms)[0]);
  const whatsapp = await found(() => textsTo(town, `whatsapp:${who.whatsapp}`)[0]);
  await until(async () => {
    const { body: seen } = await world.call("GET", "/people/me/asks", { headers: town.di });
    return seen.asks.some(({ id }: { id: string }) => id === requestId);
  });
  const page = await opened(town, linked);
  // Slack counts up: the message is the only one of its room, and its update names it.
  const ts = `1763632800.${String(slack.of("chat.postMessage").indexOf(message) + 1).padStart(6, "0")}`;
  return { number, callId, requestId, digest, who, slack: message, ts, mail, text, whatsapp, page };
}

async function enrolled({ world, slack }: Town, number: number): Promise<Addresses> {
  const who = {
    slack: `U0A${number}`,
    slackRoom: `D0A${number}`,
    bo: `bo-${number}@people.example`,
    ed: `ed-${number}@people.example`,
    sms: `+49170${1_000_000 + number}`,
    whatsapp: `+49171${1_000_000 + number}`,
  };
  slack.users.set(who.slack, { id: who.slack, team_id: TEAM, name: "ana", deleted: false, is_bot: false });
  for (const [name, kind, value] of [
    ["Ana", "slack", who.slack],
    ["Bo", "email", who.bo],
    ["Cy", "phone", who.sms],
    ["Ed", "email", who.ed],
    ["Fay", "phone", who.whatsapp],
  ] as const) {
    await enrol(world.server.ctx, `${name} ${number}`, [], { identities: [{ kind, value }] });
  }
  return who;
}

async function opened(town: Town, { mail }: Taken): Promise<Offered["page"]> {
  const [, path = ""] = /^https:\/\/parley\.example(\/r\/\S+)$/m.exec(mail.text ?? "") ?? [];
  const [, code = ""] = /this code: (\w{4})/.exec(mail.text ?? "") ?? [];
  const page = await town.link(path, "open", {});
  assert.equal(page.status, 200, page.text);
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
  const [cookie = ""] = (page.headers.get("set-cookie") ?? "").split(";");
  return { path, code, cookie, given: { nonce: hidden("nonce"), digest: hidden("digest") } };
}

async function race(town: Town, one: Offered): Promise<string> {
  // Three say one thing and three the other; who says which changes from round to round.
  const yes = (place: number) => (place + one.number) % 2 === 0;
  const { inbox, page } = await answerEverywhere(town, one, yes);
  const { body } = await town.world.call("GET", `/humanlayer/v1/function_calls/${one.callId}`, { headers: town.agent });
  const { approved, user_info: by } = body.status;
  const [name] = String(by?.name).split(" ");
  const place = ["Ana", "Bo", "Cy", "Di", "Ed", "Fay"].indexOf(name ?? "");
  assert.equal(approved, yes(place), `${by?.name} said the other thing`);

  const ended = `This is over: ${approved ? "approved" : "rejected"} by ${by.name}.`;
  await until(async () => {
    const rows = await listDeliveries(town.world.server.ctx.db, one.requestId);
    return rows.every(({ state }) => state === "closed" || state === "skipped");
  });
  const told = await toldIn(town, one, { inbox, page });
  const expected = Object.fromEntries(Object.keys(told).map((who) => [who, who === name ? ACCEPTED : ended]));
  assert.deepEqual(told, expected);
  await assertClosed(town, one, by.name, approved);
  return String(name);
}

const ACCEPTED = "accepted";

async function answerEverywhere(
  town: Town,
  { number, who, slack, ts, text, whatsapp, mail, page, requestId, digest }: Offered,
  yes: (place: number) => boolean,
): Promise<{ inbox: Reply; page: Reply }> {
  const { delivery } = JSON.parse(slack.form["metadata"] ?? "{}").event_payload as { delivery: string };
  const action = yes(0) ? "parley:approve" : "parley:opt:0";
  assert.equal(controlIn(slack.json("blocks"), action)["value"], delivery);
  const press = aPress(action, { user: who.slack, value: delivery, channel: who.slackRoom, ts });
  const [, smsCode = ""] = /YES (\w{4}) or/.exec(text.form["Body"] ?? "") ?? [];
  const onWhatsapp = JSON.parse(whatsapp.form["ContentVariables"] ?? "{}") as Record<string, string>;

  const inTurn = async <T>(place: number, answer: () => Promise<T>): Promise<T> => {
    await pause(((place + number) % 6) * AHEAD_MS);
    return answer();
  };

  const [, , , inbox, decided] = await Promise.all([
    inTurn(0, () => town.pressed(press, number % 2 === 0 ? "socket" : "http")),
    inTurn(1, () => town.reply(mail, who.bo, yes(1) ? "Approve." : "Reject: too much")),
    inTurn(2, () => town.texted({ From: who.sms, To: OURS, Body: `${yes(2) ? "YES" : "NO"} ${smsCode}` })),
    inTurn(3, () =>
      town.world.call("POST", `/people/me/asks/${requestId}/decision`, {
        headers: town.di,
        body: yes(3) ? { approved: true, digest } : { approved: false },
      }),
    ),
    inTurn(4, () => {
      const given = { ...page.given, choice: yes(4) ? "approve" : "reject", code: page.code };
      return town.link(page.path, "decide", given, page.cookie);
    }),
    inTurn(5, () =>
      town.texted({
        From: `whatsapp:${who.whatsapp}`,
        To: `whatsapp:${OURS}`,
        Body: "pressed",
        ButtonPayload: `${onWhatsapp["5"]}:${yes(5) ? "approve" : "reject"}`,
      }),
    ),
  ]);
  assert.equal(decided.status, 303, decided.text);
  // Slack is answered before the press is followed, and what became of it comes after.
  await found(() => postsIn(town, "chat.postEphemeral", who.slackRoom)[0]);
  return { inbox, page: await town.world.call("GET", page.path) };
}

/** Returns the reply to each participant: that they won, or who won. */
async function toldIn(town: Town, one: Offered, web: { inbox: Reply; page: Reply }): Promise<Decisions> {
  const { who } = one;
  const [ephemeral, ...more] = postsIn(town, "chat.postEphemeral", who.slackRoom).map(({ form }) => form["text"]);
  const [, byMail, ...moreMail] = mailsTo(town, who.bo).map(
    ({ mail }) => mail.text?.replace(FIRST_LINE, "").trim() ?? "",
  );
  const [, bySms, ...moreSms] = textsTo(town, who.sms).map(({ form }) => form["Body"] ?? "");
  const [, onWhatsapp, ...moreWhatsapp] = textsTo(town, `whatsapp:${who.whatsapp}`).map(({ form }) => form["Body"]);
  assert.deepEqual([more, moreMail, moreSms, moreWhatsapp].flat(), [], "said once");
  assert.equal(mailsTo(town, who.ed).length, 1, "whoever followed a link is told on its page");

  const seen = await town.world.call("GET", `/people/me/asks/${one.requestId}`, { headers: town.di });
  const { approved, by } = seen.body.outcome;
  const inInbox = `This is over: ${approved ? "approved" : "rejected"} by ${by.name}.`;
  if (web.inbox.status !== 200) {
    assert.deepEqual([web.inbox.status, web.inbox.body.error.code], [409, "ALREADY_DECIDED"]);
  }
  const [, onPage] = /role="status">([^<]*)</.exec(web.page.text) ?? [];
  const ofEd = onPage?.endsWith(`by Ed ${one.number}.`);
  return {
    Ana: ephemeral?.startsWith("Recorded: ") ? ACCEPTED : (ephemeral ?? null),
    Bo: byMail ?? ACCEPTED,
    Cy: bySms ?? ACCEPTED,
    Di: web.inbox.status === 200 ? ACCEPTED : inInbox,
    Ed: ofEd ? ACCEPTED : onPage ? `This is over: ${onPage.charAt(0).toLowerCase()}${onPage.slice(1)}` : null,
    Fay: onWhatsapp ?? ACCEPTED,
  };
}

async function assertClosed(town: Town, one: Offered, winner: string, approved: boolean): Promise<void> {
  const { world, admin, di } = town;
  const updates = postsIn(town, "chat.update", one.who.slackRoom);
  assert.equal(updates.length, 1);
  assert.equal(updates[0]?.form["ts"], one.ts);
  const blocks = updates[0]?.form["blocks"] ?? "";
  assert.match(blocks, new RegExp(`${approved ? "Approved" : "Rejected"} by ${winner}\\.`));
  assert.doesNotMatch(blocks, /parley:/, "nothing is left to press");
  assert.equal(postsIn(town, "chat.postMessage", one.who.slackRoom).length, 1);

  const open = await world.call("GET", "/people/me/asks", { headers: di });
  assert.ok(open.body.asks.every(({ id }: { id: string }) => id !== one.requestId));
  const path = `/humanlayer/v1/audit?call_id=${one.callId}&limit=1000`;
  const { body: audit } = await world.call("GET", path, { headers: admin });
  const decisions = audit.items.filter(({ action }: { action: string }) => /\.(approved|rejected)$/.test(action));
  assert.equal(decisions.length, 1, JSON.stringify(decisions));
}

const postsIn = ({ slack }: Town, method: string, room: string): ApiCall[] =>
  slack.of(method).filter(({ form }) => form["channel"] === room);
