import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { insertQuestion } from "../../src/questions/store/questions.ts";
import { storeNow } from "../../src/core/store/db.ts";
import { transact } from "../../src/core/store/transact.ts";
import { openWorld, type World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { row, visit } from "./visitor.ts";
import { smallTargets } from "./wcag.ts";

const MANY = 130;
const HOUR_S = 3600;

const openList = (page: Page): Promise<void> => page.getByRole("button", { name: /^Questions/ }).tap();

/** Questions of which each is more urgent than the next; every tenth is about the product. */
async function askMany({ server: { ctx } }: World): Promise<void> {
  await transact(ctx, async (tx) => {
    const now = await storeNow(tx);
    for (let i = 1; i <= MANY; i += 1) {
      const audience = [i % 10 === 0 ? "product" : "general"] as const;
      const of = { id: ctx.newId("q"), door: "ask-a-human", asker: "agent:ana", form: { kind: "text" } } as const;
      const more = { audience, need: 1, timeoutSeconds: 24 * HOUR_S + i * 600, wire: {} };
      await insertQuestion(tx, { ...of, ...more, prompt: `Question number ${i}?` }, now);
    }
  });
}

const rows = (page: Page) => page.locator("[data-row]");
const more = (page: Page) => page.getByRole("button", { name: "Show more" });
const promptAt = (page: Page, number: number) => row(page, `Question number ${number}?`);

describe("the list of questions, when there are more than a page holds", () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await openWorld({ on: "sqlite", running: true });
    browser = await launchBrowser();
    await askMany(world);
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  it("reaches the last one, and takes topics from the server", async () => {
    await using ana = await visit(browser, world.url, { screen: "phone" });
    const { page } = ana;
    await openList(page);
    await promptAt(page, 50).waitFor();
    assert.equal(await rows(page).count(), 50);
    for (const read of [100, MANY]) {
      await more(page).tap();
      await promptAt(page, read).waitFor();
      assert.equal(await rows(page).count(), read);
    }
    await more(page).waitFor({ state: "hidden" });
    await promptAt(page, MANY).tap();
    await page.getByRole("heading", { level: 1, name: `Question number ${MANY}?` }).waitFor();
    await page.getByRole("textbox").fill("The second one.");
    await page.getByRole("button", { name: "Send" }).tap();
    await page.getByText(/^\+\d+ points/).waitFor();
    await openList(page);
    await promptAt(page, MANY - 1).waitFor();
    assert.equal(await rows(page).count(), MANY - 1);
    assert.deepEqual(await smallTargets(page), []);

    await page.getByLabel("Topic").selectOption("product");
    await promptAt(page, 1).waitFor({ state: "detached" });
    await promptAt(page, MANY - 10).waitFor();
    assert.deepEqual([await rows(page).count(), await more(page).count()], [MANY / 10 - 1, 0]);
  });

  it("goes on by keyboard, with the focus at the first row that is new", async () => {
    await using bo = await visit(browser, world.url, { screen: "desk" });
    const { page } = bo;
    await promptAt(page, 50).waitFor();
    await more(page).focus();
    await page.keyboard.press("Enter");
    await promptAt(page, 100).waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent?.startsWith("Question number 51?"));
    await promptAt(page, 99).click();
    await page.getByRole("heading", { level: 1, name: "Question number 99?" }).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { level: 1, name: "Question number 100?" }).waitFor();
    await promptAt(page, MANY - 1).waitFor();
  });

  it("marks as closed what has closed, and not what is no longer on the first page", async () => {
    await using cy = await visit(browser, world.url, { screen: "phone" });
    const { page } = cy;
    await openList(page);
    await promptAt(page, 50).waitFor();
    const agent = world.agent("deployer");
    const urgent = await agent.ask({ prompt: "Which of the two is urgent?", min_responses: 9, timeout_seconds: 600 });
    await row(page, "Which of the two is urgent?").waitFor();
    assert.deepEqual([await rows(page).count(), await page.getByText("Just closed").count()], [51, 0]);
    await agent.cancel(urgent.id);
    await page.getByText("Just closed").waitFor();
    assert.equal(await rows(page).count(), 50);
    await more(page).tap();
    await promptAt(page, 99).waitFor();
    assert.equal(await page.getByText("Just closed").count(), 1);
  });

  it("keeps the rows and the focus while the list is read anew and the first question opens", async () => {
    await using dan = await visit(browser, world.url, { screen: "desk", serviceWorkers: "block" });
    const { page } = dan;
    await page.getByRole("heading", { level: 1, name: "Question number 1?" }).waitFor();
    await page.goto("about:blank");
    const agent = world.agent("deployer");
    const urgent = await agent.ask({ prompt: "Which one came meanwhile?", min_responses: 9, timeout_seconds: 600 });
    const firstPage = Promise.withResolvers<void>();
    const isFirst = ({ pathname, searchParams }: URL) => pathname === "/human/questions" && !searchParams.has("cursor");
    await page.route(isFirst, async (route) => {
      await firstPage.promise;
      await route.continue();
    });
    // The list of the visit before is shown at once.
    await page.goto("/");
    await promptAt(page, 50).waitFor();
    await more(page).focus();
    await page.keyboard.press("Enter");
    await promptAt(page, 100).waitFor();
    await page.getByRole("heading", { level: 1, name: "Question number 1?" }).waitFor();

    firstPage.resolve();
    await row(page, "Which one came meanwhile?").waitFor();
    assert.ok((await rows(page).count()) >= 100);
    const focused = await page.evaluate(() => document.activeElement?.textContent);
    assert.match(focused ?? "", /^Question number 51\?/);
    await agent.cancel(urgent.id);
  });
});
