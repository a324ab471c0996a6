import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { fresh, sharedWorld } from "../support/contract.ts";
import { OPERATOR } from "../support/identities.ts";
import type { Receipt } from "../../src/lib/receipt.ts";
import { ONE_DATABASE } from "../support/world.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const saidIn = (jws: string) => JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString()) as Receipt;

for (const on of ONE_DATABASE) {
  describe(`the page of a receipt on ${on}`, () => {
    const world = sharedWorld({ on });
    const ask = (more: Parameters<typeof askPeople>[1]) =>
      askPeople(world().server.ctx, { asker: "open:ana-bot", ref: `call:${fresh("c")}`, ...more });
    async function decide(id: string, person: string, decision: Parameters<typeof decideRequest>[1]["decision"]) {
      const { ctx } = world().server;
      await decideRequest(ctx, { requestId: id, responder: await responderOf(ctx.db, person, "web"), decision });
    }
    const read = (id: string, headers: Record<string, string> = {}) =>
      world().call("GET", `/receipts/${id}`, { headers: { "x-agent-id": "ana-bot", accept: BROWSER, ...headers } });

    it("says who decided what, when, over what exactly, and how to verify it", async () => {
      const ana = await enrol(world().server.ctx, "Ana <Ruiz>");
      const { id, digest } = await ask({ audience: toPerson(ana), kwargs: { order: "A-<b>1007", amount: 49.9 } });
      await decide(id, ana, { kind: "approve", comment: "Torn, <i>indeed</i>\u202e" });
      const { status, text, headers } = await read(id);
      assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
      assert.match(text, /Approved by Ana &lt;Ruiz&gt;\./);
      assert.match(
        text,
        /<h1>Refund amount 49\.9, order A-&lt;b&gt;1007<\/h1>\s*<p>It runs <code class="fn">issue_refund<\/code>/,
      );
      assert.match(text, /<dt>order<\/dt>\s*<dd>\s*<pre[^>]*>&quot;A-&lt;b&gt;1007&quot;<\/pre>/);
      assert.match(text, /<dt>amount<\/dt>\s*<dd>\s*<pre[^>]*>49\.9<\/pre>/);
      assert.match(text, /<dt>When<\/dt>\s*<dd><time datetime="20\d\d-[^"]+Z">20\d\d-[\d :-]+ UTC<\/time><\/dd>/);
      assert.match(text, /<blockquote dir="auto">Torn, &lt;i&gt;indeed&lt;\/i&gt;\\u202e<\/blockquote>/);
      assert.ok(text.includes(digest ?? "no digest"));
      const { text: jws } = await read(id, { accept: "application/jose" });
      assert.ok(text.includes(jws), "the receipt itself stands there");
      assert.ok(text.includes(`parley verify ${saidIn(jws).iss}/receipts/${id} --fn issue_refund`));
    });

    it("runs nothing, loads nothing, is kept by nobody, and is dark for whoever wants it dark", async () => {
      const ana = await enrol(world().server.ctx, "Ana Ruiz");
      const { id } = await ask({ audience: toPerson(ana) });
      await decide(id, ana, { kind: "approve" });
      const { text, headers } = await read(id);
      assert.doesNotMatch(text, /<script|<link|<img|\son[a-z]+=|url\(/i);
      assert.match(text, /color-scheme: light dark/);
      const policy = /^default-src 'none'; style-src 'nonce-([\w-]{22})'; .*frame-ancestors 'none'/;
      const [, nonce = "none"] = policy.exec(headers.get("content-security-policy") ?? "") ?? [];
      assert.ok(text.includes(`<style nonce="${nonce}">`));
      const said = ["cache-control", "referrer-policy", "x-content-type-options", "vary"].map((name) =>
        headers.get(name),
      );
      assert.deepEqual(said, ["no-store", "no-referrer", "nosniff", "Accept"]);
    });

    it("is for whoever asks for HTML alone", async () => {
      const ana = await enrol(world().server.ctx, "Ana Ruiz");
      const { id } = await ask({ audience: toPerson(ana) });
      await decide(id, ana, { kind: "reject", comment: "No" });
      for (const accept of ["*/*", "application/jose", "application/jose, text/html;q=0.5", "application/json"]) {
        const { text, headers } = await read(id, { accept });
        assert.deepEqual([headers.get("content-type"), headers.get("vary")], ["application/jose", "Accept"], accept);
        assert.match(text, /^[\w-]+\.[\w-]+\.[\w-]+$/);
      }
      assert.match((await read(id)).text, /Rejected by Ana Ruiz\.[\s\S]*<dd>Rejected<\/dd>/);
    });

    it("shows what was approved where the person had changed it, and what was answered", async () => {
      const ana = await enrol(world().server.ctx, "Ana Ruiz");
      const form = { kind: "approval", fn: "issue_refund", kwargs: '{"amount":49.9}', rejectOptions: [] } as const;
      const changed = await ask({ audience: toPerson(ana), form: { ...form, editable: true } });
      await decide(changed.id, ana, { kind: "approve", kwargs: '{"amount":12}' });
      const page = (await read(changed.id)).text;
      assert.match(page, /Approved with these arguments instead[\s\S]*<dt>amount<\/dt>\s*<dd>\s*<pre[^>]*>12<\/pre>/);
      const said = saidIn((await read(changed.id, { accept: "application/jose" })).text);
      assert.ok(
        page.includes(`<dt>Digest</dt>`) && page.includes(said.consent_digest ?? "no digest"),
        "of what was approved",
      );

      const asked = await ask({ audience: toPerson(ana), form: { kind: "reply", options: [] }, words: "Which name?" });
      await decide(asked.id, ana, { kind: "reply", text: "The <Ledger>" });
      assert.match(
        (await read(asked.id)).text,
        /Answered by Ana Ruiz[\s\S]*The answer<\/h2>\s*<blockquote[^>]*>The &lt;/,
      );
    });

    it("is shown to those concerned only, and says in a page why not to others", async () => {
      const { ctx } = world().server;
      const ana = await enrol(ctx, "Ana Ruiz");
      const { id } = await ask({ audience: toPerson(ana), kwargs: { order: "A-1007" } });
      const open = await read(id);
      assert.deepEqual([open.status, open.headers.get("content-type")], [404, "text/html; charset=utf-8"]);
      await decide(id, ana, { kind: "approve" });
      const stranger = await read(id, { "x-agent-id": "mallory-bot" });
      assert.equal(stranger.status, 404);
      assert.match(stranger.text, /to who asked, to the person who decided, and to an admin/);
      assert.doesNotMatch(stranger.text, /A-1007|Ana Ruiz/);
      const bad = await read(id, { authorization: "Bearer parley_agent_nonsense" });
      assert.deepEqual([bad.status, /<h1>/.test(bad.text)], [401, true]);
      const { text: key } = await createKey(ctx, { name: fresh("boss"), scope: "admin" });
      assert.equal((await read(id, { authorization: `Bearer ${key}` })).status, 200);
      const { text: other } = await createKey(ctx, { name: fresh("other"), scope: "answer", person: OPERATOR });
      assert.equal((await read(id, { authorization: `Bearer ${other}` })).status, 404);
    });
  });
}
