import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { VIEWS, fill, show } from "./screens.ts";
import { type Served, serve } from "./served.ts";

const WCAG_22_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

describe("every screen", () => {
  let served: Served;
  let browser: Browser;
  before(async () => {
    served = await serve({ PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "100000" });
    browser = await launchBrowser();
    await fill(served, { places: 50 });
  });
  after(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
  });

  for (const screen of ["phone", "desk"] as const) {
    for (const theme of ["light", "dark"] as const) {
      for (const view of VIEWS) {
        it(`${view.name} holds nothing that axe finds, on a ${screen} in the ${theme} theme`, async () => {
          await using visitor = await show(browser, served, view, { screen, theme });
          const { violations } = await new AxeBuilder({ page: visitor.page }).withTags(WCAG_22_AA).analyze();
          const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
          assert.deepEqual(found, []);
        });
      }
    }
  }

  for (const view of VIEWS) {
    it(`${view.name} gives a thumb at least 44 pixels, and text of twice the size stays on a phone`, async () => {
      await using visitor = await show(browser, served, view, { screen: "phone", theme: "light" });
      assert.deepEqual(await smallTargets(visitor.page), []);

      await visitor.page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
      const { wide, has } = await visitor.page.evaluate(() => ({
        wide: document.documentElement.scrollWidth,
        has: document.documentElement.clientWidth,
      }));
      assert.ok(wide <= has, `${wide} pixels of content on a screen of ${has}`);
    });
  }
});

/** Whatever can be pressed and is smaller than a thumb; links inside a sentence may be. */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pressed = document.querySelectorAll(
      "a, button, select, textarea, summary, label:has(input), input[type=text]",
    );
    const isSeen = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true });
    const isInSentence = (element: Element): boolean => element.matches("p a");
    const isForKeyboard = (element: Element): boolean => element.getBoundingClientRect().bottom < 0;
    return [...pressed]
      .filter((element) => isSeen(element) && !isInSentence(element) && !isForKeyboard(element))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => Math.round(box.width) < 44 || Math.round(box.height) < 44)
      .map(
        ({ element, box }) => `${Math.round(box.width)}x${Math.round(box.height)} ${element.outerHTML.slice(0, 120)}`,
      );
  });
}
