import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { VIEWS, fill, show } from "./screens.ts";
import { type Served, serve } from "./served.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

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

  it("is looked at by rules that find a button without a name, and words too pale for the dark theme", async () => {
    await using context = await browser.newContext();
    const page = await context.newPage();
    const shows = (body: string) =>
      page.setContent(`<html lang="en"><title>A page</title><main><h1>A page</h1>${body}</main></html>`);
    await shows("<button></button>");
    await assert.rejects(assertAccessible(page, "planted"), /planted, light[^]*button-name/);
    await shows(`<style>@media (prefers-color-scheme: dark) { p { color: #eee } }</style><p>Pale</p>`);
    await assert.rejects(assertAccessible(page, "planted"), /planted, dark[^]*color-contrast/);
  });

  for (const view of VIEWS) {
    it(`${view.name} holds nothing that axe finds, in either theme, and is made for thumbs and large text`, async () => {
      for (const screen of ["phone", "desk"] as const) {
        const serviceWorkers = view.name === "waiting" ? "allow" : "block";
        await using visitor = await show(browser, served, view, { screen, serviceWorkers });
        await assertAccessible(visitor.page, screen);
        if (screen === "phone") await assertMadeForThumbsAndLargeText(visitor.page);
      }
    });
  }
});
