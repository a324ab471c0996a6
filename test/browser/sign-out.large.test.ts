import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { type Named, nameSomebody, openInboxWorld } from "./inbox-world.ts";

describe("a browser that several people use, one after the other", () => {
  let world: World;
  let browser: Browser;
  let ana: Named;
  let bo: Named;
  before(async () => {
    world = await openInboxWorld();
    browser = await launchBrowser();
    [ana, bo] = [await nameSomebody(world, "Ana Ruiz"), await nameSomebody(world, "Bo Lind")];
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  const field = (page: Page) => page.getByLabel("Your answer");
  const become = async (page: Page, who: Named): Promise<void> => {
    // Only a page that is loaded anew reads the address.
    await page.goto("about:blank");
    await page.goto(world.url + (await who.link()));
    await page.getByText(`Signed in as ${who.name}`).waitFor();
  };
  const write = async (page: Page, path: string, words: string): Promise<void> => {
    await page.goto(world.url + path);
    await field(page).fill(words);
  };

  it("keeps a draft for whoever wrote it, and asks before it is discarded with the session", async () => {
    const { id } = await world.agent("bot").ask({ prompt: "Who shall lead the team?", type: "text" });
    const path = `/q/${id}`;
    await using visitor = await ana.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await write(page, path, "Not Bo");

    await become(page, bo);
    await page.goto(world.url + path);
    await field(page).waitFor();
    assert.equal(await field(page).inputValue(), "");

    await become(page, ana);
    await page.goto(world.url + path);
    await field(page).waitFor();
    assert.equal(await field(page).inputValue(), "Not Bo");

    await page.goto(`${world.url}/inbox`);
    await page.getByRole("button", { name: "Sign out" }).click();
    const dialog = page.getByRole("dialog", { name: "Before you sign out" });
    await dialog.getByText("1 draft is not finished, and will be discarded.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Signed in as Ana Ruiz").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await dialog.getByRole("button", { name: "Discard and sign out" }).click();
    await page.getByText("Signed in as Ana Ruiz").waitFor({ state: "detached" });
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.doesNotMatch(kept, /Not Bo/);
    await become(page, ana);
    await page.goto(world.url + path);
    await field(page).waitFor();
    assert.equal(await field(page).inputValue(), "");
  });

  it("sends what was written before it is signed out, if that is wished", async () => {
    const { id } = await world.agent("bot").ask({ prompt: "Who shall lead the team?", type: "text" });
    await using visitor = await bo.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await write(page, `/q/${id}`, "Ana");
    let isDown = true;
    await page.route("**/human/responses", (route) => (isDown ? route.abort() : route.continue()));
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("heading", { name: "Written, not sent yet" }).waitFor();
    await page.goto(`${world.url}/inbox`);
    await page.getByRole("button", { name: "Sign out" }).click();
    const dialog = page.getByRole("dialog", { name: "Before you sign out" });
    await dialog.getByText("1 answer was not sent.").waitFor();
    await dialog.getByRole("button", { name: "Send, then sign out" }).click();
    await dialog.getByText("Not everything could be sent. You are still signed in.").waitFor();
    isDown = false;
    await dialog.getByRole("button", { name: "Send, then sign out" }).click();
    await page.getByText("Signed in as Bo Lind").waitFor({ state: "detached" });
    const { body } = await world.agent("bot").poll(id, "?expand=meta");
    assert.deepEqual(
      body.responses.map(({ answer, tier }: { answer: string; tier: string }) => [answer, tier]),
      [["Ana", "named"]],
    );
  });
});
