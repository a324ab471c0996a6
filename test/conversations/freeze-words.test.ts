import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { thaw } from "../../src/policy/freezes.ts";
import { listFreezes } from "../../src/policy/store/freezes.ts";
import { changeRole } from "../../src/access/change-role.ts";
import { sql } from "../../src/core/store/sql.ts";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { freezeWord } from "../../src/requests/model/freeze-word.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, enrol, postedOnSlack, toPerson } from "../support/addressed.ts";
import { fresh, sharedWorld } from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;

describe("the word that freezes", () => {
  it("is the whole text and nothing less, in any case, with a name or without", () => {
    for (const text of ["parley freeze", " Parley  FREEZE. ", "parley freeze all", "Parley freeze\n"])
      assert.deepEqual(freezeWord(text), { name: null }, text);
    assert.deepEqual(freezeWord("parley freeze Shop-Bot!"), { name: "Shop-Bot" });
    for (const text of ["freeze", "parley thaw", "please parley freeze", "parley freezer", "parley", ""])
      assert.equal(freezeWord(text), undefined, text);
  });
});

for (const on of DATABASES) {
  describe(`words that freeze, on ${on}`, () => {
    const world = sharedWorld({ on });
    const ctx = () => world().server.ctx;
    let ana = "";
    let boss = "";
    before(async () => {
      const channel = { channel: "slack", target: { to: "U0ANA", settings: {} } } as const;
      ana = await enrol(ctx(), "Ana Ruiz", [channel], {
        identities: [
          { kind: "slack", value: "U0ANA" },
          { kind: "email", value: "ana@people.example" },
          { kind: "phone", value: "+491701234567" },
        ],
      });
      boss = await enrol(ctx(), "Bea Boss", [], { identities: [{ kind: "slack", value: "U0BEA" }] });
      await changeRole(ctx(), { person: boss, role: "admin" }, ADMIN.actor);
    });

    const slack = (user: string, text: string, more: Partial<InboundMessage> = {}): InboundMessage => ({
      provider: "slack",
      id: fresh("event"),
      at: 1,
      match: { thread: "C1 1.1" },
      sender: { kind: "slack", id: user, team: "T", member: true, channel: "C1" },
      trust: "signed",
      content: { text },
      ...more,
    });
    const hear = (message: InboundMessage) => handleInbound(ctx(), "https://parley.example", message);
    const frozen = async () => {
      const all = await listFreezes(ctx().db);
      for (const { id } of all) await thaw(ctx(), id, ADMIN);
      return all.map(({ scope, subject, madeBy, via }) => [scope, subject, madeBy, via]);
    };

    it("stop an admin's everything, and another person's own agents, with a sentence that says what and where to thaw", async () => {
      const { kind, says } = await hear(slack("U0BEA", "Parley freeze"));
      assert.equal(kind, "frozen");
      assert.match(says, /^Frozen: everything\. .* It is thawed at https:\/\/parley\.example, not by a message\.$/);
      assert.deepEqual(await frozen(), [["all", "", boss, "slack"]]);
      assert.match((await hear(slack("U0ANA", "parley freeze all"))).says, /^Frozen: your agents\. /);
      assert.deepEqual(await frozen(), [["person", ana, ana, "slack"]]);
    });

    it("stop one agent by its name: one's own, or any for an admin", async () => {
      const [own, other] = [fresh("Own-Bot"), fresh("other-bot")];
      await createKey(ctx(), { name: own, scope: "agent", person: ana });
      await createKey(ctx(), { name: other, scope: "agent" });
      await hear(slack("U0ANA", `parley freeze ${own}`));
      assert.deepEqual(await frozen(), [["agent", `agent:${own}`, ana, "slack"]]);
      assert.match((await hear(slack("U0ANA", `parley freeze ${other}`))).says, /so nothing is frozen\.$/);
      for (const name of ["nobody", "agent:nobody"])
        assert.match((await hear(slack("U0BEA", `parley freeze ${name}`))).says, /^No agent here is called .*nobody/);
      assert.deepEqual(await frozen(), []);
      await hear(slack("U0BEA", `parley freeze agent:${own}`));
      assert.deepEqual(await frozen(), [["agent", `agent:${own}`, boss, "slack"]]);
      await hear(slack("U0BEA", `parley freeze ${other}`));
      assert.deepEqual(await frozen(), [["agent", `agent:${other}`, boss, "slack"]]);
    });

    it("come by mail that is signed, and by text message; heard again they freeze nothing anew", async () => {
      const mail = { provider: "email", sender: { kind: "email", id: "ana@people.example" } } as const;
      const weak = slack("", "parley freeze", { ...mail, trust: "weak" });
      assert.notEqual((await hear(weak)).kind, "frozen");
      assert.notEqual((await hear({ ...weak, id: fresh("mail"), trust: "none" })).kind, "frozen");
      const signed: InboundMessage = { ...weak, id: fresh("mail"), trust: "verified" };
      assert.equal((await hear(signed)).kind, "frozen");
      assert.deepEqual(await frozen(), [["person", ana, ana, "email"]]);
      assert.equal((await hear(signed)).kind, "repeated");
      const phone = { provider: "twilio", sender: { kind: "phone", id: "+491701234567" } } as const;
      assert.equal((await hear(slack("", "Parley freeze!", phone))).kind, "frozen");
      assert.deepEqual(await frozen(), [["person", ana, ana, "sms"]]);
    });

    it("are nobody's who is not enrolled, no guest's, and no app's but the operator's", async () => {
      const sender = { kind: "slack", id: "U0ANA", team: "T", member: true, channel: "C1" } as const;
      for (const message of [
        slack("U0EVE", "parley freeze"),
        slack("U0ANA", "parley freeze", { sender: { ...sender, member: false } }),
        slack("U0ANA", "parley freeze", { sender: { ...sender, app: "A0BOT" } }),
      ])
        assert.notEqual((await hear(message)).kind, "frozen");
      assert.deepEqual(await frozen(), []);
    });

    it("in reply to a request decide nothing", async () => {
      const { id } = await askPeople(ctx(), { audience: toPerson(ana), asker: `agent:${fresh("bot")}` });
      const [{ delivery }] = (await ctx().db.all(
        sql`SELECT delivery_id AS delivery FROM deliveries WHERE ask_id = ${id} AND kind = 'ask'`,
      )) as [{ delivery: string }];
      const ts = await postedOnSlack(ctx(), delivery);
      const reply = slack("U0ANA", "parley freeze", { match: ts });
      assert.equal((await hear(reply)).kind, "frozen");
      assert.equal((await frozen()).length, 1);
      const { state, refused } = await readRequest(ctx(), id);
      assert.deepEqual([state, refused], ["open", null]);
    });
  });
}
