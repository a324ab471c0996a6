import assert from "node:assert/strict";
import { it } from "node:test";
import type { Request } from "../../src/requests/model/request.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { row } from "./visitor.ts";

const HOUR_S = 3600;
const MANY = 500;
const SOON = 60;

it("reaches the first and the last of five hundred that wait on a phone, and says how many there are", async () => {
  await using world = await openInboxWorld();
  const { ctx } = world.server;
  const ana = await nameSomebody(world, "Ana Ruiz");
  const audience = toPerson(ana.id);
  const made: Request[] = [];
  for (let i = 1; i <= MANY; i += 1) {
    const asker = `agent:bot-${i % 4}`;
    const times = { timeoutSeconds: (i <= SOON ? HOUR_S / 2 : 48 * HOUR_S) + i };
    const question = { title: `Question ${i}?`, digest: null, form: { kind: "reply" as const, options: [] } };
    const what = i % 100 === 0 ? question : callOf(`call_${i}`, {});
    made.push(await askPeople(ctx, { audience, asker, ...times, ...what }));
  }
  const responder = await responderOf(ctx.db, ana.id, "slack");
  const end = (i: number) =>
    decideRequest(ctx, { requestId: made[i - 1]?.id ?? "", responder, decision: { kind: "reject" } });

  const browser = await launchBrowser();
  try {
    await using visitor = await ana.visit(browser, { screen: "phone" });
    const { page } = visitor;
    const rows = page.locator("[data-row]");
    const more = page.getByRole("button", { name: "Show more" });
    await page.getByText(`Waiting (${MANY})`).waitFor();
    await page.getByRole("heading", { name: `Within an hour (${SOON})` }).waitFor();
    assert.match((await rows.first().textContent()) ?? "", /^Call 1\D/);
    assert.equal(await rows.count(), 50);

    // Some of what was read ends before the next page is.
    await Promise.all([end(1), end(50)]);
    await page.getByText(`Waiting (${MANY - 2})`).waitFor();
    for (let read = 50; read < MANY - 2;) {
      await more.tap();
      read = Math.min(read + 50, MANY - 2);
      await rows.nth(read - 1).waitFor();
    }
    await more.waitFor({ state: "hidden" });
    assert.equal(await rows.count(), MANY - 2);
    await page.getByRole("heading", { name: `Later (${MANY - SOON})` }).waitFor();
    await row(page, `Question ${MANY}?`).scrollIntoViewIfNeeded();
    await row(page, `Question ${MANY}?`).tap();
    await page.getByRole("heading", { level: 1, name: `Question ${MANY}?` }).waitFor();
    await page.goBack();

    const show = page.getByLabel("Show");
    await show.getByRole("option", { name: "Questions (5)" }).waitFor({ state: "attached" });
    await show.selectOption("kind:reply");
    await page.getByRole("heading", { name: "Later (5)" }).waitFor();
    const asked = (await rows.allTextContents()).map((text) => /^Question (\d+)\?/.exec(text)?.[1]);
    assert.deepEqual(asked, ["100", "200", "300", "400", "500"]);

    await show.getByRole("option", { name: `Within an hour (${SOON - 2})` }).waitFor({ state: "attached" });
    await show.selectOption("due:soon");
    await page.getByRole("heading", { name: `Within an hour (${SOON - 2})` }).waitFor();
    await more.tap();
    await rows.nth(SOON - 3).waitFor();
    assert.match((await rows.last().textContent()) ?? "", new RegExp(`^Call ${SOON}\\D`));
    assert.equal(await rows.count(), SOON - 2);

    await show.getByRole("option", { name: "bot-1 (124)" }).waitFor({ state: "attached" });
  } finally {
    await browser.close();
  }
});
