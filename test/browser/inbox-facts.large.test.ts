import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Audience } from "../../src/requests/model/request.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { assertAccessible } from "./wcag.ts";

describe("the facts of a request", () => {
  const scene = sharedInbox();
  const ask = (audience: Audience, more: Partial<Parameters<typeof askPeople>[1]> = {}) =>
    askPeople(scene().world.server.ctx, { audience, ...callOf("pay", { amount: 1 }), ...more });

  it("name all who may answer, the reader first", async () => {
    const { world, browser, ana } = scene();
    const { ctx } = world.server;
    const admin = await nameSomebody(world, "Ada Admin", { seesAll: true });
    const others = await Promise.all(["Bo Lind", "Cy Moss", "Di Nolan", "Ed Orr"].map((name) => enrol(ctx, name)));
    const all = [...others, ana.id].map((id) => toPerson(id));
    const whole: Audience = { kind: "leaf", target: { via: "inbox" } };
    const joint: Audience = { kind: "quorum", min: 2, of: all };
    const any: Audience = { kind: "any", of: [...all, whole].map((node) => ({ afterMs: 0, node })) };

    const facts = async (of: typeof ana, audience: Audience) => {
      await using visitor = await of.visit(browser, { screen: "phone", ask: await ask(audience) });
      const { page } = visitor;
      const fact = page.locator("dl > div", { has: page.getByText("May answer") }).locator("dd");
      const shown = await fact.innerText();
      for (const more of await fact.locator("summary").all()) await more.tap();
      await assertAccessible(page, "facts");
      return { shown, whole: await fact.innerText() };
    };
    assert.equal((await facts(admin, whole)).shown, "You and everybody who sees the whole inbox");
    const several = await facts(ana, joint);
    assert.equal(several.shown, "2 of 5 must approve; one rejection rejects.\n\nYou, Bo Lind and 3 more");
    assert.match(several.whole, /Cy Moss, Di Nolan and Ed Orr/);
    const wide = await facts(ana, any);
    assert.equal(wide.shown, "You, Bo Lind and 4 more");
    assert.match(wide.whole, /Ed Orr and everybody who sees the whole inbox/);
    assert.equal((await facts(ana, toPerson(ana.id))).shown, "You");
  });

  it("say when it was asked, in words and exactly", async () => {
    const made = await ask(toPerson(scene().ana.id));
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    const times = page.locator("article header time:not(.time-left), article dl time");
    await times.nth(1).waitFor();
    const [short, exact] = await times.allInnerTexts();
    assert.equal(short, "now");
    assert.match(exact ?? "", /\d{4}, \d\d:\d\d/);
    assert.equal(await times.first().getAttribute("title"), exact);
  });

  it("show emphasis and code in the agent's words as such, and leave arguments as they are", async () => {
    const { world, ana } = scene();
    const form = { kind: "reply" as const, options: [] };
    const audience = toPerson(ana.id);
    const title = "Is *this* the **old** `main`?";
    const words = `${title}\n\nIt has <b>*.ts</b> and *few* tests.`;
    const made = await askPeople(world.server.ctx, { audience, title, words, digest: null, form });
    const call = await ask(audience, { words, ...callOf("say", { words: "*as it is*" }) });
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    const heading = page.getByRole("heading", { level: 1 });
    assert.equal(await heading.innerText(), "Is this the old main?");
    assert.deepEqual(await heading.locator("em, strong, code").allInnerTexts(), ["this", "old", "main"]);
    await page.getByText("It has <b>*.ts</b> and few tests.").waitFor();
    await assertAccessible(page, "emphasis");
    await page.goto(`/inbox/${call.id}`);
    await page.locator("blockquote em").first().waitFor();
    await page.getByText("*as it is*", { exact: true }).waitFor();
  });
});
