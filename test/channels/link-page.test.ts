import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { readRequest, readDetails } from "../../src/requests/read/read-request.ts";
import { askPeople, enrol, leaf } from "../support/addressed.ts";
import { fresh, sharedWorld } from "../support/contract.ts";
import { ONE_DATABASE, type Reply, type World } from "../support/world.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded", origin: "null", "sec-fetch-site": "same-origin" };

/** An ask that went out by mail to somebody enrolled, with what stood in the message. */
async function mailed(world: World, more: Parameters<typeof askPeople>[1] = {}) {
  const { ctx } = world.server;
  const address = `${fresh("ana")}@example.com`;
  const person = await enrol(ctx, "Ana Ruiz", [], { identities: [{ kind: "email", value: address }] });
  const ask = await askPeople(ctx, {
    ref: fresh("call"),
    asker: `agent:${fresh("bot")}`,
    audience: leaf({ via: "email", to: address, informed: false, settings: {} }),
    ...more,
  });
  const [delivery] = (await readDetails(ctx, ask)).deliveries;
  const { link, code } = tokensOf(ctx, delivery?.id ?? assert.fail("no message was planned"));
  return { ask, person, code, path: `/r/${link}` };
}

const post = (world: World, path: string, given: Record<string, string>, headers: Record<string, string> = {}) =>
  world.call("POST", path, { body: new URLSearchParams(given).toString(), headers: { ...FORM, ...headers } });

const cookieIn = (reply: Reply) => (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const hidden = (reply: Reply, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(reply.text)?.[1] ?? "";

/** Opens the form as a person does who then takes a moment. */
async function open(world: World, path: string, headers: Record<string, string> = {}) {
  const reply = await post(world, `${path}/open`, {}, headers);
  assert.equal(reply.status, 200);
  await world.advance(1500);
  const given = { nonce: hidden(reply, "nonce"), digest: hidden(reply, "digest") };
  return { reply, cookie: cookieIn(reply), given };
}

for (const on of ONE_DATABASE) {
  describe(`a one-time link on ${on}`, () => {
    const world = sharedWorld({ on });
    const stateOf = async (id: string) => (await readRequest(world().server.ctx, id)).state;

    it("shows the whole call to whoever looks, and changes nothing", async () => {
      const { ask, path } = await mailed(world(), { words: "<b>Please</b> be quick" });
      const { status, text, headers } = await world().call("GET", `${path}?choice=approve&code=XXXX`);
      assert.equal(status, 200);
      assert.match(text, /issue_refund/);
      assert.match(text, /<dt>amount<\/dt>\s*<dd>\s*<pre[^>]*>49\.9<\/pre>/);
      assert.match(text, /&quot;A-1007&quot;/);
      assert.match(text, /In the words of .*nobody has checked it[\s\S]*&lt;b&gt;Please&lt;\/b&gt; be quick/);
      assert.doesNotMatch(text, /<script|<b>|\son[a-z]+=/i);
      assert.match(
        headers.get("content-security-policy") ?? "",
        /^default-src 'none'; style-src 'nonce-[\w-]{22}'; form-action 'self'; frame-ancestors 'none'/,
      );
      for (const [name, value] of [
        ["cache-control", "no-store"],
        ["referrer-policy", "no-referrer"],
        ["x-robots-tag", "noindex"],
        ["set-cookie", null],
      ] as const) {
        assert.equal(headers.get(name), value, name);
      }
      assert.equal((await world().call("HEAD", path)).status, 200);
      assert.equal(await stateOf(ask.id), "open");
    });

    it("begins with a sentence and why the call looks risky, and draws code and diffs in the agent's words as such", async () => {
      const form = {
        kind: "approval" as const,
        fn: "delete_database",
        kwargs: '{"name":"orders","skip_backup":true}',
        rejectOptions: [],
        editable: false,
      };
      const words = "I checked <it>:\n```sql\nSELECT 1;\n```\n~~~diff\n-old\n+new\n~~~\nDone.";
      const { ask, path } = await mailed(world(), { form, words });
      const { text } = await world().call("GET", path);
      assert.match(text, /<h1>Delete database orders, no backup<\/h1>/);
      assert.match(
        text,
        /High risk[\s\S]*Something is lost: Delete database[\s\S]*without a safeguard: without backup/,
      );
      assert.match(text, /<code class="fn">delete_database<\/code>/);
      assert.match(
        text,
        /<p dir="auto">I checked &lt;it&gt;:<\/p><pre class="block"[^>]*><code>SELECT 1;<\/code><\/pre>/,
      );
      assert.match(text, /<span data-sign="-">-old\n<\/span><span data-sign="\+">\+new\n<\/span>/);
      assert.doesNotMatch(text, /```|~~~|<it>/);
      assert.match(text, /counts as rejected/);

      const plain = await mailed(world());
      assert.match((await world().call("GET", plain.path)).text, /Normal risk<\/div>/);
      await world().advance(Math.max(0, ask.expiresAt - world().server.ctx.clock.now()) + 1);
      assert.doesNotMatch((await world().call("GET", path)).text, /(?:High|Normal) risk/, "nothing is left to decide");
    });

    it("approves a call that holds secrets only where each is ticked as seen, and rejects it without", async () => {
      const form = {
        kind: "approval" as const,
        fn: "push",
        kwargs: '{"login":"hunter2","repo":"shop","token":"hunter3"}',
        rejectOptions: [],
        editable: false,
      };
      const wire = { guarded: ["login", "token"], masked: { login: '"[secret:a]"', token: '"[secret:b]"' } };
      for (const choice of ["approve", "reject"]) {
        const { ask, code, path } = await mailed(world(), { form, wire });
        const { cookie, given, reply } = await open(world(), path);
        const boxes = [...reply.text.matchAll(/name="(seen:\d+)"/g)].map(([, name = ""]) => name);
        assert.equal(boxes.length, 2);
        const decide = (more: Record<string, string>) =>
          post(world(), `${path}/decide`, { ...given, choice, code, ...more }, { cookie });
        if (choice === "approve") {
          for (const ticked of [{}, { [boxes[0] ?? ""]: "yes" }]) {
            const refused = await decide(ticked);
            assert.equal(refused.status, 400);
            assert.match(refused.text, /Open each argument that holds a secret/);
            assert.equal(refused.text.match(/name="seen:\d+"[^>]*\schecked/g)?.length ?? 0, Object.keys(ticked).length);
            assert.equal(await stateOf(ask.id), "open");
          }
        }
        const ticked = choice === "approve" ? Object.fromEntries(boxes.map((name) => [name, "yes"])) : {};
        assert.equal((await decide(ticked)).status, 303);
        assert.equal(await stateOf(ask.id), "answered");
      }
    });

    it("decides with a choice and the code, once, as the person whose message it was", async () => {
      const { ask, code, path } = await mailed(world());
      const { cookie, given, reply } = await open(world(), path);
      assert.match(reply.headers.get("set-cookie") ?? "", /; Path=\/r\/; Max-Age=900; HttpOnly; SameSite=Strict$/);
      assert.doesNotMatch(reply.text, /\schecked\s*\/?>/);
      const said = { ...given, choice: "approve", comment: "Go on", code: code.toLowerCase() };
      const decided = await post(world(), `${path}/decide`, said, { cookie });
      assert.deepEqual([decided.status, decided.headers.get("location")], [303, path]);
      const { outcome } = await readRequest(world().server.ctx, ask.id);
      assert.deepEqual(
        [outcome?.approved, outcome?.comment, outcome?.by?.kind, outcome?.by?.via],
        [true, "Go on", "person", "email"],
      );

      for (const again of [await world().call("GET", path), await post(world(), `${path}/open`, {})]) {
        assert.match(again.text, /Approved by Ana Ruiz\./);
        assert.doesNotMatch(again.text, /<form/);
      }
      const second = await post(world(), `${path}/decide`, { ...said, choice: "reject" }, { cookie });
      assert.equal(second.status, 303);
      assert.equal((await readRequest(world().server.ctx, ask.id)).outcome?.approved, true);
      await world().advance(7 * 86_400_000 + 1);
      assert.equal((await world().call("GET", path)).status, 404);
    });

    it("decides nothing without cookie, nonce, a moment, a choice and the right code, and keeps the words", async () => {
      const { ask, code, path } = await mailed(world());
      const hasty = await post(world(), `${path}/open`, {});
      const early = { nonce: hidden(hasty, "nonce"), digest: hidden(hasty, "digest"), choice: "approve", code };
      const refuse = async (given: Record<string, string>, headers: Record<string, string>, status: number) => {
        const reply = await post(world(), `${path}/decide`, given, headers);
        assert.equal(reply.status, status, reply.text);
        assert.equal(await stateOf(ask.id), "open");
        return reply;
      };
      assert.match((await refuse(early, { cookie: cookieIn(hasty) }, 403)).text, /faster than anybody reads/);
      const { cookie, given } = await open(world(), path);
      const said = { ...given, choice: "approve", code, comment: "Said <already>" };
      await refuse(said, {}, 403);
      await refuse({ ...said, nonce: "x" }, { cookie }, 403);
      await refuse({ ...said, nonce: early.nonce }, { cookie }, 403);
      const none = await refuse({ ...given, code, comment: "Said <already>" }, { cookie }, 400);
      assert.match(none.text, /Said &lt;already&gt;/);
      assert.match((await refuse({ ...said, code: "" }, { cookie }, 403)).text, /code from the message/);
      await refuse({ ...said, digest: `sha256:${"0".repeat(64)}` }, { cookie }, 409);
      await refuse(said, { cookie, "sec-fetch-site": "cross-site" }, 403);
      await refuse(said, { cookie, origin: "https://evil.example" }, 403);
      await refuse(said, { cookie, "content-type": "text/plain" }, 415);
      await world().advance(15 * 60_000);
      assert.match((await refuse(said, { cookie }, 403)).text, /open for too long/);
    });

    it("is locked by five wrong codes", async () => {
      const { ask, code, path } = await mailed(world());
      const { cookie, given } = await open(world(), path);
      const wrong = code === "2222" ? "3333" : "2222";
      for (let i = 0; i < 5; i += 1) {
        await post(world(), `${path}/decide`, { ...given, choice: "reject", code: wrong }, { cookie });
      }
      const right = await post(world(), `${path}/decide`, { ...given, choice: "reject", code }, { cookie });
      assert.equal(right.status, 403);
      assert.match((await world().call("GET", path)).text, /decides nothing any more/);
      assert.equal(await stateOf(ask.id), "open");
    });

    it("needs no code from the addressee who is signed in", async () => {
      const { ask, person, path } = await mailed(world());
      const { code } = await createSignInLink(world().server.ctx, person);
      const session = cookieIn(await world().call("POST", "/session", { body: { code } }));
      const { cookie, given } = await open(world(), path, { cookie: session });
      const said = { ...given, choice: "reject" };
      const decided = await post(world(), `${path}/decide`, said, { cookie: `${session}; ${cookie}` });
      assert.equal(decided.status, 303);
      assert.equal(await stateOf(ask.id), "answered");
    });

    it("takes answers in words and choices, and says where a value does not fit", async () => {
      const options = [{ name: "blue", title: "Blue", promptFill: "Blue it is.", interactive: false }];
      const question = await mailed(world(), { digest: null, form: { kind: "reply", options } });
      const one = await open(world(), question.path);
      assert.match(one.reply.text, /name="code"/);
      assert.equal((await post(world(), `${question.path}/decide`, one.given, { cookie: one.cookie })).status, 400);
      const chosen = { ...one.given, choice: "option:0" };
      const without = await post(world(), `${question.path}/decide`, chosen, { cookie: one.cookie });
      assert.match(without.text, /code/);
      assert.equal(await stateOf(question.ask.id), "open");
      const given = { ...chosen, code: question.code };
      await post(world(), `${question.path}/decide`, given, { cookie: one.cookie });
      const { outcome } = await readRequest(world().server.ctx, question.ask.id);
      assert.deepEqual([outcome?.option, outcome?.text], ["blue", "Blue it is."]);

      const properties = { n: { type: "integer" }, more: { type: "array" } };
      const schema = { type: "object", required: ["n"], properties };
      const form = await mailed(world(), { digest: null, form: { kind: "value", schema } });
      const two = await open(world(), form.path);
      const write = (text: string) =>
        post(world(), `${form.path}/decide`, { ...two.given, text, code: form.code }, { cookie: two.cookie });
      const misfit = await write('{"n":"many"}');
      assert.equal(misfit.status, 400);
      assert.match(misfit.text, /\/n .*integer/);
      assert.match(misfit.text, /&quot;many&quot;/);
      assert.equal((await write('{"n":7}')).status, 303);
      assert.equal((await readRequest(world().server.ctx, form.ask.id)).outcome?.value, '{"n":7}');
    });

    it("leads nowhere when it is made up, and says so on a page", async () => {
      for (const path of ["/r/x", `/r/${"a".repeat(43)}`, "/r/%3Cscript%3E"]) {
        const reply = await world().call("GET", path);
        assert.deepEqual([reply.status, reply.headers.get("content-type")], [404, "text/html; charset=utf-8"]);
        assert.match(reply.text, /This link does not work/);
        assert.doesNotMatch(reply.text, /script/);
      }
    });
  });
}
