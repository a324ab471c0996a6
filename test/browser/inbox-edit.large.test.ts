import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { assertAccessible } from "./wcag.ts";

const KWARGS_SCHEMA = {
  type: "object",
  properties: {
    amount: {
      type: "number",
      title: "Amount in euro",
      description: "At most what was paid.",
      minimum: 1,
      maximum: 100,
    },
    speed: { type: "string", enum: ["slow", "fast"], title: "Speed" },
    notify: { type: "boolean", title: "Tell the customer" },
    to: { type: "string", title: "Receiver" },
  },
  required: ["amount", "to"],
};
const PROPOSED = { amount: 50, speed: "slow", notify: true, to: "Bo", trace: { id: 7 } };

const sheet = (page: Page) => page.getByRole("dialog");
const onOneLine = (words: string): string => words.replace(/\s+/g, " ");

describe("arguments that may be changed", () => {
  const scene = sharedInbox();
  const ask = (kwargs: unknown = PROPOSED) =>
    askPeople(scene().world.server.ctx, {
      audience: toPerson(scene().ana.id),
      ...callOf("refund", kwargs, { editable: true, kwargsSchema: KWARGS_SCHEMA }),
    });

  it("have the form of their schema, and say at a field what does not fit it", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await page.getByRole("button", { name: "Edit", exact: true }).tap();
    const amount = page.getByLabel("Amount in euro");
    const choice = page.locator("label").filter({ hasText: /^fast$/ });
    await page.getByText("At most what was paid.").waitFor();
    const display = await choice.evaluate((one) => getComputedStyle(one).display);
    assert.notEqual(display, "block", "a choice stands beside its mark");
    await amount.fill("500");
    await page.getByText("At most 100.").waitFor();
    assert.equal(await amount.getAttribute("aria-invalid"), "true");
    await assertAccessible(page, "form");
    const approve = page.getByRole("main").getByRole("button", { name: "Approve with changes" });
    assert.equal(await approve.getAttribute("aria-disabled"), "true");
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("a");
    assert.equal(await sheet(page).isVisible(), false);
    await amount.fill("40");
    await page.getByText("fast", { exact: true }).tap();
    assert.equal(await page.getByRole("textbox", { name: "trace" }).inputValue(), '{\n  "id": 7\n}');
    await page.getByRole("button", { name: "Write JSON instead" }).tap();
    const json = page.getByLabel("Arguments as JSON");
    assert.deepEqual(JSON.parse(await json.inputValue()), { ...PROPOSED, amount: 40, speed: "fast" });
    await page.getByRole("button", { name: "Use the form" }).tap();
    assert.equal(await amount.inputValue(), "40");
    await page.reload();
    assert.equal(await amount.inputValue(), "40", "what was begun is kept");
    await approve.tap();
    const changes = (within: ReturnType<typeof sheet>) =>
      within.locator("dl[aria-label=Changes] > div").allInnerTexts();
    await sheet(page).getByText("Refund amount 40").waitFor();
    const differ = ["amount 50 changed to 40", "speed slow changed to fast"];
    assert.deepEqual((await changes(sheet(page))).map(onOneLine), differ);
    await assertAccessible(page, "changes");
    await sheet(page)
      .getByRole("button", { name: "Approve with changes" })
      .and(page.locator("[aria-disabled=false]"))
      .tap();
    await page.getByText("Approved with changes by you").waitFor();
    assert.deepEqual((await changes(page.getByRole("main"))).map(onOneLine), differ);
    await page.getByRole("main").getByText("Refund amount 40").waitFor();
    const { outcome } = await readRequest(scene().world.server.ctx, made.id);
    assert.deepEqual(JSON.parse(outcome?.kwargs ?? ""), { ...PROPOSED, amount: 40, speed: "fast" });
    await page.goto("/inbox?state=over");
    await page.getByRole("link", { name: "Refund amount 40" }).waitFor();
  });

  it("stand beside their names in Arabic", async () => {
    const made = await ask({ ...PROPOSED, amount: -50 });
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    await page.evaluate(() => (document.documentElement.dir = "rtl"));
    for (const name of ["amount", "to", "notify"]) {
      const row = page.locator("article dl > div", {
        has: page.locator("dt bdi", { hasText: new RegExp(`^${name}$`) }),
      });
      const [nameAt, valueAt] = await row.first().evaluate((box) => {
        const range = document.createRange();
        const walk = document.createTreeWalker(box.querySelector("dd") ?? box, NodeFilter.SHOW_TEXT);
        range.selectNode(walk.nextNode() ?? box);
        const texts = [...range.getClientRects()].map(({ right }) => right);
        return [box.querySelector("bdi")?.getBoundingClientRect().right ?? 0, Math.max(...texts)];
      });
      assert.ok(Math.abs((nameAt ?? 0) - (valueAt ?? 0)) < 2, `${name} begins where its value does`);
    }
  });
});
