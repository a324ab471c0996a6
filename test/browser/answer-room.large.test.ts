import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import { People } from "@parley/sdk/people";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { type Served, serve } from "./served.ts";
import { row, visit } from "./visitor.ts";

describe("the Answer room", () => {
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

  it("takes an answer by touch on a phone and one by keyboard at a desk, and the agent reads both", async () => {
    const prompt = "Which label is clearer on a button that cannot be undone?";
    const asked = await fetch(`${served.url}/agent/questions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt, type: "multiple_choice", options: ["Delete", "Remove"], min_responses: 2 }),
    });
    const { question_id: id } = (await asked.json()) as { question_id: string };

    {
      await using ana = await visit(browser, served.url, { screen: "phone" });
      await ana.page.getByLabel("Sure", { exact: true }).locator("..").tap();
      await ana.page.getByText("Remove", { exact: true }).tap();
      await ana.page.getByText("+5 points").waitFor();
      await ana.page.getByText("1 of 2 answers so far").waitFor();
      await ana.page.getByText("First Steps").waitFor();
    }
    {
      await using bo = await visit(browser, served.url, { screen: "desk" });
      await bo.page.getByRole("heading", { level: 1, name: prompt }).waitFor();
      await bo.page.getByRole("button", { name: "Delete", exact: true, disabled: false }).waitFor();
      await bo.page.keyboard.press("1");
      await bo.page.keyboard.press("Enter");
      await bo.page.getByText("All 2 answers are in").waitFor();
    }

    const question = await agent.check(id);
    assert.equal(question.status, "CLOSED");
    assert.deepEqual(question.summary, { Delete: 1, Remove: 1 });
    assert.deepEqual(question.responses, [{ selected_option: 1, confidence: 4 }, { selected_option: 0 }]);
  });

  it("takes words by touch and by keyboard, and shows others' words only after one's own", async () => {
    const prompt = "What would you call a lighthouse keeper's cat?";
    const { question_id: id } = await agent.ask({ prompt, min_responses: 5 });
    await new People({ url: served.url }).answer({ question_id: id, answer: "Beacon" });

    {
      await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
      await ana.page.getByRole("heading", { name: prompt }).waitFor();
      assert.equal(await ana.page.getByText("Beacon").count(), 0);
      await ana.page.getByLabel("Your answer").tap();
      await ana.page.keyboard.insertText("Fresnel");
      await ana.page.getByRole("button", { name: "Send" }).tap();
      await ana.page.getByText("Beacon").waitFor();
      await ana.page.getByText("2 of 5 answers so far").waitFor();
    }
    {
      await using bo = await visit(browser, served.url, { screen: "desk", path: `/q/${id}` });
      const box = bo.page.getByLabel("Your answer");
      await box.focus();
      await bo.page.keyboard.type("Captain");
      await bo.page.keyboard.press("Shift+Enter");
      await bo.page.keyboard.type("Whiskers");
      await bo.page.keyboard.press("Enter");
      await bo.page.getByText("Fresnel").waitFor();
    }
    const { responses } = await agent.check(id);
    assert.deepEqual(
      responses.map((one) => one.answer),
      ["Beacon", "Fresnel", "Captain\nWhiskers"],
    );
    await agent.cancel(id);
  });

  it("moves through the questions with j and k, and lists its keys with a question mark", async () => {
    const first = await agent.ask({ prompt: "Walking through: the first question?", timeout_seconds: 600 });
    const second = await agent.ask({ prompt: "Walking through: the second question?", timeout_seconds: 86_400 });
    await using ana = await visit(browser, served.url, { screen: "desk" });
    const heading = (words: string) => ana.page.getByRole("heading", { level: 1, name: words });

    await heading("the first question?").waitFor();
    await ana.page.keyboard.press("j");
    await heading("the second question?").waitFor();
    await ana.page.keyboard.press("k");
    await heading("the first question?").waitFor();

    await ana.page.keyboard.press("?");
    const dialog = ana.page.getByRole("dialog", { name: "Keys" });
    await dialog.getByText("Previous").waitFor();
    await ana.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    for (const { question_id } of [first, second]) await agent.cancel(question_id);
  });

  it("shows a new question, how many answers are missing, and a closed one without being asked", async () => {
    const prompt = "Does this question appear by itself?";
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();

    const { question_id: id } = await agent.ask({ prompt, options: ["Yes", "No"], min_responses: 3 });
    await ana.page.getByRole("heading", { level: 1, name: prompt }).waitFor();
    await ana.page.getByRole("button", { name: /^Questions/ }).tap();
    await row(ana.page, prompt).getByText("3 answers needed").waitFor();
    await new People({ url: served.url }).answer({ question_id: id, selected_option: 0 });
    await row(ana.page, prompt).getByText("2 answers needed").waitFor();
    await agent.cancel(id);
    await ana.page.getByText("Just closed").waitFor();
  });

  it("keeps a draft across a reload, and the words when the last place is taken meanwhile", async () => {
    const prompt = "Which word should this sentence end with?";
    const { question_id: id } = await agent.ask({ prompt, min_responses: 1 });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
    await ana.page.getByLabel("Your answer").fill("Quietly begun");
    await ana.page.reload();
    assert.equal(await ana.page.getByLabel("Your answer").inputValue(), "Quietly begun");

    await new People({ url: served.url }).answer({ question_id: id, answer: "Faster" });
    await ana.page.getByRole("heading", { name: "This question takes no more answers" }).waitFor();
    await ana.page.getByText("Quietly begun").waitFor();
    assert.equal(ana.sent(), 0);
  });

  it("leaves out what was skipped or reported", async () => {
    const skipped = await agent.ask({ prompt: "Will you skip this question here?", timeout_seconds: 600 });
    const reported = await agent.ask({ prompt: "What is your bank card's number?", timeout_seconds: 3600 });
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.getByRole("heading", { level: 1, name: "Will you skip this" }).waitFor();
    await ana.page.getByRole("button", { name: "Skip" }).tap();

    await ana.page.getByRole("heading", { level: 1, name: "bank card" }).waitFor();
    await ana.page.getByRole("button", { name: "Report" }).tap();
    const dialog = ana.page.getByRole("dialog", { name: "Report this question" });
    await dialog.getByText("Asks for personal data").tap();
    await dialog.getByRole("button", { name: "Report" }).tap();

    await ana.page.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();
    await ana.page.reload();
    await ana.page.getByRole("heading", { name: "Nothing to answer right now" }).waitFor();
    for (const { question_id } of [skipped, reported]) await agent.cancel(question_id);
  });

  it("counts what was earned, and moves it to another device with a code", async () => {
    const { question_id: id } = await agent.ask({
      prompt: "Is earning points any fun at all?",
      options: ["Yes", "No"],
    });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
    await ana.page.getByText("Yes", { exact: true }).tap();
    await ana.page.getByText("+5 points").waitFor();

    await ana.page.goto("/me");
    await ana.page.getByText("Points, 5 today").waitFor();
    await ana.page.getByText("First Steps").waitFor();
    await ana.page.getByRole("button", { name: "Make a code" }).tap();
    const code = await ana.page.getByRole("region", { name: "Your code" }).innerText();

    await using other = await visit(browser, served.url, { screen: "desk", path: "/me" });
    await other.page.getByText("Answer your first question").waitFor();
    await other.page.getByLabel("Use a code from another device").fill(code);
    await other.page.getByRole("button", { name: "Use it" }).click();
    await other.page.getByText("Points, 5 today").waitFor();
    await other.page.goto("/leaderboard");
    await other.page.getByRole("cell", { name: "You" }).waitFor();
    await agent.cancel(id);
  });

  it("forgets whoever asks to be erased", async () => {
    const { question_id: id } = await agent.ask({
      prompt: "Will you be forgotten after this?",
      options: ["Yes", "No"],
    });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
    await ana.page.getByText("Yes", { exact: true }).tap();
    await ana.page.getByText("+5 points").waitFor();

    await ana.page.goto("/me");
    await ana.page.getByRole("button", { name: "Erase me" }).tap();
    await ana.page.getByRole("button", { name: "Yes, erase me" }).tap();
    await ana.page.getByText("Answer your first question").waitFor();
    assert.equal((await agent.check(id)).current_responses, 1);
    await agent.cancel(id);
  });
});
