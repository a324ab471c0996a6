import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { endSessions } from "../../src/access/end-sessions.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
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

  it("is still theirs after a link that works no more, and another's by one that does", async () => {
    const used = await ana.link();
    await using visitor = await ana.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await page.goto("about:blank");
    await page.goto(world.url + used);
    await page.getByText("Signed in as Ana Ruiz").waitFor();
    // The page stays, and its address changes alone.
    await page.goto(world.url + used);
    await page.getByText("This link does not work any more").waitFor();
    await page.goto(world.url);
    await page.getByRole("navigation").getByRole("link", { name: "Inbox" }).waitFor();
    const kept = await page.evaluate(() => localStorage.getItem("parley.person"));
    assert.equal(kept, ana.id);
    await page.getByRole("navigation").getByRole("link", { name: "Inbox" }).click();
    await page.getByText("Signed in as Ana Ruiz").waitFor();
    await page.goto(world.url + (await bo.link()));
    await page.getByText("Signed in as Bo Lind").waitFor();
  });

  it("says so once a session has been ended elsewhere, and keeps what was begun", async () => {
    const { ctx } = world.server;
    const asked = await askPeople(ctx, {
      audience: toPerson(ana.id),
      form: { kind: "reply", options: [] },
      title: "Which colour?",
      digest: null,
    });
    await using visitor = await ana.visit(browser, { screen: "desk", ask: asked });
    const { page } = visitor;
    await field(page).fill("Blue");
    await endSessions(ctx, ana.id, { kind: "server", id: "test" });
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("heading", { name: "Sign in to see your inbox" }).waitFor();
    await page.goto("about:blank");
    await page.goto(world.url + (await ana.link()));
    await page.getByText("Signed in as Ana Ruiz").waitFor();
    await page.goto(`${world.url}/inbox/${asked.id}`);
    await field(page).waitFor();
    assert.equal(await field(page).inputValue(), "Blue");
  });
});
