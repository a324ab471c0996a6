import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ask } from "@parley/sdk/executor";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { type Served, serve } from "./served.ts";
import { row, visit } from "./visitor.ts";

describe("what executors ask the public, in a browser", () => {
  const directory = mkdtempSync(join(tmpdir(), "parley-public-"));
  let served: Served;
  let browser: Browser;
  before(async () => {
    const file = join(directory, "parley.yaml");
    writeFileSync(file, "relay: { people: { public: true } }\n");
    served = await serve({ PARLEY_CONFIG: file });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  const place = () => ({ url: served.url, job_id: "J-public", step_id: "S-1", meta: { audience: "public" } });

  it("is answered in the feed on a phone, and the executor's program goes on with it", async () => {
    const prompt = "Which of these two would you press?";
    const chosen = ask("CHOICE", prompt, { ...place(), choices: ["Send", "Submit"] });
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.page.getByRole("heading", { level: 1, name: prompt }).waitFor();
    await ana.page.getByText("Submit", { exact: true }).tap();
    await ana.page.getByText("+5 points").waitFor();
    const { text, json, source } = await chosen;
    assert.deepEqual([text, json, source], ["Submit", { choice: "Submit", index: 1 }, "person"]);
  });

  it("says why words do not fit, and takes them once they do", async () => {
    const prompt = "How many stops has line 7?";
    const schema = { type: "integer", minimum: 2 };
    const counted = ask("RESOURCE_FETCH", prompt, { ...place(), prompt_overrides: { output_schema: schema } });
    await using bo = await visit(browser, served.url, { screen: "phone" });
    await bo.page.getByRole("heading", { level: 1, name: prompt }).waitFor();
    await bo.page.getByText("Wanted: a whole number, at least 2.").waitFor();
    await bo.page.getByLabel("Your answer").fill("quite many");
    await bo.page.getByRole("button", { name: "Send" }).tap();
    await bo.page.getByText("Your answer was not taken").waitFor();
    await bo.page.getByText("answer does not fit what was asked for: must be a whole number, at least 2").waitFor();
    await bo.page.getByRole("button", { name: "Change and send again" }).tap();
    await bo.page.getByLabel("Your answer").fill("23");
    await bo.page.getByRole("button", { name: "Send" }).tap();
    await bo.page.getByText("+10 points").waitFor();
    assert.equal((await counted).json, 23);
  });

  it("shows the admin what was put to the public, and that the public answered", async () => {
    const prompt = "Is this name easy to say?";
    const answered = ask("CLARIFICATION", prompt, { ...place(), ask_id: "easy-to-say" });
    await using cy = await visit(browser, served.url, { screen: "desk" });
    await row(cy.page, prompt).click();
    await cy.page.getByLabel("Your answer").fill("Yes, it is.");
    await cy.page.keyboard.press("Enter");
    await cy.page.getByText("+10 points").waitFor();
    assert.equal((await answered).text, "Yes, it is.");

    await using boss = await visit(browser, served.url, { screen: "desk" });
    await boss.page.goto(await served.newStartLink());
    await boss.page.getByText("Signed in as operator (admin)").waitFor();
    await boss.page.goto("/console/asks/easy-to-say");
    await boss.page.getByText("Put to the public").waitFor();
    await boss.page.getByText("Answered by the public").first().waitFor();
  });
});
