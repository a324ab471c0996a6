import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { CONSOLE_VIEWS, fillConsole, showConsole, visitConsole, type FilledConsole } from "./console-screens.ts";
import type { Screen, Visitor } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

describe("every screen of the console", () => {
  let filled: FilledConsole;
  let browser: Browser;
  const visitors = new Map<Screen, Visitor>();
  before(async () => {
    filled = await fillConsole();
    browser = await launchBrowser();
    for (const screen of ["phone", "desk"] as const) {
      visitors.set(screen, await visitConsole(browser, filled, { screen, serviceWorkers: "block" }));
    }
  });
  after(async () => {
    for (const visitor of visitors.values()) await visitor[Symbol.asyncDispose]();
    await browser?.close();
    await filled?.[Symbol.asyncDispose]();
  });

  for (const view of CONSOLE_VIEWS) {
    it(`${view.name} holds nothing that axe finds, in either theme, and is made for thumbs and large text`, async () => {
      for (const [screen, visitor] of visitors) {
        await showConsole(visitor, filled, view);
        const { page } = visitor;
        await assertAccessible(page, screen);
        if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
      }
    });
  }
});
