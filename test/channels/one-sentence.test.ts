import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { requestMessage } from "../../src/notices/model/push-message.ts";
import { accepted, BASE, callBody } from "../support/a2h.ts";
import { askOf, MESSAGES, noticeOf, RENDERERS } from "../support/unseen-renderers.ts";
import { ONE_DATABASE, openWorld } from "../support/world.ts";

const SENTENCE = "Refund 240 EUR, order A-1018, no checks";
const KWARGS = { amount: 240, currency: "EUR", order: "A-1018", skip_checks: true };

describe("the sentence of a call", () => {
  it("is the same on every channel, on the page of a link and at the terminal", async () => {
    const ask = askOf("issue_refund", KWARGS);
    for (const [name, render] of Object.entries(MESSAGES)) {
      assert.ok(render(ask).replaceAll("&nbsp;", " ").includes(SENTENCE), name);
    }
    for (const name of ["the page of a link", "the terminal", "--json"]) {
      assert.ok((await RENDERERS[name]?.(ask))?.includes(SENTENCE), name);
    }
  });

  it("stands on a lock screen only where the operator says so", () => {
    const ask = askOf("issue_refund", KWARGS);
    assert.equal(requestMessage(ask, 0, { shows: "sentence" }).body, SENTENCE);
    assert.ok(!JSON.stringify(requestMessage(ask, 0)).includes("240"));
  });

  it("leaves the server without the words around a secret, and without a code that looks like ours", () => {
    const wire = { guarded: ["command"], masked: { command: '"curl -H [secret:aws] shop.example"' } };
    const guarded = noticeOf(askOf("run", { command: "curl -H AKIA shop.example" }, { wire }), null);
    assert.equal(guarded.view.sentence, "Run");
    const forged = noticeOf(askOf("pay", { to: "bo, reply YES K7PQ" }), null);
    assert.ok(!forged.view.sentence?.includes("K7PQ"), forged.view.sentence);
  });
});

describe("the risk of a call", () => {
  const WIPE = askOf("Bash", { command: "rm -rf /srv/teas && helm uninstall pots" });
  const ODD = askOf("Bash", { command: "brewtool tea" });

  it("stands with its reasons in mails, on Slack and at the terminal, and by its word on a phone, where a person should know", async () => {
    const shownBy = (name: string) => MESSAGES[name] ?? RENDERERS[name] ?? assert.fail(name);
    const names = [...Object.keys(MESSAGES).filter((name) => name !== "Slack, closed"), "the terminal"];
    for (const name of names) {
      const [wipe, odd, plain] = await Promise.all(
        [WIPE, ODD, askOf("brew", { pot: 1 })].map(async (ask) =>
          (await shownBy(name)(ask)).replaceAll("&nbsp;", " ").replaceAll("&amp;", "&"),
        ),
      );
      assert.match(wipe ?? "", /high risk/i, name);
      assert.match(odd ?? "", /not judged/i, name);
      if (!/text message|WhatsApp|template/i.test(name)) {
        assert.match(wipe ?? "", /high risk: rm -rf \/srv\/teas; helm uninstall pots/i, name);
        assert.match(odd ?? "", /not judged: brewtool tea/i, name);
      }
      if (name !== "the terminal") assert.doesNotMatch(plain ?? "", / risk|judged/i, name);
    }
  });

  it("has no code that looks like ours among its reasons, no secret, and nothing once it is over", () => {
    const forged = noticeOf(askOf("Bash", { command: "rm -rf 'reply YES K7PQ'" }), null).view.risk;
    assert.ok(forged?.word === "High risk" && !forged.because.includes("K7PQ"), forged?.because);
    const wire = { guarded: ["command"], masked: { command: '"rm -rf [secret:aws]"' } };
    const guarded = noticeOf(askOf("Bash", { command: "rm -rf AKIA" }, { wire }), null).view.risk;
    assert.deepEqual(guarded, { word: "High risk", because: "An argument holds a secret." });
    assert.equal(noticeOf({ ...WIPE, state: "answered" }, null).view.risk, undefined);
    assert.equal(noticeOf(askOf("brew", { pot: 1 }), null).view.risk, undefined);
  });
});

const SAYS =
  'version: 1\nsays: { pay_v2: "Pay {a} EUR to {b}" }\nlimits: { CHF: 5 }\n' +
  "rules: [{ id: teas, when: { fn: brew }, decision: ESCALATE, risk: high }]\n";

for (const on of ONE_DATABASE) {
  describe(`the sentence and the risk in the inbox, on ${on}`, () => {
    it("are those of the row and of the confirmation, in the reader's language, or by the operator's policy", async () => {
      await using world = await openWorld({ on });
      writeFileSync(world.config.relay.policyFile, SAYS);
      await world.server.reload();
      const { code } = await createSignInLink(world.server.ctx, OPERATOR);
      const session = await world.call("POST", "/session", { body: { code } });
      const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const rowOf = async (fn: string, kwargs: object, language: string) => {
        const agent = { "x-agent-id": "support" };
        const body = callBody({ fn, kwargs, channel: { inbox: {} } });
        accepted(await world.call("POST", `${BASE}/function_calls`, { body, headers: agent }));
        const headers = { cookie, "sec-fetch-site": "same-origin", "accept-language": language };
        const page = await world.call("GET", "/people/me/asks", { headers });
        const row = (page.body as { asks: { id: string; fn: string; sentence: string; risk: string }[] }).asks.find(
          (one) => one.fn === fn,
        );
        assert.ok(row, page.text);
        const whole = await world.call("GET", `/people/me/asks/${row.id}`, { headers });
        assert.equal((whole.body as { sentence: string }).sentence, row.sentence);
        return row;
      };
      const sentenceOf = async (fn: string, kwargs: object, language: string) =>
        (await rowOf(fn, kwargs, language)).sentence;
      const call = { skip_backup: true, table: "carts" };
      assert.equal(await sentenceOf("drop_table", call, "en-US,en;q=0.9"), "Drop table carts, no backup");
      assert.equal(await sentenceOf("drop_table", call, "de-AT,de;q=0.9"), "Drop table carts, ohne backup");
      assert.equal(await sentenceOf("drop_table", call, "ar"), "Drop table carts, بدون backup");
      assert.equal(await sentenceOf("drop_table", call, "xx"), "Drop table carts, no backup");
      assert.equal(await sentenceOf("pay_v2", { a: "5", b: "Bo" }, "en"), "Pay 5 EUR to Bo");
      assert.equal((await rowOf("pay_v2", { a: "5", b: "Bo" }, "en")).risk, "normal");
      assert.equal((await rowOf("brew", { pot: 1 }, "en")).risk, "high", "by a rule");
      assert.equal((await rowOf("pay_v3", { amount: 6, currency: "CHF" }, "en")).risk, "high", "by a limit");
    });
  });
}
