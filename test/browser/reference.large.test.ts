import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { serve, type Served } from "./served.ts";
import { visit } from "./visitor.ts";

const MOST_STEPS = 300;

describe("the API's reference page", () => {
  let served: Served;
  let browser: Browser;
  before(async () => {
    served = await serve();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await served[Symbol.asyncDispose]();
  });

  it("shows every route, asks nobody else for anything, and keeps to its policy", async () => {
    await using visitor = await visit(browser, served.url, { screen: "desk", path: "/docs" });
    const { page, context } = visitor;
    const asked: string[] = [];
    context.on("request", (request) => asked.push(request.url()));
    await page.reload();

    await page.getByRole("heading", { name: "Parley" }).waitFor();
    const paths = (await (await fetch(`${served.url}/openapi.json`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(paths.paths).flatMap((methods) => Object.keys(methods)).length;
    // The page draws an operation only when it is scrolled near.
    const shown = new Set<string>();
    for (let i = 0; i < MOST_STEPS && shown.size < operations; i += 1) {
      for (const id of await page.locator(".opblock").evaluateAll((all) => all.map(({ id }) => id))) shown.add(id);
      await page.mouse.wheel(0, 500);
      await page.waitForTimeout(50);
    }
    assert.equal(shown.size, operations);
    await page.evaluate(() => scrollTo(0, 0));

    await page.getByRole("button", { name: "post ​/agent​/questions", exact: true }).click();
    await page.getByText("Request body").waitFor();
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(served.url) && !url.startsWith("data:")),
      [],
    );
  });
});
