import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { BOARD_VIEWS, fillBoard, showBoard, type FilledBoard } from "./assignment-screens.ts";
import { visitAssignments } from "./assignment-world.ts";
import { launchBrowser } from "./chromium.ts";
import type { Screen, Visitor } from "./visitor.ts";
import { smallTargets, WCAG_22_AA } from "./wcag.ts";

describe("every screen about the work of coding agents", () => {
  let filled: FilledBoard;
  let browser: Browser;
  const visitors = new Map<Screen, Visitor>();
  before(async () => {
    filled = await fillBoard();
    browser = await launchBrowser();
    for (const screen of ["phone", "desk"] as const) {
      visitors.set(screen, await visitAssignments(browser, filled, { screen }));
    }
  });
  after(async () => {
    for (const visitor of visitors.values()) await visitor[Symbol.asyncDispose]();
    await browser?.close();
    await filled?.[Symbol.asyncDispose]();
  });

  for (const view of BOARD_VIEWS) {
    it(`${view.name} holds nothing that axe finds, in either theme, and is made for thumbs and large text`, async () => {
      for (const [screen, visitor] of visitors) {
        await showBoard(visitor, filled, view);
        const { page } = visitor;
        // What differs between the two is colours, and these are the same at a desk.
        for (const colorScheme of screen === "phone" ? (["light", "dark"] as const) : (["dark"] as const)) {
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
