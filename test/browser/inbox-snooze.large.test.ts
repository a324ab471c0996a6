import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { row, SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const show = (page: Page) => page.getByLabel("Show", { exact: true });
const snooze = (page: Page) => page.getByRole("button", { name: "Snooze", exact: true });

describe("a request that is put aside in the inbox", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`leaves the list, shows until when, and is taken back at once, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const ask = (order: string, timeoutSeconds: number | null) =>
        askPeople(world.server.ctx, {
          audience: toPerson(ana.id),
          ...callOf("refund", { order }),
          timeoutSeconds,
        });
      const first = await ask("A-1", 86_400);
      await ask("A-2", null);
      await using visitor = await ana.visit(browser, { screen, ask: first });
      const { page } = visitor;
      if (screen === "phone") await snooze(page).tap();
      else {
        await page.locator('[aria-keyshortcuts="s"]').waitFor();
        await page.keyboard.press("s");
      }
      await dialog(page).getByRole("heading", { name: "Snooze until" }).waitFor();
      await assertAccessible(page, "the times");
      await dialog(page).getByRole("button", { name: "In 1 hour" }).click();

      // The next request opens, with a way back.
      await page.getByRole("heading", { level: 1, name: /A-2/ }).waitFor();
      const back = page.getByRole("link", { name: /^Snoozed until .*A-1/ });
      await back.waitFor();
      await page.goto("/inbox");
      await row(page, "order A-2").waitFor();
      assert.equal(await row(page, "order A-1").count(), 0);
      await show(page).locator("option", { hasText: "Snoozed or handed on (1)" }).waitFor({ state: "attached" });
      await show(page).selectOption("snoozed");
      await row(page, "order A-1").waitFor();
      await row(page, "order A-1").getByText("Snoozed until").waitFor();
      await row(page, "order A-1").click();
      const wake = page.getByRole("button", { name: "Wake now" });
      await wake.waitFor();
      await assertAccessible(page, "a card that is put aside");
      await wake.click();
      await snooze(page).waitFor();
      await page.goto("/inbox");
      await row(page, "order A-1").waitFor();
      assert.equal(await show(page).locator("option", { hasText: "Snoozed" }).count(), 0);
    });
  }

  it("can be reached by a thumb and read in large text", async () => {
    const { world, ana } = scene();
    const made = await askPeople(world.server.ctx, {
      audience: toPerson(ana.id),
      ...callOf("refund", { order: "A-3" }, { editable: true }),
      timeoutSeconds: 600,
    });
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await assertMadeForThumbsAndLargeText(page);
    await snooze(page).tap();
    await dialog(page).getByRole("button", { name: "Before its deadline" }).waitFor();
    assert.equal(await dialog(page).getByRole("button", { name: "In 1 hour" }).count(), 0);
    await assertMadeForThumbsAndLargeText(page);
  });
});
