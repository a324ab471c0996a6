import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact, sha256Digest } from "../../../src/lib/json/exact-json.ts";
import type { Audience } from "../../../src/requests/model/request.ts";
import { consentText } from "../../../src/requests/model/consent.ts";
import { findRequest } from "../../../src/requests/store/requests.ts";
import { changeRole } from "../../../src/access/change-role.ts";
import { createKey } from "../../../src/access/create-key.ts";
import { createSignInLink } from "../../../src/access/create-sign-in-link.ts";
import { createRequest } from "../../../src/requests/create/create-request.ts";
import { askPeople, newCallRequest, enrol, leaf, toPerson, until } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { saidOf, type Shown } from "../../support/identities.ts";
import { ONE_DATABASE, type World } from "../../support/world.ts";

/** Somebody enrolled who is signed in. */
async function named(world: World, name: string, more: Parameters<typeof enrol>[3] = {}) {
  const { ctx } = world.server;
  const id = await enrol(ctx, name, [], more);
  const { code } = await createSignInLink(ctx, id);
  const reply = await world.call("POST", "/session", { body: { code } });
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { id, name, shown: { cookie, "sec-fetch-site": "same-origin" } as Shown };
}

const inbox = (world: World, headers: Shown, query = "") => world.call("GET", `/people/me/asks${query}`, { headers });
const one = (world: World, headers: Shown, id: string) => world.call("GET", `/people/me/asks/${id}`, { headers });
const decide = (world: World, headers: Shown, id: string, body: unknown) =>
  world.call("POST", `/people/me/asks/${id}/decision`, { headers, body });
const idsIn = (body: { asks: { id: string }[] }) => body.asks.map(({ id }) => id);

for (const on of ONE_DATABASE) {
  describe(`the inbox on ${on}`, () => {
    const world = sharedWorld({ on });
    const ask = (more: Parameters<typeof askPeople>[1] = {}) =>
      askPeople(world().server.ctx, { ref: fresh("call"), asker: `agent:${fresh("bot")}`, ...more });

    it("lists what waits for a person, soonest deadline first, and nothing of anybody else's", async () => {
      const [ana, bo] = [await named(world(), "Ana Ruiz"), await named(world(), "Bo Lind")];
      const later = await ask({ audience: toPerson(ana.id), timeoutSeconds: 7200 });
      const sooner = await ask({ audience: toPerson(ana.id), timeoutSeconds: 600 });
      const others = await ask({ audience: toPerson(bo.id) });
      const { status, body } = await inbox(world(), ana.shown);
      assert.deepEqual([status, idsIn(body), body.next], [200, [sooner.id, later.id], null]);
      assert.deepEqual(idsIn((await inbox(world(), ana.shown, "?state=over")).body), []);
      assert.deepEqual(saidOf(await one(world(), ana.shown, others.id)), { status: 404, code: "NOT_FOUND" });
      assert.deepEqual(saidOf(await decide(world(), ana.shown, others.id, { approved: false })), {
        status: 404,
        code: "NOT_FOUND",
      });
    });

    it("lets admins allow for good what policy put to people, and nobody anything else", async () => {
      const { ctx } = world().server;
      const [ana, bo] = [await named(world(), "Ana Ruiz"), await named(world(), "Bo Lind")];
      await changeRole(ctx, { person: ana.id, role: "admin" }, { kind: "server", id: "test" });
      const audience: Audience = { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      const plain = await ask({ audience });
      const standing = await ask({ audience, wire: { standing: true } });
      const mayStand = async (who: typeof ana, of: typeof plain) =>
        (await one(world(), who.shown, of.id)).body.may_stand as boolean;
      assert.deepEqual(
        [await mayStand(ana, standing), await mayStand(bo, standing), await mayStand(ana, plain)],
        [true, false, false],
      );

      const approval = { approved: true, digest: standing.digest, standing: true };
      for (const [who, of] of [
        [bo, standing],
        [ana, plain],
      ] as const) {
        const refused = await decide(world(), who.shown, of.id, { ...approval, digest: of.digest });
        assert.deepEqual(saidOf(refused), { status: 409, code: "NOT_GRANTABLE" });
      }
      assert.equal((await decide(world(), ana.shown, standing.id, approval)).status, 200);
      assert.equal((await findRequest(ctx.db, standing.id))?.request.outcome?.standing, true);
      assert.equal((await decide(world(), bo.shown, plain.id, { approved: true, digest: plain.digest })).status, 200);
      assert.equal((await findRequest(ctx.db, plain.id))?.request.outcome?.standing, undefined);
    });

    it("shows a call with every argument as it is hashed, and who else may answer without an address", async () => {
      const ana = await named(world(), "Ana Ruiz", {
        identities: [{ kind: "email", value: `${fresh("ana")}@example.com` }],
      });
      const text = '{"amount":49.9,"note":"one\\ntwo","to":"a\u202eb","user":1152921504606846977}';
      const secret = `${fresh("somebody")}@example.com`;
      const made = await ask({
        form: { kind: "approval", fn: "pay", kwargs: text, rejectOptions: [], editable: false },
        digest: sha256Digest(consentText("pay", text)),
        audience: {
          kind: "any",
          of: [
            { afterMs: 0, node: toPerson(ana.id) },
            { afterMs: 60_000, node: leaf({ via: "email", to: secret, informed: false, settings: {} }) },
          ],
        },
        wire: { run_id: "run_7", state: { hidden: "never shown" } },
      });
      const { status, body, text: raw } = await one(world(), ana.shown, made.id);
      assert.equal(status, 200);
      assert.deepEqual(body.arguments, [
        {
          name: "to",
          text: '"a\\u202eb"',
          typed: { kind: "text", is: "text", lines: ["a\\u202eb"] },
          secret: false,
          masked: null,
        },
        { name: "user", text: "1152921504606846977", typed: null, secret: false, masked: null },
        { name: "amount", text: "49.9", typed: null, secret: false, masked: null },
        {
          name: "note",
          text: '"one\\n\ntwo"',
          typed: { kind: "text", is: "text", lines: ["one", "two"] },
          secret: false,
          masked: null,
        },
      ]);
      assert.deepEqual([body.fn, body.run, body.digest, body.may_decide], ["pay", "run_7", made.digest, true]);
      assert.deepEqual(
        body.may_answer.map(({ name, channel, me, from }: Record<string, unknown>) => [
          name,
          channel,
          me,
          from !== null,
        ]),
        [
          ["Ana Ruiz", "inbox", true, false],
          [null, "email", false, true],
        ],
      );
      assert.equal(body.deliveries[0].channel, "email");
      assert.doesNotMatch(raw, /@example\.com|never shown/);
    });

    it("names the group of whoever is asked, and says where several people have one place", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const targets = [
        { via: "person" as const, person: ana.id, group: "finance" },
        { via: "inbox" as const },
        { via: "slack" as const, to: "C024BE91L", settings: {} },
        { via: "slack" as const, to: "U2147483697", settings: {} },
      ];
      const of = targets.map((target) => ({ afterMs: 0, node: leaf(target) }));
      const made = await ask({ audience: { kind: "any", of } });
      const { body } = await one(world(), ana.shown, made.id);
      assert.deepEqual(
        body.may_answer.map(({ name, group, many }: Record<string, unknown>) => [name, group, many]),
        [
          ["Ana Ruiz", "finance", false],
          [null, null, true],
          [null, null, true],
          [null, null, false],
        ],
      );
    });

    it("shows a call with edited arguments before it is approved, and as it ran, where it may be edited", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const form = { kind: "approval" as const, fn: "refund", kwargs: '{"amount":5,"to":"Bo"}', rejectOptions: [] };
      const audience = toPerson(ana.id);
      const open = await ask({ audience, form: { ...form, editable: true } });
      const closed = await ask({ audience, form: { ...form, editable: false } });
      const show = (id: string, body: unknown) =>
        world().call("POST", `/people/me/asks/${id}/edited`, { headers: ana.shown, body });
      const kwargs = '{"amount":9007199254740993,"to":"Cy"}';
      const { status, body } = await show(open.id, { kwargs });
      assert.deepEqual(
        [status, body.sentence, body.arguments.map(({ text }: { text: string }) => text)],
        [200, "Refund amount 9007199254740993 to Cy", ['"Cy"', "9007199254740993"]],
      );
      assert.equal((await show(open.id, { kwargs: "[]" })).status, 400);
      assert.equal((await show(open.id, {})).status, 400);
      assert.equal((await show(closed.id, { kwargs })).status, 400);
      const yes = { approved: true, kwargs, digest: open.digest };
      const decided = await decide(world(), ana.shown, open.id, yes);
      assert.deepEqual(
        [decided.body.outcome.sentence, decided.body.outcome.arguments],
        [body.sentence, body.arguments],
      );
    });

    it("takes an approval once, for what was shown, and says who decided", async () => {
      const [ana, bo] = [await named(world(), "Ana Ruiz"), await named(world(), "Bo Lind")];
      const both = { kind: "any" as const, of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      const made = await ask({ audience: both });
      const refused = await decide(world(), ana.shown, made.id, { approved: true });
      assert.deepEqual(refused.body.error.details, { field: "digest", constraint: "required" });
      const stale = { approved: true, digest: `sha256:${"0".repeat(64)}` };
      assert.deepEqual(saidOf(await decide(world(), ana.shown, made.id, stale)), {
        status: 409,
        code: "DIGEST_MISMATCH",
      });

      const yes = { approved: true, comment: "Fine by me", digest: made.digest };
      const { status, body } = await decide(world(), ana.shown, made.id, yes);
      assert.deepEqual([status, body.state, body.may_decide], [200, "answered", false]);
      assert.deepEqual(body.outcome, {
        status: "answered",
        approved: true,
        option: null,
        comment: "Fine by me",
        text: null,
        value: null,
        edited: false,
        arguments: null,
        sentence: null,
        digest: made.digest,
        approved_calls: null,
        by: { kind: "person", name: "Ana Ruiz", via: "web" },
      });
      assert.equal((await decide(world(), ana.shown, made.id, yes)).status, 200, "the same again is the same");
      const late = await decide(world(), bo.shown, made.id, { approved: false });
      assert.deepEqual(saidOf(late), { status: 409, code: "ALREADY_DECIDED" });
      const { body: seen } = await inbox(world(), bo.shown, "?state=over");
      assert.deepEqual([idsIn(seen), seen.asks[0].outcome.by.name], [[made.id], "Ana Ruiz"]);
    });

    it("rejects with a ready-made way, whose words are the comment where there is none", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const rejectOptions = [{ name: "much", title: "Too much", promptFill: "Half would do.", interactive: false }];
      const { form } = newCallRequest();
      const made = await ask({
        audience: toPerson(ana.id),
        form: { ...form, rejectOptions } as typeof form,
      });
      assert.deepEqual((await one(world(), ana.shown, made.id)).body.options, [
        { name: "much", title: "Too much", description: null, prompt_fill: "Half would do.", interactive: false },
      ]);
      const both = { approved: true, option: "much", digest: made.digest };
      assert.equal((await decide(world(), ana.shown, made.id, both)).body.error.details.field, "option");
      const unknown = await decide(world(), ana.shown, made.id, { approved: false, option: "little" });
      assert.deepEqual(saidOf(unknown), { status: 400, code: "VALIDATION_ERROR" });
      const { body } = await decide(world(), ana.shown, made.id, { approved: false, option: "much" });
      assert.deepEqual(
        [body.outcome.approved, body.outcome.option, body.outcome.comment],
        [false, "Too much", "Half would do."],
      );
    });

    it("counts those who agree until there are enough", async () => {
      const [ana, bo] = [await named(world(), "Ana Ruiz"), await named(world(), "Bo Lind")];
      const made = await ask({ audience: { kind: "all", of: [ana, bo].map(({ id }) => toPerson(id)) } });
      const yes = { approved: true, digest: made.digest };
      const { body: half } = await decide(world(), ana.shown, made.id, yes);
      assert.deepEqual([half.state, half.needs], ["open", { rule: "all", of: 2, least: 2 }]);
      const { body: seen } = await one(world(), bo.shown, made.id);
      assert.deepEqual(
        seen.decisions.map(({ by, mine, approved }: Record<string, { name: string }>) => [by?.name, mine, approved]),
        [["Ana Ruiz", false, true]],
      );
      const { body: whole } = await decide(world(), bo.shown, made.id, yes);
      assert.deepEqual([whole.state, whole.outcome.approved], ["answered", true]);
    });

    it("runs edited arguments with every digit of their integers, where the agent allows it", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const text = canonicalExact({ amount: 5, to: "a\u202eb\u{e0041}" });
      const editable = { kind: "approval" as const, fn: "pay", kwargs: text, rejectOptions: [], editable: true };
      const digest = sha256Digest(consentText("pay", text));
      const made = await ask({ audience: toPerson(ana.id), form: editable, digest });
      const shown = await one(world(), ana.shown, made.id);
      assert.equal(shown.body.editable, true);
      assert.equal(shown.body.kwargs, '{\n  "amount": 5,\n  "to": "a\\u202eb\\udb40\\udc41"\n}');
      assert.equal(canonicalExact(JSON.parse(shown.body.kwargs)), text, "nothing hides, and nothing is changed");
      const edit = (kwargs: unknown) => decide(world(), ana.shown, made.id, { approved: true, digest, kwargs });
      assert.equal((await edit("[]")).body.error.details.field, "kwargs");
      assert.equal((await edit("{")).status, 400);
      const { body } = await edit('{"user": 1152921504606846977, "amount": null}');
      assert.equal(body.outcome.edited, true);
      assert.deepEqual(body.outcome.arguments, [
        { name: "user", text: "1152921504606846977", typed: null, secret: false, masked: null },
        { name: "amount", text: "null", typed: null, secret: false, masked: null },
      ]);
      const fixed = await ask({ audience: toPerson(ana.id) });
      const refused = await decide(world(), ana.shown, fixed.id, { approved: true, digest: fixed.digest, kwargs: {} });
      assert.deepEqual(saidOf(refused), { status: 400, code: "VALIDATION_ERROR" });
    });

    it("takes words, choices and values, and says where a value does not fit", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const audience = toPerson(ana.id);
      const options = [{ name: "blue", title: "Blue", interactive: false }];
      const question = await ask({ audience, digest: null, form: { kind: "reply", options } });
      assert.equal((await decide(world(), ana.shown, question.id, {})).body.error.details.field, "text");
      const chosen = await decide(world(), ana.shown, question.id, { option: "blue" });
      assert.deepEqual([chosen.status, chosen.body.outcome.option], [200, "Blue"]);

      const schema = { type: "object", required: ["n"], properties: { n: { type: "integer", maximum: 9 }, why: {} } };
      const form = await ask({ audience, digest: null, form: { kind: "value", schema } });
      const misfit = await decide(world(), ana.shown, form.id, { value: { n: 10 } });
      assert.deepEqual([misfit.status, misfit.body.error.details.errors[0].path], [400, "/n"]);
      const huge = await decide(world(), ana.shown, form.id, '{"value":{"n":1,"why":9007199254740993}}');
      assert.equal(huge.body.error.details.field, "value");
      const fits = await decide(world(), ana.shown, form.id, { value: { n: 9, why: null } });
      assert.deepEqual([fits.status, JSON.parse(fits.body.outcome.value)], [200, { n: 9, why: null }]);

      const words = await ask({ audience, digest: null, form: { kind: "value", schema: null } });
      assert.equal((await decide(world(), ana.shown, words.id, { text: "  " })).status, 400);
      assert.equal((await decide(world(), ana.shown, words.id, { text: "Tuesday" })).body.outcome.text, "Tuesday");
    });

    it("is read and decided under a session from our own page, or with a person's key, and by nobody else", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const made = await ask({ audience: toPerson(ana.id) });
      const { ctx } = world().server;
      const { text: key } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: ana.id });
      const { text: service } = await createKey(ctx, { name: fresh("kiosk"), scope: "answer" });
      const { text: agent } = await createKey(ctx, { name: fresh("bot"), scope: "agent" });
      const strangers: Shown[] = [{}, ...[service, agent, "x"].map((text) => ({ authorization: `Bearer ${text}` }))];
      for (const shown of strangers) {
        for (const reply of [
          await inbox(world(), shown),
          await one(world(), shown, made.id),
          await world().call("GET", "/people/me/events", { headers: shown }),
          await decide(world(), shown, made.id, { approved: false }),
        ]) {
          assert.deepEqual(saidOf(reply), { status: 401, code: "UNAUTHORIZED" });
        }
      }
      const { cookie = "" } = ana.shown;
      for (const shown of [{ cookie }, { cookie, "sec-fetch-site": "cross-site" }] as Shown[]) {
        const refused = await decide(world(), shown, made.id, { approved: false });
        assert.deepEqual(saidOf(refused), { status: 403, code: "ORIGIN_REFUSED" });
      }
      const byKey = { authorization: `Bearer ${key}` };
      assert.deepEqual(idsIn((await inbox(world(), byKey)).body), [made.id]);
      const { body } = await decide(world(), byKey, made.id, { approved: false });
      assert.equal(body.outcome.by.via, "api");
    });

    it("pages through what is over, newest first, and refuses what is no page's next", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const made: string[] = [];
      for (let i = 0; i < 53; i += 1) {
        const { id } = await ask({ audience: toPerson(ana.id) });
        await decide(world(), ana.shown, id, { approved: false });
        made.push(id);
        if (i % 20 === 0) await world().advance(1000);
      }
      const first = await inbox(world(), ana.shown, "?state=over");
      assert.equal(first.body.asks.length, 50);
      const second = await inbox(world(), ana.shown, `?state=over&before=${first.body.next}`);
      assert.deepEqual([...idsIn(first.body), ...idsIn(second.body)].sort(), made.sort());
      assert.equal(second.body.next, null);
      assert.equal((await inbox(world(), ana.shown, "?before=yesterday")).body.error.details.field, "before");
      assert.equal((await inbox(world(), ana.shown, "?state=lost")).status, 400);
    });

    it("shows an ask as over from its deadline on", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const made = await ask({ audience: toPerson(ana.id), timeoutSeconds: 60 });
      await world().advance(60_000);
      assert.deepEqual(idsIn((await inbox(world(), ana.shown)).body), []);
      const { body } = await one(world(), ana.shown, made.id);
      assert.deepEqual([body.state, body.outcome.status, body.outcome.approved], ["expired", "expired", false]);
      const late = await decide(world(), ana.shown, made.id, { approved: true, digest: made.digest });
      assert.deepEqual(saidOf(late), { status: 409, code: "EXPIRED" });
    });

    it("says by its stream what changed", async () => {
      const ana = await named(world(), "Ana Ruiz");
      const stop = new AbortController();
      const stream = await fetch(`${world().url}/people/me/events`, { headers: ana.shown, signal: stop.signal });
      assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
      let heard = "";
      const listening = (async () => {
        const words = (stream.body ?? assert.fail("no body")).pipeThrough(new TextDecoderStream());
        for await (const some of words) heard += some;
      })();
      const hear = (words: string) =>
        until(async () => {
          // The stream gathers changes for a moment of the held clock.
          await world().advance(200);
          return heard.includes(words);
        });
      await hear("event: changed\ndata: {}");
      const input = newCallRequest({ audience: toPerson(ana.id), ref: fresh("call"), asker: `agent:${fresh("bot")}` });
      const { request: made } = await createRequest(world().server.ctx, input);
      await hear(made.id);
      heard = "";
      await decide(world(), ana.shown, made.id, { approved: false });
      await hear(made.id);
      stop.abort();
      await assert.rejects(listening);
    });
  });
}
