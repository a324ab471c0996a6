import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FIRST_LINE } from "../../src/channels/email/own-quote.ts";
import { advanceUntil, fresh } from "../support/contract.ts";
import { enrol } from "../support/addressed.ts";
import { mailsTo, openTown, OURS, textsTo, type Town } from "../support/town.ts";
import { ONE_DATABASE } from "../support/world.ts";
import { TEAM } from "./slack-double.ts";
import { aPress } from "./slack-scene.ts";

const UNDO_MS = 60_000;
const WHO = {
  slack: "U0ANA",
  room: "D0ANA",
  mail: "bo@people.example",
  sms: "+491701000001",
  whatsapp: "+491711000001",
} as const;

/** The texts that went out to each of these people, in order. */
const said = (town: Town) => ({
  slack: town.slack.calls
    .filter(({ method, form }) => method.startsWith("chat.") && form["channel"] === WHO.room)
    .map(({ method, form }) => ({ method, ts: form["ts"], text: `${form["text"]} ${form["blocks"]}` })),
  mail: mailsTo(town, WHO.mail).map(({ mail }) => mail.text?.replace(FIRST_LINE, "").trim() ?? ""),
  sms: textsTo(town, WHO.sms).map(({ form }) => form["Body"] ?? ""),
  whatsapp: textsTo(town, `whatsapp:${WHO.whatsapp}`).map(({ form }) => form["Body"] ?? form["ContentVariables"] ?? ""),
});
type Said = ReturnType<typeof said>;
const countOf = (all: Said) => Object.values(all).map(({ length }) => length);

/** Asks all four people about one call, and returns it with every message about it. */
async function offer(town: Town) {
  const { world, agent, slack } = town;
  const before = countOf(said(town));
  const any_of = [
    { slack: { channel_or_user_id: WHO.slack } },
    { email: { address: WHO.mail } },
    { sms: { phone_number: WHO.sms } },
    { whatsapp: { phone_number: WHO.whatsapp } },
    { inbox: {} },
  ];
  const callId = fresh("call");
  const spec = { fn: "brew", kwargs: { pot: callId }, channel: { any_of } };
  const body = { run_id: "run_1", call_id: callId, spec };
  const posted = await world.call("POST", "/humanlayer/v1/function_calls", { headers: agent, body });
  assert.equal(posted.status, 200, posted.text);
  await advanceUntil(world, 100, () => countOf(said(town)).every((count, i) => count === (before[i] ?? 0) + 1));
  const posts = slack.of("chat.postMessage");
  const { delivery } = JSON.parse(posts.at(-1)?.form["metadata"] ?? "{}").event_payload as { delivery: string };
  const [mail] = mailsTo(town, WHO.mail).slice(-1);
  const [text, whatsapp] = [said(town).sms.at(-1), said(town).whatsapp.at(-1)];
  return {
    callId,
    id: posted.body.status.ask_id as string,
    digest: posted.body.status.consent_digest as string,
    delivery,
    ts: `1763632800.${String(posts.length).padStart(6, "0")}`,
    mail: mail ?? assert.fail("no mail"),
    code: /YES (\w{4}) or/.exec(text ?? "")?.[1] ?? assert.fail(text),
    button: (JSON.parse(whatsapp ?? "{}") as Record<string, string>)["5"],
  };
}
type Offered = Awaited<ReturnType<typeof offer>>;

const approves = (town: Town, { id, digest }: Offered) =>
  town.world.call("POST", `/people/me/asks/${id}/decision`, { headers: town.di, body: { approved: true, digest } });

/** The status that the agent reads of a call. */
const statusOf = async ({ world, agent }: Town, { callId }: Offered) =>
  (await world.call("GET", `/humanlayer/v1/function_calls/${callId}`, { headers: agent })).body.status;

/** How the messages on Slack about a call were changed. */
const updatesOf = (town: Town, { ts }: Offered) =>
  said(town).slack.filter((one) => one.method === "chat.update" && one.ts === ts);

for (const on of ONE_DATABASE) {
  describe(`the messages about a decision that is pressed in the app, on ${on}`, () => {
    it("say nothing of it while it can be undone or once it is, and who decided, once, when it has left", async () => {
      const env = { PARLEY_INBOX_UNDO_SECONDS: String(UNDO_MS / 1000) };
      await using town = await openTown(on, { running: false, at: Date.now(), env });
      const { world, slack } = town;
      slack.users.set(WHO.slack, { id: WHO.slack, team_id: TEAM, name: "ana", deleted: false, is_bot: false });
      for (const [name, kind, value] of [
        ["Ana", "slack", WHO.slack],
        ["Bo", "email", WHO.mail],
        ["Cy", "phone", WHO.sms],
        ["Fay", "phone", WHO.whatsapp],
      ] as const) {
        await enrol(world.server.ctx, name, [], { identities: [{ kind, value }] });
      }
      const [made, undone, contested] = [await offer(town), await offer(town), await offer(town)];
      const offered = countOf(said(town));

      for (const one of [made, undone, contested]) {
        const pressed = await approves(town, one);
        assert.equal(pressed.body.presses[0]?.mine, true, pressed.text);
        assert.equal((await statusOf(town, one)).approved, undefined);
      }
      const body = { asks: [undone.id] };
      assert.equal((await world.call("POST", "/people/me/undo", { headers: town.di, body })).body.asks[0].undone, true);

      // Somebody else decides on a channel in the meantime, which counts at once.
      await town.texted({ From: WHO.sms, To: OURS, Body: `NO ${contested.code}` });
      await advanceUntil(world, 100, () => updatesOf(town, contested).length > 0);
      assert.match(updatesOf(town, contested)[0]?.text ?? "", /Rejected by Cy\./);
      assert.deepEqual((await statusOf(town, contested)).user_info.name, "Cy");
      assert.deepEqual([updatesOf(town, made), updatesOf(town, undone)], [[], []]);

      await world.advance(UNDO_MS);
      await advanceUntil(world, 100, () => updatesOf(town, made).length > 0);
      assert.match(updatesOf(town, made)[0]?.text ?? "", /Approved by Di\./);
      const [slackCount = 0, ...others] = offered;
      assert.deepEqual(countOf(said(town)), [slackCount + 2, ...others], "two messages on Slack are changed");

      // Those who answer now learn who has decided; the request that was undone takes their answer.
      const press = { user: WHO.slack, value: made.delivery, channel: WHO.room, ts: made.ts };
      await town.pressed(aPress("parley:approve", press), "socket");
      await town.reply(made.mail, WHO.mail, "Reject: too much");
      await town.texted({ From: WHO.sms, To: OURS, Body: `NO ${made.code}` });
      const button = { Body: "pressed", ButtonPayload: `${made.button}:reject` };
      await town.texted({ From: `whatsapp:${WHO.whatsapp}`, To: `whatsapp:${OURS}`, ...button });
      await advanceUntil(world, 100, () => countOf(said(town)).every((count, i) => count > (offered[i] ?? 0)));
      await town.reply(undone.mail, WHO.mail, "Approve.");
      await advanceUntil(world, 100, () => updatesOf(town, undone).length > 0);
      assert.match(updatesOf(town, undone)[0]?.text ?? "", /Approved by Bo\./);

      const now = said(town);
      const over = "This is over: approved by Di.";
      const later = (texts: readonly string[], place: number) => texts.slice(offered[place]);
      assert.deepEqual([later(now.mail, 1), later(now.sms, 2), later(now.whatsapp, 3)], [[over], [over], [over]]);
      const onlyAna = now.slack.filter(({ method }) => method === "chat.postEphemeral");
      assert.deepEqual(
        onlyAna.map(({ text }) => text.startsWith(over)),
        [true],
      );
      for (const one of [made, undone, contested]) assert.equal(updatesOf(town, one).length, 1);
      assert.equal((await statusOf(town, undone)).user_info.name, "Bo");
    });
  });
}
