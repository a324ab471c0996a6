import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import type { Browser, Page } from "playwright-core";
import * as answer from "../../web/src/answer/text.ts";
import * as answerAr from "../../web/src/answer/text.ar.ts";
import * as answerDe from "../../web/src/answer/text.de.ts";
import * as you from "../../web/src/answer/you/text.ts";
import * as youAr from "../../web/src/answer/you/text.ar.ts";
import * as youDe from "../../web/src/answer/you/text.de.ts";
import * as inbox from "../../web/src/inbox/text.ts";
import * as inboxAr from "../../web/src/inbox/text.ar.ts";
import * as inboxDe from "../../web/src/inbox/text.de.ts";
import * as shell from "../../web/src/text.ts";
import * as shellAr from "../../web/src/text.ar.ts";
import * as shellDe from "../../web/src/text.de.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, type Named, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { readyForOffline, visit, type Visitor } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

const ENGLISH = [shell.text, answer.text, you.text, inbox.text];
const LANGUAGES = [
  {
    language: "de",
    locale: "de-DE",
    direction: "ltr",
    shell: shellDe.text,
    answer: answerDe.text,
    you: youDe.text,
    inbox: inboxDe.text,
  },
  {
    language: "ar",
    locale: "ar-EG",
    direction: "rtl",
    shell: shellAr.text,
    answer: answerAr.text,
    you: youAr.text,
    inbox: inboxAr.text,
  },
] as const;
const WIDTHS = [320, 390];
const PROMPT = "Which name is clearer?";
const AMOUNT = { amount: 1249.5, currency: "EUR" };

/** Returns every word of three letters and more in tables of texts; what a count is put into is read with a three. */
function wordsOf(tables: readonly object[]): Set<string> {
  const said = (one: unknown): string => {
    if (typeof one === "string") return one;
    if (typeof one === "object" && one !== null) return Object.values(one).map(said).join(" ");
    try {
      return typeof one === "function" ? String((one as (...given: unknown[]) => unknown)(3, 3, 3)) : "";
    } catch {
      // It is about a thing that no number stands for.
      return "";
    }
  };
  return new Set(lettersOf(tables.map(said).join(" ")));
}

const lettersOf = (text: string): string[] => text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];

/** Returns what a page says itself, by text and by attribute: neither words of others nor a part in another language. */
const saidOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const OTHERS = "script, style, noscript, code, kbd, bdi, [dir=auto], body [dir=ltr], [lang]:not(html), svg";
    const isOwn = (element: Element | null): boolean => element !== null && element.closest(OTHERS) === null;
    const texts: string[] = [document.title];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (isOwn(walk.currentNode.parentElement)) texts.push(walk.currentNode.textContent ?? "");
    for (const element of document.querySelectorAll("[aria-label], [placeholder], [title]")) {
      for (const name of ["aria-label", "placeholder"]) texts.push(element.getAttribute(name) ?? "");
    }
    return texts.filter((one) => one.trim() !== "");
  });

for (const { language, locale, direction, ...own } of LANGUAGES) {
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

    const { shell, answer, you, inbox } = own;
    const known = wordsOf([shell, answer, you, inbox]);
    const foreign = new Set([...wordsOf(ENGLISH)].filter((word) => !known.has(word)));
    for (const name of ["parcel", "package", "ana", "ruiz"]) foreign.delete(name);

    /** Fails where the page has a text in English, is wider than the screen, or says it is in another language. */
    async function assertOwn(page: Page, where: string): Promise<void> {
      const left = (await saidOn(page)).filter((text) => lettersOf(text).some((word) => foreign.has(word)));
      assert.deepEqual(left, [], where);
      const { lang, dir, wide, has } = await page.evaluate(() => {
        const { lang, dir, scrollWidth, clientWidth } = document.documentElement;
        return { lang, dir, wide: scrollWidth, has: clientWidth };
      });
      assert.deepEqual([lang, dir], [language, direction]);
      assert.ok(wide <= has, `${where}: ${wide} pixels of content on a screen of ${has}`);
    }

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

      it(`approves a call by touch, and cancels where the first press was, at ${width} pixels`, async () => {
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
        const name = page.getByRole("heading", { level: 1, name: "orders.refund_order" });
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
        const cancel = dialog.getByRole("button", { name: shell.cancel });
        await cancel.waitFor();
        const cancels = (await cancel.boundingBox()) ?? assert.fail("no button");
        assert.equal(isOnRight(cancels, width), isOnRight(pressed, width), "a second press cancels");
        await assertOwn(page, "sheet");
        await dialog.getByRole("button", { name: inbox.approve, exact: true }).tap();
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
