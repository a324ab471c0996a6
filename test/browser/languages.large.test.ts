import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import type { Browser } from "playwright-core";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, type Named, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { LANGUAGES, ownWords } from "./own-words.ts";
import { readyForOffline, visit, type Visitor } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

const WIDTHS = [320, 390];
const PROMPT = "Which name is clearer?";
const AMOUNT = { amount: 1249.5, currency: "EUR" };

for (const one of LANGUAGES) {
  const { language, locale, shell, answer, you, inbox } = one;
  describe(`the web app in a browser that prefers ${locale}`, () => {
    let world: World;
    let browser: Browser;
    let ana: Named;
    let agent: Parley;
    before(async () => {
      world = await openInboxWorld();
      browser = await launchBrowser();
      ana = await nameSomebody(world, "Ana Ruiz");
      agent = new Parley({ url: world.url });
      await agent.ask({ prompt: PROMPT, options: ["Parcel", "Package"], min_responses: 9, timeout_seconds: 3000 });
    });
    after(async () => {
      await browser?.close();
      await world?.[Symbol.asyncDispose]();
    });

    const assertOwn = ownWords(one, [shell, answer, you, inbox], ["parcel", "package", "ana", "ruiz", "bot"]);

    async function come(width: number, path = "/"): Promise<Visitor> {
      const visitor = await visit(browser, world.url, { screen: "phone", locale, path, serviceWorkers: "block" });
      await visitor.page.setViewportSize({ width, height: 740 });
      return visitor;
    }

    for (const width of WIDTHS) {
      it(`answers the first question by touch, at ${width} pixels`, async () => {
        await using visitor = await come(width);
        const { page } = visitor;
        await page.getByRole("heading", { level: 1, name: PROMPT }).waitFor();
        await assertOwn(page, "question");
        await assertAccessible(page, "question");
        await page.getByRole("button", { name: "Parcel", exact: true }).tap();
        await page.getByText(answer.result.yours, { exact: true }).waitFor();
        await assertOwn(page, "result");
        const share = new Intl.NumberFormat(locale, { style: "percent" }).format(1);
        await page.getByText(share).waitFor();
        await page.getByRole("button", { name: new RegExp(shell.feed.title) }).tap();
        await page.getByRole("dialog").waitFor();
        await assertOwn(page, "list");
      });

      it(`approves a call by touch, in the place of the first press, at ${width} pixels`, async () => {
        const made = await askPeople(world.server.ctx, {
          audience: toPerson(ana.id),
          ...callOf("orders.refund_order", { ...AMOUNT, order: "A-1007" }),
        });
        await using visitor = await come(width, await ana.link());
        const { page } = visitor;
        await page.getByRole("heading", { name: inbox.title }).waitFor();
        await page.locator(`[data-row="${made.id}"]`).waitFor();
        await assertOwn(page, "inbox");
        await page.goto(`/inbox/${made.id}`);
        const name = page.getByRole("heading", { level: 1, name: "Refund order" });
        await name.waitFor();
        assert.equal(await name.evaluate((one) => getComputedStyle(one).direction), "ltr");
        const { amount, currency } = AMOUNT;
        const shown = await page.getByRole("main").innerText();
        const price = new Intl.NumberFormat(locale, { style: "currency", currency }).format(amount);
        assert.ok(plain(shown).includes(plain(price)), `${price} in ${shown}`);
        await assertOwn(page, "approval");
        await assertAccessible(page, "approval");

        const approve = page.getByRole("main").getByRole("button", { name: inbox.approve, exact: true });
        const pressed = (await approve.boundingBox()) ?? assert.fail("no button");
        await approve.tap();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("button", { name: shell.cancel }).waitFor();
        const decide = dialog.getByRole("button", { name: inbox.approve, exact: true });
        const decides = (await decide.boundingBox()) ?? assert.fail("no button");
        assert.equal(isOnRight(decides, width), isOnRight(pressed, width), "a second press decides");
        await assertOwn(page, "sheet");
        await decide.tap();
        await page.getByText(inbox.outcome({ kind: "approval", outcome: APPROVED }, inbox.who(null, true))).waitFor();
        await assertOwn(page, "outcome");
      });

      it(`shows one's own page, at ${width} pixels`, async () => {
        await using visitor = await come(width, "/me");
        const { page } = visitor;
        await page.getByRole("heading", { name: you.notifications.title }).waitFor();
        await assertOwn(page, "you");
        // The bar of tabs lies over nothing then.
        await page.setViewportSize({ width, height: 3000 });
        await assertAccessible(page, "you");
      });
    }

    it("follows the choice under You from then on, and comes without a network", async () => {
      await using visitor = await visit(browser, world.url, { screen: "phone", path: "/me" });
      const { page } = visitor;
      await page.getByRole("combobox", { name: "Language" }).selectOption(language);
      const title = page.getByRole("heading", { name: you.notifications.title });
      await title.waitFor();
      await assertOwn(page, "chosen");
      await readyForOffline(page);
      await visitor.context.setOffline(true);
      await page.reload();
      await page.getByRole("navigation", { name: shell.nav.label }).waitFor();
      await visitor.context.setOffline(false);
      await page.reload();
      await page.getByRole("combobox", { name: you.me.language }).selectOption("browser");
      await page.getByRole("heading", { name: "Notifications" }).waitFor();
      assert.equal(await page.locator("html").getAttribute("lang"), "en");
    });
  });
}

const APPROVED = { status: "decided", approved: true, edited: false } as never;
const isOnRight = ({ x, width }: { x: number; width: number }, screen: number): boolean => x + width / 2 > screen / 2;
/** Without the spaces and marks of direction, of which the page may have others. */
const plain = (text: string): string => text.replaceAll(/[\s\u200e\u200f\u061c\u2066-\u2069]/g, "");
