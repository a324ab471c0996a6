import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const SMALL_AND_USUAL = [
  { width: 320, height: 568 },
  { width: 390, height: 844 },
];
const long = Array.from({ length: 80 }, (_, i) => `Clause ${i} of a contract that nobody reads`).join("\n");
const TAGS = ["@new", "@kitchen"];
const ARGUMENTS = {
  amount: 49.9,
  currency: "EUR",
  letter: "Dear Ms Roth,\n\nyour kettle is on its way.\nمرحبا بكم",
  lines: [
    { article: "kettle", count: 1 },
    { article: "cup", count: 6 },
  ],
  page: "https://shop.example@evil.example/a",
  patch: "--- a/shop.ts\n+++ b/shop.ts\n@@ -1,2 +1,2 @@\n-const price = 1;\n+const price = 2;\n sell(price);\n",
  tags: TAGS,
  then: "javascript:alert(1)",
  when: "2026-11-23T12:00:00Z",
};

describe("the card of a call", () => {
  const scene = sharedInbox();
  const ask = (fn: string, kwargs: unknown, more: Parameters<typeof callOf>[2] = {}) =>
    askPeople(scene().world.server.ctx, {
      audience: toPerson(scene().ana.id),
      words: long,
      ...callOf(fn, kwargs, more),
    });

  it("begins with the sentence of the call, above its arguments", async () => {
    const made = await ask("refund", { amount: 240, currency: "EUR", order: "A-1018" });
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const header = visitor.page.getByRole("article").locator("header");
    await header.getByText("Refund 240 EUR, order A-1018").waitFor();
  });

  it("has Reject, Edit and Approve in sight on every phone, wherever the card is scrolled", async () => {
    const made = await ask("sign", { to: "Bo", one: long, two: long }, { editable: true });
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await page.locator('[aria-keyshortcuts="r"]').waitFor();
    for (const size of SMALL_AND_USUAL) {
      await page.setViewportSize(size);
      for (const share of [0, 0.5, 1]) {
        await page.evaluate((part) => scrollTo(0, document.documentElement.scrollHeight * part), share);
        assert.deepEqual(await outOfReach(page, ["Reject", "Edit", "Approve"]), [], `${size.width}, ${share}`);
      }
      const [last, bar] = await page.evaluate(() => [
        document.querySelector("article details")?.getBoundingClientRect().bottom ?? Infinity,
        document.querySelector("article button[aria-keyshortcuts=r]")?.getBoundingClientRect().top ?? 0,
      ]);
      assert.ok((last ?? 0) <= (bar ?? 0), "the end of the card is not covered");
    }
  });

  it("leads from Edit to the arguments, above the bar", async () => {
    const made = await ask("sign", { to: "Bo", one: long }, { editable: true });
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await page.getByRole("button", { name: "Edit", exact: true }).tap();
    const box = page.getByLabel("Arguments as JSON");
    await box.fill('{"to":"Cy"}');
    assert.equal(await box.evaluate((field) => field === document.activeElement), true);
    await page.getByRole("button", { name: "Approve with changes" }).waitFor();
    for (const size of SMALL_AND_USUAL) {
      await page.setViewportSize(size);
      assert.deepEqual(await outOfReach(page, ["Reject", "Edit", "Approve with changes"]), []);
    }
  });

  it("draws each argument as what it is, and its JSON at one press", async () => {
    const made = await ask("send", ARGUMENTS);
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    const value = (name: string) => page.getByRole("region", { name: `Value of ${name}`, exact: true });
    const row = (name: string) => page.locator("dl[aria-label=Arguments] > div", { has: page.getByText(name) });

    const signs = await value("patch").locator("[data-sign='+'], [data-sign='-']").allInnerTexts();
    assert.deepEqual(signs, ["-const price = 1;\n", "+const price = 2;\n"]);
    const family = await row("letter")
      .locator("dd div")
      .evaluate((box) => getComputedStyle(box).fontFamily);
    assert.match(family, /^"IBM Plex Mono"/);
    const colours = await value("patch").evaluate((box) =>
      ["+", "-", " "].map(
        (sign) => getComputedStyle(box.querySelector(`[data-sign="${sign}"]`) ?? box).backgroundColor,
      ),
    );
    assert.equal(new Set(colours).size, 3);
    assert.deepEqual(await value("lines").getByRole("row").allInnerTexts(), ["article\tcount", "kettle\t1", "cup\t6"]);
    assert.deepEqual(await page.getByRole("listitem").filter({ hasText: "@" }).allInnerTexts(), TAGS);
    await row("amount").getByText("€49.90").waitFor();
    await row("amount").getByText("49.9", { exact: true }).waitFor();
    await row("when").getByText("23 Nov 2026").waitFor();
    await row("when").getByText(ARGUMENTS.when).waitFor();
    assert.equal(await row("letter").getByText("مرحبا").getAttribute("dir"), "auto");
    const direction = await row("letter")
      .getByText("مرحبا")
      .evaluate((line) => getComputedStyle(line).direction);
    assert.equal(direction, "rtl");

    const link = page.getByRole("link", { name: ARGUMENTS.page });
    assert.deepEqual(
      [await link.getAttribute("href"), await link.getAttribute("rel"), await link.getAttribute("target")],
      [ARGUMENTS.page, "noreferrer", "_blank"],
    );
    await page.getByText("Opens evil.example", { exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "javascript" }).count(), 0);

    await assertAccessible(page, "drawn");
    await page.getByRole("button", { name: "Raw" }).tap();
    await page.getByRole("button", { name: "Raw", pressed: true }).waitFor();
    const raw = await page.locator("dl[aria-label=Arguments] pre").allInnerTexts();
    const names = await page.locator("dl[aria-label=Arguments] dt").allInnerTexts();
    const shown = names.map((name, at) => [name, JSON.parse((raw[at] ?? "").replaceAll("\\n\n", "\\n")) as unknown]);
    assert.deepEqual(Object.fromEntries(shown), ARGUMENTS);
    await assertAccessible(page, "raw");
    await assertMadeForThumbsAndLargeText(page);
  });

  it("sets a block of code in the agent's words as code, in a question and beside a call", async () => {
    const code = `SELECT  ${"x, ".repeat(100)}y\n  FROM t;`;
    const words = `May I run this?\n\n\`\`\`sql\n${code}\n\`\`\`\n\nIt is old.`;
    const form = { kind: "reply" as const, options: [] };
    const audience = toPerson(scene().ana.id);
    const { ctx } = scene().world.server;
    const question = await askPeople(ctx, { audience, title: "May I run this?", words, digest: null, form });
    const call = await askPeople(ctx, { audience, words, ...callOf("run_query", {}) });
    for (const made of [question, call]) {
      await using visitor = await scene().visit({ screen: "phone", ask: made });
      const { page } = visitor;
      const block = page.locator("article pre");
      assert.equal(await block.innerText(), code);
      const family = await block.evaluate((box) => getComputedStyle(box.firstElementChild ?? box).fontFamily);
      assert.match(family, /^"IBM Plex Mono", .*monospace$/);
      const loaded = await page.evaluate(async () => {
        const faces = [...(await document.fonts.ready)];
        return faces.filter(({ status }) => status === "loaded").map((face) => face.family);
      });
      assert.ok(
        loaded.some((name) => name.includes("IBM Plex Mono")),
        loaded.join(),
      );
      assert.equal(await page.getByText("```").count(), 0);
      await page.getByText("It is old.", { exact: true }).waitFor();
      await page.setViewportSize({ width: 320, height: 568 });
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        "no line leaves the screen",
      );
      await assertAccessible(page, "code");
    }
  });
});

/** Those buttons of the card that are not wholly in sight, or that a press at their middle would miss. */
async function outOfReach(page: Page, names: string[]): Promise<string[]> {
  return page.evaluate((wanted) => {
    const buttons = [...document.querySelectorAll("article button")];
    return wanted.filter((name) => {
      const button = buttons.find((one) => one.textContent === name);
      if (!button) return true;
      const { left, right, top, bottom } = button.getBoundingClientRect();
      const met = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const isWhole = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
      return !isWhole || met?.closest("button") !== button;
    });
  }, names);
}
