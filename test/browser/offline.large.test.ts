import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import { People } from "@parley/sdk/people";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { type Served, serve } from "./served.ts";
import { readyForOffline, row, visit } from "./visitor.ts";

const NOT_SENT = "Written, not sent yet";

/** The page learns from nothing but a press that the server is back, and so takes no button away before it. */
async function neverBackByItself(page: Page): Promise<void> {
  await page.route(/\/(healthz|human\/events)$/, (route) => route.abort());
}

describe("the Answer room without a connection", () => {
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

  const write = async (page: Page, words: string): Promise<void> => {
    await page.getByLabel("Your answer").fill(words);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("heading", { name: NOT_SENT }).waitFor();
  };

  it("sends an answer written offline once, when the connection is back", async () => {
    const prompt = "What do you do when a train has no signal?";
    const { question_id: id } = await agent.ask({ prompt, min_responses: 5 });
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.getByRole("heading", { name: prompt }).waitFor();
    await readyForOffline(ana.page);
    await ana.page.getByRole("heading", { name: prompt }).waitFor();

    await ana.context.setOffline(true);
    await write(ana.page, "Look out of the window");
    await ana.page.getByText("Look out of the window").waitFor();
    assert.equal((await agent.check(id)).current_responses, 0);

    await ana.context.setOffline(false);
    await ana.page.getByText("+10 points").waitFor();
    const { responses } = await agent.check(id);
    assert.deepEqual(responses, [{ answer: "Look out of the window" }]);
    await agent.cancel(id);
  });

  it("keeps it, though nothing more of the app can be loaded", async () => {
    const { question_id: id } = await agent.ask({ prompt: "What is left without a network?", min_responses: 5 });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}`, serviceWorkers: "block" });
    await ana.page.getByLabel("Your answer").waitFor();
    await ana.context.setOffline(true);
    await ana.page.getByLabel("Your answer").fill("What was there before");
    await ana.page.getByRole("button", { name: "Send" }).click();
    await ana.page.getByRole("heading", { name: "No connection to the server" }).waitFor();
    const sent = ana.page.waitForResponse((reply) => reply.url().endsWith("/human/responses"));
    await ana.context.setOffline(false);
    assert.equal((await sent).ok(), true);
    await agent.cancel(id);
  });

  it("sends it once with two tabs open", async () => {
    const { question_id: id } = await agent.ask({ prompt: "How many tabs do you have open?", min_responses: 5 });
    await using ana = await visit(browser, served.url, { screen: "desk", path: `/q/${id}` });
    const other = await ana.openTab("/me");
    await readyForOffline(ana.page);
    await readyForOffline(other);

    await ana.context.setOffline(true);
    await write(ana.page, "Two, and a few more");
    const before = ana.sent();
    await ana.context.setOffline(false);
    await ana.page.getByText("+10 points").waitFor();
    await other.getByText("Points, 10 today").waitFor();

    assert.equal(ana.sent() - before, 1);
    assert.equal((await agent.check(id)).current_responses, 1);
    await agent.cancel(id);
  });

  it("sends it from a page that is opened later", async () => {
    const { question_id: id } = await agent.ask({ prompt: "Does closing the page lose anything?", min_responses: 5 });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
    await readyForOffline(ana.page);
    await served.stop();
    await write(ana.page, "It must not");
    await ana.page.close();

    await served.start();
    const later = await ana.openTab("/me");
    await later.getByText("Points, 10 today").waitFor();
    assert.deepEqual((await agent.check(id)).responses, [{ answer: "It must not" }]);
    await agent.cancel(id);
  });

  it("keeps the words of an answer that came too late, and says why it was not taken", async () => {
    const { question_id: id } = await agent.ask({ prompt: "Who takes the last place here?", min_responses: 1 });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
    await readyForOffline(ana.page);
    await ana.context.setOffline(true);
    await write(ana.page, "I hope that it is me");
    await new People({ url: served.url }).answer({ question_id: id, answer: "Me, sorry" });

    await ana.context.setOffline(false);
    await ana.page.getByRole("heading", { name: "Your answer was not taken" }).waitFor();
    await ana.page.getByText("The question had got all its answers").waitFor();
    await ana.page.getByText("I hope that it is me").waitFor();
    assert.deepEqual((await agent.check(id)).responses, [{ answer: "Me, sorry" }]);

    await ana.page.goto("/");
    await ana.page.getByText("1 answer was not taken").waitFor();
    await row(ana.page, "Who takes the last place here?").tap();
    await ana.page.getByRole("button", { name: "Discard" }).tap();
    await ana.page.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();
  });

  it("opens, shows the questions seen last, and takes an answer while the server is away", async () => {
    const prompt = "Can you answer before the server is back?";
    const { question_id: id } = await agent.ask({ prompt, options: ["Yes", "No"], min_responses: 5 });
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.getByRole("heading", { name: prompt }).waitFor();
    await readyForOffline(ana.page);

    await served.stop();
    await ana.page.goto("/");
    await ana.page.getByText("Offline", { exact: true }).waitFor();
    await ana.page.getByRole("heading", { name: prompt }).waitFor();
    // Long enough for every attempt to reach the server to have failed.
    await ana.page.waitForTimeout(1500);
    await ana.page.getByText("Yes", { exact: true }).tap();
    await ana.page.getByRole("heading", { name: NOT_SENT }).waitFor();

    await neverBackByItself(ana.page);
    await served.start();
    await ana.page.getByRole("button", { name: "Try now" }).tap();
    await ana.page.getByText("+5 points").waitFor();
    assert.deepEqual((await agent.check(id)).summary, { Yes: 1, No: 0 });
    await agent.cancel(id);
  });

  it("says so on a screen of its own when there is nothing to show", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await readyForOffline(ana.page);
    await ana.page.evaluate(() => localStorage.removeItem("parley.feed"));
    await served.stop();
    await ana.page.reload();
    await ana.page.getByRole("heading", { name: "No connection to the server" }).waitFor();

    await neverBackByItself(ana.page);
    await served.start();
    await ana.page.getByRole("button", { name: "Try again" }).tap();
    await ana.page.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();
  });

  it("sends an answer that the device has no room to keep", async () => {
    const { question_id: id } = await agent.ask({ prompt: "Is there any room?", min_responses: 5 });
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.context.addInitScript(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException("no room", "QuotaExceededError");
      };
    });
    let isDown = true;
    await ana.page.route("**/human/responses", (route) => (isDown ? route.abort() : route.continue()));
    await ana.page.goto(`/q/${id}`);
    await write(ana.page, "None");
    isDown = false;
    await ana.page.getByRole("button", { name: "Try now" }).tap();
    await ana.page.getByText("1 of 5 answers so far").waitFor();
    await agent.cancel(id);
  });

  it("keeps the parts of the release before for pages that are still open, and of no older one", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await readyForOffline(ana.page);
    await ana.page.evaluate(async () => {
      await (await navigator.serviceWorker.getRegistration())?.unregister();
      for (const name of await caches.keys()) await caches.delete(name);
      await caches.open("parley-older");
      await (await caches.open("parley-before")).put("/assets/part.js", new Response("a part of the release before"));
    });
    await ana.page.reload();
    await readyForOffline(ana.page);
    const [first, ...others] = await ana.page.evaluate(() => caches.keys());
    assert.deepEqual([first, others.length], ["parley-before", 1]);
    const part = await ana.page.evaluate(async () => (await fetch("/assets/part.js")).text());
    assert.equal(part, "a part of the release before");
  });

  it("shows a question that was asked after the list was read and before news of it could come", async () => {
    const prompt = "Who came between the list and its news?";
    await using ana = await visit(browser, served.url, { screen: "phone", serviceWorkers: "block" });
    await using bo = await visit(browser, served.url, { screen: "phone" });
    const news = Promise.withResolvers<void>();
    await ana.page.route("**/human/events", async (route) => {
      await news.promise;
      await route.continue();
    });
    await ana.page.reload();
    await ana.page.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();
    const { question_id: id } = await agent.ask({ prompt, min_responses: 5 });
    await bo.page.getByRole("heading", { name: prompt }).waitFor();
    news.resolve();
    await ana.page.getByRole("heading", { name: prompt }).waitFor();
    await agent.cancel(id);
  });

  it("has a connection left for each of five windows", async () => {
    await using ana = await visit(browser, served.url, { screen: "desk" });
    await ana.page.goto(await served.newStartLink());
    await ana.page.getByText("Signed in as").waitFor();
    for (let windows = 2; windows < 5; windows += 1) {
      const page = await ana.openTab("/inbox");
      await page.getByRole("heading", { name: "Inbox" }).waitFor();
    }
    const last = await ana.openTab("/");
    await last.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();
  });

  it("comes back by itself in every room, where a page was opened while the server was away", async () => {
    const prompt = "Who noticed that the server was away?";
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.goto(await served.newStartLink());
    await ana.page.getByText("Signed in as").waitFor();
    await readyForOffline(ana.page);
    const rooms = [
      { path: "/leaderboard", shows: "Leaderboard" },
      { path: "/inbox", shows: "Inbox" },
      { path: "/console", shows: "Console" },
      { path: "/", shows: prompt },
    ];
    const pages = await Promise.all(rooms.map(({ path }) => ana.openTab(path)));
    await served.stop();
    for (const page of pages) await page.reload();
    const away = "No connection to the server";
    for (const page of pages.slice(0, 3)) await page.getByRole("heading", { name: away }).waitFor();
    await served.start();
    const { question_id: id } = await agent.ask({ prompt, min_responses: 5 });
    for (const [at, { shows }] of rooms.entries()) {
      await pages[at]?.getByRole("heading", { name: shows }).waitFor();
      await pages[at]?.getByRole("heading", { name: away }).waitFor({ state: "hidden" });
    }
    await agent.cancel(id);
  });
});
