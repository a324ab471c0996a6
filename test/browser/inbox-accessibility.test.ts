import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { fillInbox, INBOX_VIEWS, showInbox, type FilledInbox } from "./inbox-screens.ts";
import { smallTargets, WCAG_22_AA } from "./wcag.ts";

describe("every screen of the inbox", () => {
  let filled: FilledInbox;
  let browser: Browser;
  before(async () => {
    filled = await fillInbox();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await filled?.world[Symbol.asyncDispose]();
  });

  for (const view of INBOX_VIEWS) {
    it(`${view.name} holds nothing that axe finds, in either theme, and is made for thumbs and large text`, async () => {
      for (const screen of ["phone", "desk"] as const) {
        await using visitor = await showInbox(browser, filled, view, { screen, theme: "light" });
        const { page } = visitor;
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const { violations } = await new AxeBuilder({ page }).withTags(WCAG_22_AA).analyze();
          const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
          assert.deepEqual(found, [], `${screen}, ${colorScheme}`);
        }
        if (screen === "desk") continue;
        assert.deepEqual(await smallTargets(page), []);
        await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
        const { wide, has } = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth,
          has: document.documentElement.clientWidth,
        }));
        assert.ok(wide <= has, `${wide} pixels of content on a screen of ${has}`);
      }
    });
  }
});
