import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { OPERATOR } from "../support/identities.ts";
import type { World } from "../support/world.ts";
import { callOf, endOn, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { askPlan } from "./plan-asks.ts";
import { pressUntil, row, SCREENS, type Screen, visit } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const inDialog = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
const banner = (page: Page) => page.locator("[data-freezes]").last();
const refusal = (page: Page) => page.getByRole("alert").filter({ hasText: /operator has frozen .* since/ });

const ask = ({ server: { ctx } }: World, who: string, order: string, asker = "agent:shop-bot") =>
  askPeople(ctx, { asker, audience: toPerson(who), ...callOf("refund", { order }), timeoutSeconds: 86_400 });

/** Opens a page as the operator, who is an admin. */
async function admin(browser: Browser, world: World, screen: Screen, path: string) {
  const { code } = await createSignInLink(world.server.ctx, OPERATOR);
  const visitor = await visit(browser, world.url, { screen, path: `/inbox#start=${code}` });
  await visitor.page.getByText("Signed in as operator").waitFor();
  await visitor.page.goto(path);
  return visitor;
}

async function approveWith(page: Page, comment: string): Promise<void> {
  await button(page, "Approve").click();
  await page.getByLabel("Comment (optional)").fill(comment);
  await inDialog(page, "Approve").click();
}

async function thaw(page: Page): Promise<void> {
  await banner(page).getByRole("button", { name: "Thaw" }).click();
  await inDialog(page, "Thaw").click();
  await banner(page).waitFor({ state: "detached" });
}

describe("a freeze in the web app", () => {
  const scene = sharedInbox({ PARLEY_INBOX_UNDO_SECONDS: "0" });

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`of the agent of a card is made there, refuses its approval with who froze, and is thawed there, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const one: Request = await ask(world, OPERATOR, `F-${screen}`);
      await using visitor = await admin(browser, world, screen, `/inbox/${one.id}`);
      const { page } = visitor;
      await button(page, "Freeze this agent").waitFor();
      if (screen === "desk") await pressUntil(page, "f", () => page.getByRole("dialog").isVisible());
      else await button(page, "Freeze this agent").tap();
      await page.getByLabel("Reason (optional)").fill("It pays everybody");
      await assertAccessible(page, "the question before a freeze");
      await inDialog(page, "Freeze").click();
      await banner(page)
        .getByText(/shop-bot.? is frozen since .* by .*operator/)
        .waitFor();
      await banner(page).getByText("Reason: It pays everybody").waitFor();
      assert.equal(await button(page, "Freeze this agent").count(), 0);

      await approveWith(page, "Only this once");
      await refusal(page).waitFor();
      await assertAccessible(page, "a card of a frozen agent");
      await button(page, "Approve").click();
      assert.equal(await page.getByLabel("Comment (optional)").inputValue(), "Only this once");
      await inDialog(page, "Cancel").click();

      await thaw(page);
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
      await approveWith(page, "Only this once");
      await endOn(page, "Approved by you").waitFor();
    });
  }

  it("of everything is made in the console, is seen by all at once, and is thawed by admins alone", async () => {
    const { world, browser } = scene();
    const bo = await nameSomebody(world, "Bo Lind");
    const one = await ask(world, bo.id, "F-all");
    const plan = await askPlan(world, toPerson(bo.id), [
      ["refund", { order: "P-1" }],
      ["refund", { order: "P-2" }],
    ]);
    await using bos = await bo.visit(browser, { screen: "phone" });
    await row(bos.page, "order F-all").waitFor();
    await using boss = await admin(browser, world, "desk", "/console/live");
    await boss.page.getByText("Nothing is frozen.").waitFor();
    await button(boss.page, "Freeze everything").click();
    await inDialog(boss.page, "Freeze").click();
    await banner(boss.page)
      .getByText(/^Everything is frozen since .* by .*operator/)
      .waitFor();
    await assertAccessible(boss.page, "what is frozen, in the console");

    await banner(bos.page)
      .getByText(/^Everything is frozen since/)
      .waitFor();
    assert.equal(await button(bos.page, "Thaw").count(), 0);
    await assertAccessible(bos.page, "the list while everything is frozen");
    await row(bos.page, "order F-all").tap();
    await banner(bos.page)
      .getByText(/^Everything is frozen since/)
      .waitFor();
    assert.equal(await button(bos.page, "Thaw").count(), 0);
    await button(bos.page, "Approve").waitFor();
    assert.equal(await button(bos.page, "Freeze this agent").count(), 0);
    await approveWith(bos.page, "Please");
    await refusal(bos.page).waitFor();
    await bos.page.goto(`/inbox/${plan.id}`);
    await button(bos.page, "Approve 2 calls").click();
    await inDialog(bos.page, "Approve 2 calls").click();
    await refusal(bos.page).waitFor();

    await thaw(boss.page);
    await banner(bos.page).waitFor({ state: "detached" });
    await bos.page.goto(`/inbox/${one.id}`);
    await approveWith(bos.page, "Please");
    await endOn(bos.page, "Approved by you").waitFor();
  });

  it("refuses many calls at once with who froze, and keeps the words", async () => {
    const { world, browser } = scene();
    for (const order of ["B-1", "B-2", "B-3"]) await ask(world, OPERATOR, order, "agent:many-bot");
    await using visitor = await admin(browser, world, "phone", "/inbox");
    const { page } = visitor;
    await row(page, "order B-1").tap();
    await button(page, "Approve 3").waitFor();
    await using boss = await admin(browser, world, "desk", "/console/live");
    await button(boss.page, "Freeze everything").click();
    await inDialog(boss.page, "Freeze").click();
    await banner(page)
      .getByText(/^Everything is frozen since/)
      .waitFor();
    await button(page, "Approve 3").tap();
    await page.getByLabel("Comment (optional)").fill("All fine");
    await inDialog(page, "Approve 3").tap();
    await refusal(page).waitFor();
    await assertAccessible(page, "many calls of a frozen agent");
    await button(page, "Approve 3").tap();
    assert.equal(await page.getByLabel("Comment (optional)").inputValue(), "All fine");
    await inDialog(page, "Cancel").tap();
    await thaw(page);
  });
});
