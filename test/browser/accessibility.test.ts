import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { VIEWS, fill, show } from "./screens.ts";
import { type Served, serve } from "./served.ts";
import { smallTargets, WCAG_22_AA } from "./wcag.ts";

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
