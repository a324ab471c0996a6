import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { readRequest, readDetails } from "../../src/requests/read/read-request.ts";
import { askPeople, leaf } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { launchBrowser, newProfile } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { visit } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const ADDRESS = "ana@example.com";

describe("a one-time link in a browser", () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await openInboxWorld();
    browser = await launchBrowser();
    await nameSomebody(world, "Ana Ruiz", { identities: [{ kind: "email", value: ADDRESS }] });
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  /** A call that went out by mail, and what stood in the message. */
  async function mailed(more: Parameters<typeof askPeople>[1] = {}) {
    const { ctx } = world.server;
    const ask = await askPeople(ctx, {
      audience: leaf({ via: "email", to: ADDRESS, informed: false, settings: {} }),
      ...more,
    });
    const [delivery] = (await readDetails(ctx, ask)).deliveries;
    const { link, code } = tokensOf(ctx, delivery?.id ?? assert.fail("nothing was planned"));
    return { id: ask.id, path: `/r/${link}`, code };
  }
  const read = async (id: string) => readRequest(world.server.ctx, id);
  const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

  it("decides for somebody without an account, and shows the outcome when it is used again", async () => {
    const { id, path, code } = await mailed();
    {
      await using ana = await visit(browser, world.url, { screen: "phone", path });
      await ana.page.getByRole("heading", { level: 1, name: /^Refund/ }).waitFor();
      await ana.page.getByText("issue_refund", { exact: true }).waitFor();
      await ana.page.getByRole("region", { name: "Value of amount" }).getByText("49.9").waitFor();
      await press(ana.page, "Continue");
      await ana.page.getByLabel("Approve").check();
      await ana.page.getByLabel("Comment").fill("Do it");
      await ana.page.waitForTimeout(1100);
      await press(ana.page, "Send");
      await ana.page.getByRole("alert").getByText("code").waitFor();
      assert.equal(await ana.page.getByLabel("Comment").inputValue(), "Do it");
      await ana.page.getByLabel("Code").fill(code);
      await press(ana.page, "Send");
      await ana.page.getByText("Approved by Ana Ruiz.").waitFor();
      assert.equal(ana.page.url(), world.url + path);
    }
    const { outcome } = await read(id);
    assert.deepEqual([outcome?.approved, outcome?.comment, outcome?.by?.via], [true, "Do it", "email"]);
    await using again = await visit(browser, world.url, { screen: "desk", path });
    await again.page.getByText("Approved by Ana Ruiz.").waitFor();
    assert.equal(await again.page.locator("form").count(), 0);
  });

  it("draws each argument as what it is, and its JSON at one press", async () => {
    const kwargs = {
      letter: "Dear Ms Roth,\nمرحبا بكم",
      lines: [{ article: "kettle", count: 1 }],
      page: "https://shop.example@evil.example/a",
      patch: "@@ -1 +1 @@\n-one\n+two\n",
      price_eur: 49.9,
      tags: ["<b>new</b>", "1"],
      when: "2026-11-23T12:00:00Z",
    };
    const { path } = await mailed(callOf("send", kwargs));
    await using ana = await visit(browser, world.url, { screen: "phone", path });
    const { page } = ana;
    const row = (name: string) =>
      page.locator("dl[aria-label=Arguments] > div", { has: page.locator("dt", { hasText: name }) });
    assert.equal(await page.getByRole("region", { name: "Text of letter" }).innerText(), kwargs.letter);
    const direction = await page
      .getByText("مرحبا")
      .first()
      .evaluate((line) => getComputedStyle(line).direction);
    assert.equal(direction, "rtl");
    assert.deepEqual(await row("patch").locator("[data-sign='+'], [data-sign='-']").allTextContents(), [
      "-one\n",
      "+two\n",
    ]);
    assert.deepEqual(await row("lines").getByRole("row").allInnerTexts(), ["article\tcount", "kettle\t1"]);
    assert.deepEqual(await row("tags").getByRole("listitem").allTextContents(), ["<b>new</b>", '"1"']);
    await row("price_eur").getByText("49.9 EUR").waitFor();
    await row("when").getByText("Monday, November 23, 2026").waitFor();
    const link = page.getByRole("link", { name: kwargs.page });
    assert.deepEqual([await link.getAttribute("href"), await link.getAttribute("rel")], [kwargs.page, "noreferrer"]);
    await page.getByText("Opens evil.example", { exact: true }).waitFor();

    for (const summary of await page.getByText("Raw", { exact: true }).all()) await summary.click();
    for (const [name, value] of Object.entries(kwargs)) {
      const raw = await page.getByRole("region", { name: `Value of ${name}` }).innerText();
      assert.deepEqual(JSON.parse(raw.replaceAll("\\n\n", "\\n")), value, name);
    }
    await assertAccessible(page, "a link");
    await assertMadeForThumbsAndLargeText(page);
  });

  it("says in words and with a sign why a call looks risky, and draws code and a diff, on a phone in both themes", async () => {
    const words = "I looked:\n\n```sql\nSELECT count(*) FROM orders;\n```\n\n```diff\n@@ -1 +1 @@\n-one\n+two\n```\n";
    const kwargs = { name: "orders", skip_backup: true };
    const { path } = await mailed({ ...callOf("delete_database", kwargs), words });
    for (const theme of ["light", "dark"] as const) {
      await using ana = await visit(browser, world.url, { screen: "phone", theme, path });
      const { page } = ana;
      await page.getByRole("heading", { level: 1, name: "Delete database orders, no backup" }).waitFor();
      const risk = page.getByRole("note", { name: "Risk" });
      assert.deepEqual(await risk.getByRole("listitem").allTextContents(), [
        "Something is lost: Delete database",
        "Forced, or without a safeguard: without backup",
      ]);
      const block = page.getByRole("region", { name: "Code" });
      assert.equal(await block.textContent(), "SELECT count(*) FROM orders;");
      const diff = page.getByRole("region", { name: "Diff" });
      assert.deepEqual(await diff.locator("span").allTextContents(), ["@@ -1 +1 @@\n", "-one\n", "+two\n"]);
      await assertAccessible(page, `a risky link, ${theme}`);
      await assertMadeForThumbsAndLargeText(page);
    }
  });

  it("works where no script may run", async () => {
    const { id, path, code } = await mailed();
    const context = await newProfile(browser, { baseURL: world.url, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(path);
    await press(page, "Continue");
    await page.getByRole("radio", { name: "Reject" }).check();
    await page.getByLabel("Code").fill(code);
    await page.waitForTimeout(1100);
    await press(page, "Send");
    await page.getByText("Rejected by Ana Ruiz.").waitFor();
    await context.close();
    assert.equal((await read(id)).outcome?.approved, false);
  });

  it("decides nothing for a robot that follows every link, fills every field and presses every button", async () => {
    const { id, path } = await mailed();
    const context = await newProfile(browser, { baseURL: world.url });
    const page = await context.newPage();
    await page.goto(path);
    for (let round = 0; round < 6; round += 1) {
      if ((await page.locator("form").count()) === 0) break;
      // A scanner fills in and submits everything at once, in the page and by requests of its own.
      const fillAndPress = page.evaluate(() => {
        for (const box of document.querySelectorAll<HTMLInputElement>("input[type=text], textarea")) box.value = "AAAA";
        for (const radio of document.querySelectorAll<HTMLInputElement>("input[type=radio]")) radio.checked = true;
        for (const form of document.querySelectorAll("form")) {
          form.noValidate = true;
          form.requestSubmit();
        }
      });
      await Promise.all([page.waitForEvent("load"), fillAndPress]);
      await context.request.get(page.url()).catch(() => null);
      await context.request.post(`${path}/open`, { form: {} });
      await context.request.post(`${path}/decide`, { form: { choice: "approve", code: "AAAA" } });
    }
    await context.close();
    assert.equal((await read(id)).state, "open");
  });

  it("tells nobody where somebody came from, and is in no log as it stands in the message", async () => {
    const { path } = await mailed();
    await using ana = await visit(browser, world.url, { screen: "phone", path });
    const sent: (string | null)[] = [];
    ana.page.on("request", async (request) => sent.push((await request.allHeaders())["referer"] ?? null));
    await press(ana.page, "Continue");
    await ana.page.getByLabel("Code").waitFor();
    assert.ok(sent.length > 0 && sent.every((referer) => referer === null), String(sent));
    const metrics = await world.call("GET", "/metrics");
    assert.match(metrics.text, /\/r\/:token/);
    assert.ok(!metrics.text.includes(path));
  });
});
