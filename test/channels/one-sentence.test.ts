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
    assert.equal(requestMessage(ask, 0, "sentence").body, SENTENCE);
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

const SAYS = 'version: 1\nsays: { pay_v2: "Pay {a} EUR to {b}" }\n';

for (const on of ONE_DATABASE) {
  describe(`the sentence in the inbox, on ${on}`, () => {
    it("is that of the row and of the confirmation, in the reader's language, or the operator's own", async () => {
      await using world = await openWorld({ on });
      writeFileSync(world.config.relay.policyFile, SAYS);
      await world.server.reload();
      const { code } = await createSignInLink(world.server.ctx, OPERATOR);
      const session = await world.call("POST", "/session", { body: { code } });
      const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const sentenceOf = async (fn: string, kwargs: object, language: string): Promise<string> => {
        const agent = { "x-agent-id": "support" };
        const body = callBody({ fn, kwargs, channel: { inbox: {} } });
        accepted(await world.call("POST", `${BASE}/function_calls`, { body, headers: agent }));
        const headers = { cookie, "sec-fetch-site": "same-origin", "accept-language": language };
        const page = await world.call("GET", "/people/me/asks", { headers });
        const row = (page.body as { asks: { id: string; fn: string; sentence: string }[] }).asks.find(
          (one) => one.fn === fn,
        );
        assert.ok(row, page.text);
        const whole = await world.call("GET", `/people/me/asks/${row.id}`, { headers });
        assert.equal((whole.body as { sentence: string }).sentence, row.sentence);
        return row.sentence;
      };
      const call = { skip_backup: true, table: "carts" };
      assert.equal(await sentenceOf("drop_table", call, "en-US,en;q=0.9"), "Drop table carts, no backup");
      assert.equal(await sentenceOf("drop_table", call, "de-AT,de;q=0.9"), "Drop table carts, ohne backup");
      assert.equal(await sentenceOf("drop_table", call, "ar"), "Drop table carts, بدون backup");
      assert.equal(await sentenceOf("drop_table", call, "xx"), "Drop table carts, no backup");
      assert.equal(await sentenceOf("pay_v2", { a: "5", b: "Bo" }, "en"), "Pay 5 EUR to Bo");
    });
  });
}
