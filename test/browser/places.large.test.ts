import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { fill } from "./screens.ts";
import { type Served, serve } from "./served.ts";
import { assertAccessible } from "./wcag.ts";
import { visit } from "./visitor.ts";

const WIDTHS = [320, 344, 375, 390, 412, 430];
/** A desktop screen of 1280 by 800 pixels, at four times the size. */
const ZOOMED = { width: 320, height: 200 };
const FOUR = ["Answer", "Inbox", "Run", "You"];
/** Answer opens on its first question. */
const PATHS: Record<string, RegExp> = { Answer: /^\/(q\/.+)?$/, Inbox: /^\/inbox$/, Run: /^\/console$/, You: /^\/me$/ };

const tabs = (page: Page) => page.getByRole("navigation", { name: "Main" }).getByRole("link");
const tab = (page: Page, name: string) => page.getByRole("navigation", { name: "Main" }).getByRole("link", { name });

const enlarge = (page: Page, percent: number): Promise<void> =>
  page.evaluate((size) => {
    document.documentElement.style.fontSize = `${size}%`;
  }, percent);

/** Returns the tabs that are partly hidden, overlap another one, or are too small for a thumb. */
async function troublesWithTabs(page: Page): Promise<string[]> {
  return tabs(page).evaluateAll((links) => {
    const boxes = links.map((link) => ({ name: link.textContent, box: link.getBoundingClientRect(), link }));
    return boxes.flatMap(({ name, box, link }, index) => {
      const next = boxes[index + 1];
      const words = link.querySelector("span")?.getBoundingClientRect() ?? box;
      return [
        ...(words.left < 0 || words.right > innerWidth || box.bottom > innerHeight ? [`${name} is cut off`] : []),
        ...(words.left < box.left - 0.5 || words.right > box.right + 0.5 ? [`${name} is wider than its tab`] : []),
        ...(next && box.right > next.box.left + 0.5 ? [`${name} lies on ${next.name}`] : []),
        ...(Math.round(box.width) < 44 || Math.round(box.height) < 44 ? [`${name} is small`] : []),
      ];
    });
  });
}

/** How much of what can be seen of the page lies under bars that do not scroll with it, from 0 to 1. */
async function covered(page: Page): Promise<number> {
  return page.evaluate(() => {
    const bars = [...document.querySelectorAll<HTMLElement>("body *")].filter(
      (one) => ["fixed", "sticky"].includes(getComputedStyle(one).position) && one.checkVisibility(),
    );
    const heights = bars.map((one) => {
      const { top, bottom, width } = one.getBoundingClientRect();
      return width < innerWidth / 2 ? 0 : Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0));
    });
    return heights.reduce((sum, height) => sum + height, 0) / innerHeight;
  });
}

describe("the places of the app", () => {
  let served: Served;
  let browser: Browser;
  before(async () => {
    served = await serve();
    browser = await launchBrowser();
    await fill(served);
  });
  after(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
  });

  it("are two for whoever has no name, and four for whoever runs the server", async () => {
    await using stranger = await visit(browser, served.url, { screen: "phone" });
    assert.deepEqual(await tabs(stranger.page).allInnerTexts(), ["Answer", "You"]);
    await using admin = await visit(browser, served.url, { screen: "desk", path: await served.newStartLink() });
    await admin.page.getByText("Signed in as operator (admin)").waitFor();
    assert.deepEqual(await tabs(admin.page).allInnerTexts(), FOUR);
    assert.equal(await tabs(admin.page).and(admin.page.locator("[aria-current]")).innerText(), "Run");
  });

  it("have figures and leaderboard under one tab, each a tap away from the other", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    const { page } = ana;
    const current = () => tabs(page).and(page.locator("[aria-current]")).innerText();
    await tab(page, "You").tap();
    await page.getByRole("heading", { level: 1, name: "You" }).waitFor();
    await page.getByRole("link", { name: "Leaderboard" }).tap();
    await page.getByRole("heading", { level: 1, name: "Leaderboard" }).waitFor();
    assert.equal(await current(), "You");
    await page.getByRole("link", { name: "Your figures" }).tap();
    await page.getByRole("heading", { level: 1, name: "You" }).waitFor();
    assert.equal(await current(), "You");
  });

  it("show somebody on the leaderboard under the name they chose, or without one", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone", path: "/leaderboard" });
    const { page } = ana;
    const name = page.getByLabel("Your name here");
    const press = (label: string) => page.getByRole("button", { name: label }).tap();
    await name.fill("Ana <3");
    await press("Save");
    await page.getByRole("alert").getByText("Use 2 to 24 letters").waitFor();
    await name.fill("Ana");
    await press("Save");
    await page.getByRole("button", { name: "Remove the name" }).waitFor();
    assert.equal(await name.inputValue(), "Ana");
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.equal(await focused(), "Save");
    await using bo = await visit(browser, served.url, { screen: "phone", path: "/leaderboard" });
    await bo.page.getByLabel("Your name here").fill("ANA");
    await bo.page.getByRole("button", { name: "Save" }).tap();
    await bo.page.getByRole("alert").getByText("Somebody else has this name").waitFor();
    await press("Remove the name");
    await page.getByRole("button", { name: "Remove the name" }).waitFor({ state: "detached" });
    assert.equal(await name.inputValue(), "");
    assert.equal(await focused(), "Save");
  });

  it("are all within reach at any width of a phone, with text of twice the size too", async () => {
    await using admin = await visit(browser, served.url, { screen: "phone", path: await served.newStartLink() });
    const { page } = admin;
    await page.getByText("Signed in as operator (admin)").waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 700 });
      for (const percent of [100, 200]) {
        for (const name of FOUR) {
          await enlarge(page, percent);
          const where = `${name} at ${width} px with text of ${percent} %`;
          assert.deepEqual(await troublesWithTabs(page), [], `before ${where}`);
          await tab(page, name).tap();
          await page.waitForURL(({ pathname }) => PATHS[name]?.test(pathname) === true);
          await tab(page, name).and(page.locator("[aria-current]")).waitFor();
          assert.ok((await covered(page)) < 0.25, `${where}: ${await covered(page)} of the page is covered`);
        }
      }
    }
  });

  it("hide nothing of the page at four times the size, where each is still within reach", async () => {
    await using admin = await visit(browser, served.url, { screen: "desk", path: await served.newStartLink() });
    const { page } = admin;
    await page.getByText("Signed in as operator (admin)").waitFor();
    await page.setViewportSize(ZOOMED);
    for (const name of FOUR) {
      await tab(page, name).click();
      await tab(page, name).and(page.locator("[aria-current]")).waitFor();
      assert.equal(await covered(page), 0, name);
      const { wide, has } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth,
        has: document.documentElement.clientWidth,
      }));
      assert.ok(wide <= has, `${name}: ${wide} pixels of content on a screen of ${has}`);
    }
    await assertAccessible(page, "four times the size");
  });
});
