import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import type { Browser, Locator, Page } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { type Served, serve } from "./served.ts";
import { readyForOffline, visit, type Visitor } from "./visitor.ts";

const WIDTHS = [320, 360, 390, 412, 430];
const next = (page: Page): Locator => page.getByRole("link", { name: "Next question" });
const list = (page: Page): Locator => page.getByRole("button", { name: /^Questions/ });
const option = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });

/** Touches the middle of an element twice, as fast as the browser takes it. */
async function doubleTap(page: Page, target: Locator): Promise<void> {
  await target.click({ trial: true });
  const box = (await target.boundingBox()) ?? assert.fail("nothing to touch");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.touchscreen.tap(x, y);
  await page.touchscreen.tap(x, y);
}

/** The part of the screen that shows words of the prompt, from 0 to 1. */
const shareOfPrompt = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const prompt = document.querySelector("h1") ?? document.body;
    const bars = [...document.querySelectorAll<HTMLElement>("main *, nav")].filter(
      (one) => getComputedStyle(one).position === "sticky",
    );
    const { top, bottom } = prompt.getBoundingClientRect();
    const end = Math.min(bottom, innerHeight, ...bars.map((one) => one.getBoundingClientRect().top));
    return (end - Math.max(top, 0)) / innerHeight;
  });

describe("Answer, one question after the other", () => {
  let served: Served;
  let browser: Browser;
  let agent: Parley;
  before(async () => {
    served = await serve();
    browser = await launchBrowser();
    agent = new Parley({ url: served.url });
  });
  after(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
  });

  /** Asks questions of which each is more urgent than the next, and withdraws them at the end. */
  async function askMany(prompts: readonly string[], options: string[] | null = ["Yes", "No"]) {
    const ids: string[] = [];
    for (const [at, prompt] of prompts.entries()) {
      const more = { min_responses: 9, timeout_seconds: 600 + at * 600, ...(options && { options }) };
      ids.push((await agent.ask({ prompt, ...more })).question_id);
    }
    return {
      ids,
      async [Symbol.asyncDispose]() {
        for (const id of ids) await agent.cancel(id);
      },
    };
  }
  const votes = async (id = ""): Promise<number> => (await agent.check(id)).current_responses;
  const heading = ({ page }: Visitor, name: string) => page.getByRole("heading", { level: 1, name });

  it("takes five answers from somebody new in nine taps, and says once what this is", async () => {
    const prompts = [1, 2, 3, 4, 5].map((n) => `Is this the question number ${n}?`);
    await using asked = await askMany(prompts);
    await using ana = await visit(browser, served.url, { screen: "phone" });
    let taps = 0;
    const tap = async (target: Locator): Promise<void> => {
      await target.tap();
      taps += 1;
    };
    await ana.page.getByText("Agents ask, you answer. No account.").waitFor();
    for (const [at, prompt] of prompts.entries()) {
      await heading(ana, prompt).waitFor();
      await tap(option(ana.page, "Yes"));
      await ana.page.getByText("1 of 9 answers so far").waitFor();
      if (at < 4) await tap(next(ana.page));
    }
    assert.equal(taps, 9);
    assert.equal(await ana.page.getByText("Agents ask, you answer").count(), 0);
    assert.equal(ana.sent(), 5);
    assert.deepEqual(await Promise.all(asked.ids.map((id) => votes(id))), [1, 1, 1, 1, 1]);
  });

  it("takes five answers by keys alone", async () => {
    const prompts = [1, 2, 3, 4, 5].map((n) => `By keys: the question number ${n}?`);
    await using asked = await askMany(prompts);
    await using bo = await visit(browser, served.url, { screen: "desk" });
    for (const prompt of prompts) {
      await heading(bo, prompt).waitFor();
      await bo.page.locator("button[aria-pressed][aria-disabled=false]").first().waitFor();
      await bo.page.keyboard.press("2");
      await bo.page.keyboard.press("Enter");
      await bo.page.locator("[data-place=next][aria-disabled=false]").waitFor();
      await bo.page.keyboard.press("Enter");
    }
    assert.deepEqual(await Promise.all(asked.ids.map((id) => votes(id))), [1, 1, 1, 1, 1]);
  });

  it("sends once and stays, whatever is touched twice, at any width of a phone", async () => {
    await using words = await askMany(["Twice in words: one?", "Twice in words: two?"], null);
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${words.ids[0]}` });
    await using asked = await askMany(["Twice: one?", "Twice: two?"], ["One", "Two", "Three", "Four", "Five", "Six"]);
    for (const width of WIDTHS) {
      await using bo = await visit(browser, served.url, { screen: "phone", path: `/q/${words.ids[0]}` });
      await bo.page.setViewportSize({ width, height: 700 });
      await bo.page.getByLabel("Your answer").fill("Words");
      const send = bo.page.getByRole("button", { name: "Send" });
      const where = (await send.boundingBox()) ?? assert.fail("no Send");
      await doubleTap(bo.page, send);
      await next(bo.page).waitFor();
      const after = (await next(bo.page).boundingBox()) ?? assert.fail("no Next");
      assert.ok(after.x + after.width <= where.x, `Next lies where Send was at ${width} px`);
      assert.ok(after.height >= 44 && after.width >= 44, `${after.width} by ${after.height} at ${width} px`);
      // A late second touch finds nothing there, even when Next works.
      await next(bo.page).click({ trial: true });
      await bo.page.touchscreen.tap(where.x + where.width / 2, where.y + where.height / 2);
      await heading(bo, "Twice in words: one?").waitFor();
      assert.deepEqual([bo.sent(), new URL(bo.page.url()).pathname], [1, `/q/${words.ids[0]}`]);

      await bo.page.goto(`/q/${asked.ids[0]}`);
      const last = option(bo.page, "Six");
      await last.scrollIntoViewIfNeeded();
      await doubleTap(bo.page, last);
      await next(bo.page).click({ trial: true });
      assert.deepEqual([bo.sent(), new URL(bo.page.url()).pathname], [2, `/q/${asked.ids[0]}`]);
    }
    assert.equal(await votes(asked.ids[0]), WIDTHS.length);
    assert.equal(ana.sent(), 0);
  });

  it("takes an option back with Undo, keeps the choice, and sends the next one", async () => {
    await using asked = await askMany(["Will you take this back?"]);
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.clock.install();
    await ana.page.reload();
    await heading(ana, "Will you take this back?").waitFor();
    await ana.page.clock.pauseAt(Date.now() + 60_000);
    await ana.page.clock.runFor(1000);
    await option(ana.page, "Yes").tap();
    await ana.page.clock.runFor(600);
    await ana.page.getByRole("button", { name: "Undo" }).tap();
    await ana.page.clock.runFor(5000);
    assert.equal(ana.sent(), 0);
    assert.equal(await option(ana.page, "Yes").getAttribute("aria-pressed"), "true");
    await ana.page.getByRole("button", { name: "Send" }).waitFor();
    await option(ana.page, "No").tap();
    await option(ana.page, "No").tap();
    await ana.page.clock.runFor(800);
    await ana.page.clock.resume();
    await ana.page.getByText("1 of 9 answers so far").waitFor();
    assert.equal(ana.sent(), 1);
    assert.deepEqual((await agent.check(asked.ids[0] ?? "")).summary, { Yes: 0, No: 1 });
  });

  it("loses no press when the page is left in that moment, nor without a connection", async () => {
    await using asked = await askMany(["Left at once?", "Loaded again at once?", "Offline meanwhile?"]);
    const [left = "", again = "", offline = ""] = asked.ids;
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${left}` });
    await readyForOffline(ana.page);
    await option(ana.page, "Yes").tap();
    await ana.page.getByRole("link", { name: "You" }).tap();
    await ana.page.getByText("Points, 5 today").waitFor();
    assert.equal(await votes(left), 1);

    await ana.page.goto(`/q/${again}`);
    await option(ana.page, "No").tap();
    await ana.page.reload();
    const send = ana.page.getByRole("button", { name: "Send" });
    await send.or(next(ana.page)).waitFor();
    if (await send.isVisible()) {
      assert.equal(await option(ana.page, "No").getAttribute("aria-pressed"), "true");
      await send.tap();
    }
    await ana.page.getByText("1 of 9 answers so far").waitFor();
    assert.equal(await votes(again), 1);

    await ana.page.goto(`/q/${offline}`);
    await heading(ana, "Offline meanwhile?").waitFor();
    await option(ana.page, "Yes").tap();
    await ana.context.setOffline(true);
    await ana.page.getByRole("heading", { name: "Written, not sent yet" }).or(next(ana.page)).first().waitFor();
    await ana.context.setOffline(false);
    await ana.page.getByText("1 of 9 answers so far").waitFor();
    assert.equal(await votes(offline), 1);
  });

  it("has the list in a drawer that says how many there are, and Back closes it", async () => {
    const prompt = "Look at this:\n\n```js\nconst a = 1;\n```\n\nIs it fine?";
    await using asked = await askMany(["First in the drawer?", prompt]);
    await using ana = await visit(browser, served.url, { screen: "phone", path: "/me" });
    await ana.page.getByRole("link", { name: "Answer" }).tap();
    await heading(ana, "First in the drawer?").waitFor();
    assert.match(await list(ana.page).innerText(), /2$/);
    const drawer = ana.page.getByRole("dialog", { name: "Questions" });
    await list(ana.page).tap();
    await drawer.getByRole("link", { name: "First in the drawer?" }).waitFor();
    await ana.page.goBack();
    await drawer.waitFor({ state: "hidden" });
    await heading(ana, "First in the drawer?").waitFor();

    await list(ana.page).tap();
    await drawer.getByRole("link", { name: /^Look at this: / }).tap();
    await heading(ana, "Look at this:").waitFor();
    assert.equal(await ana.page.locator("main pre code").innerText(), "const a = 1;");
    const font = await ana.page.locator("main pre code").evaluate((code) => getComputedStyle(code).fontFamily);
    assert.match(font, /^"IBM Plex Mono"/);
    assert.equal(await ana.page.locator("main").getByText("```").count(), 0);
    await ana.page.goBack();
    await heading(ana, "First in the drawer?").waitFor();
    await ana.page.goBack();
    await ana.page.waitForURL(`${served.url}/me`);
    assert.equal(asked.ids.length, 2);
  });

  it("skips what was answered, and opens the question that needs answers most", async () => {
    await using asked = await askMany(["Answered before?", "Not answered yet?"]);
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await heading(ana, "Answered before?").waitFor();
    await option(ana.page, "Yes").tap();
    await next(ana.page).waitFor();
    await ana.page.goto("/");
    await heading(ana, "Not answered yet?").waitFor();
    assert.equal(await votes(asked.ids[0]), 1);
  });

  it("gives a long prompt two fifths of a small screen, also with text of twice the size", async () => {
    const prompt = "A long story about a lighthouse and its keeper goes on for a while. ".repeat(25);
    await using words = await askMany([prompt], null);
    for (const percent of [100, 200]) {
      for (const width of WIDTHS) {
        await using ana = await visit(browser, served.url, { screen: "phone" });
        await ana.page.setViewportSize({ width, height: 568 });
        await heading(ana, "A long story").waitFor();
        await ana.page.evaluate((size) => (document.documentElement.style.fontSize = `${size}%`), percent);
        const share = await shareOfPrompt(ana.page);
        assert.ok(share >= 0.4, `${width} px, ${percent} %: ${share}`);
        await ana.page.getByRole("link", { name: "You" }).tap();
        await ana.page.getByRole("link", { name: "Leaderboard" }).tap();
        await ana.page.getByRole("heading", { level: 1, name: "Leaderboard" }).waitFor();
      }
    }
    assert.equal(words.ids.length, 1);
  });
});
