import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld, type Named } from "./inbox-world.ts";

const SMALL_AND_USUAL = [
  { width: 320, height: 568 },
  { width: 390, height: 844 },
];
const long = Array.from({ length: 80 }, (_, i) => `Clause ${i} of a contract that nobody reads`).join("\n");

describe("the card of a call", () => {
  let world: World;
  let browser: Browser;
  let ana: Named;
  before(async () => {
    world = await openInboxWorld();
    browser = await launchBrowser();
    ana = await nameSomebody(world, "Ana Ruiz");
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });
  const ask = (fn: string, kwargs: unknown, more: Parameters<typeof callOf>[2] = {}) =>
    askPeople(world.server.ctx, { audience: toPerson(ana.id), words: long, ...callOf(fn, kwargs, more) });

  it("has Reject, Edit and Approve in sight on every phone, wherever the card is scrolled", async () => {
    const made = await ask("sign", { to: "Bo", one: long, two: long }, { editable: true });
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    const { page } = visitor;
    for (const size of SMALL_AND_USUAL) {
      await page.setViewportSize(size);
      for (const share of [0, 0.5, 1]) {
        await page.evaluate((part) => scrollTo(0, document.documentElement.scrollHeight * part), share);
        assert.deepEqual(await outOfReach(page, ["Reject", "Edit", "Approve"]), [], `${size.width}, ${share}`);
      }
      const [last, bar] = await page.evaluate(() => [
        document.querySelector("article details")?.getBoundingClientRect().bottom ?? Infinity,
        document.querySelector("article button[aria-keyshortcuts=r]")?.getBoundingClientRect().top ?? 0,
      ]);
      assert.ok((last ?? 0) <= (bar ?? 0), "the end of the card is not covered");
    }
  });

  it("leads from Edit to the arguments, above the bar", async () => {
    const made = await ask("sign", { to: "Bo", one: long }, { editable: true });
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    const { page } = visitor;
    await page.getByRole("button", { name: "Edit", exact: true }).tap();
    const box = page.getByLabel("Arguments as JSON");
    await box.fill('{"to":"Cy"}');
    assert.equal(await box.evaluate((field) => field === document.activeElement), true);
    await page.getByRole("button", { name: "Approve with changes" }).waitFor();
    for (const size of SMALL_AND_USUAL) {
      await page.setViewportSize(size);
      assert.deepEqual(await outOfReach(page, ["Reject", "Edit", "Approve with changes"]), []);
    }
  });
});

/** Those buttons of the card that are not wholly in sight, or that a press at their middle would miss. */
async function outOfReach(page: Page, names: string[]): Promise<string[]> {
  return page.evaluate((wanted) => {
    const buttons = [...document.querySelectorAll("article button")];
    return wanted.filter((name) => {
      const button = buttons.find((one) => one.textContent === name);
      if (!button) return true;
      const { left, right, top, bottom } = button.getBoundingClientRect();
      const met = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const isWhole = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
      return !isWhole || met?.closest("button") !== button;
    });
  }, names);
}
