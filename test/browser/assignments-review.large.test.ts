import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openAssignments, visitAssignments, type AssignmentWorld } from "./assignment-world.ts";
import { launchBrowser } from "./chromium.ts";
import { pressKey } from "./visitor.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name });
const dialog = (page: Page) => page.getByRole("dialog");
const state = (page: Page, name: string) => page.getByRole("status").getByText(name, { exact: true });

const EXPORT = `export function exportOrders(orders) {
  return orders.map((order) => ({
    id: order.id,
    total: order.total,
    vat: order.total * 0.19,
  }));
}
`;
/** A decision must take longer than this. A faster one is taken for a machine's. */
const READING_MS = 1100;

describe("the work of a coding agent", () => {
  let shop: AssignmentWorld;
  let browser: Browser;
  before(async () => {
    shop = await openAssignments();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await shop?.[Symbol.asyncDispose]();
  });

  it("waits for a person's leave, on a phone, and goes on when it has it", async () => {
    await shop.give("migrate", "Migrate the orders", {
      does: [{ say: "I begin." }, { run: "echo moved > moved.txt" }],
    });
    await using admin = await visitAssignments(browser, shop, { screen: "phone" });
    const { page } = admin;
    await page.getByRole("heading", { name: /^Waiting for a person/ }).waitFor();
    await link(page, /Migrate the orders.*Run: echo moved > moved\.txt/).click();
    await state(page, "Waits for an answer").waitFor();
    await page.getByRole("log").getByText("I begin.").waitFor();
    await page.getByRole("log").getByText("Wants to use Bash: echo moved > moved.txt").waitFor();
    await link(page, "Answer in the inbox").click();
    await page.getByText("For task migrate in shop, by claude.").waitFor();
    await page.getByText(/^No sandbox: it runs with the files and the network/).waitFor();
    await page.getByRole("region", { name: "Wants to run" }).getByText("echo moved > moved.txt").waitFor();
    await button(page, "Approve").click();
    await page.waitForTimeout(READING_MS);
    await dialog(page).getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by you").first().waitFor();
    await page.goto("/console/assignments/shop/migrate");
    await state(page, "To be reviewed").waitFor();
    await page.getByRole("log").getByText("Allowed").waitFor();
    await page.getByRole("region", { name: "Changes of moved.txt" }).getByText("moved", { exact: true }).waitFor();
  });

  it("shows what a write would change, and hears why not", async () => {
    await shop.give("rules", "Note the rules", { does: [{ write: "AGENTS.md", text: "Be brief.\nBe kind.\n" }] });
    await shop.reaches("rules", "awaiting_answer");
    await using admin = await visitAssignments(browser, shop, { screen: "desk" }, "/console/assignments/shop/rules");
    const { page } = admin;
    await link(page, "Answer in the inbox").click();
    const change = page.getByRole("region", { name: "What would change" });
    await change.getByText("Be kind.").waitFor();
    await pressKey(page, "r");
    await dialog(page).getByLabel("Reason (optional)").fill("Put it into the README.");
    await page.waitForTimeout(READING_MS);
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await page.getByText("Rejected by you").first().waitFor();
    await page.goto("/console/assignments/shop/rules");
    await page
      .getByRole("log")
      .getByText(/Denied: .*Put it into the README\./)
      .waitFor();
    await state(page, "To be reviewed").waitFor();
    await page.getByText("Nothing changed", { exact: true }).first().waitFor();
  });

  it("is looked at line by line, goes back with comments, and is approved", async () => {
    await shop.give("vat", "Add VAT to the export", { does: [{ write: "src/export.ts", text: EXPORT }] });
    await shop.reaches("vat", "review");
    await using admin = await visitAssignments(browser, shop, { screen: "phone" }, "/console/assignments/shop/vat");
    const { page } = admin;
    const lines = page.getByRole("region", { name: "Changes of src/export.ts" });
    await lines.getByText("vat: order.total * 0.19,").click();
    assert.equal(await dialog(page).getByLabel("Line, after the change").inputValue(), "5");
    await dialog(page).getByLabel("Comment").fill("Round it, half to even.");
    await button(page, "Add the comment").click();
    await lines.getByText("Round it, half to even.").waitFor();
    await button(page, "Comment on a line src/export.ts").press("Enter");
    await dialog(page).getByLabel("Line, after the change").fill("3");
    await dialog(page).getByLabel("Comment").fill("Name the id order_id.");
    await dialog(page).getByLabel("Comment").press("Tab");
    await page.keyboard.press("Enter");
    await lines.getByText("Name the id order_id.").waitFor();
    await page.reload();
    await page.getByText("2 comments on lines go with it.").waitFor();
    await page.keyboard.press("c");
    await dialog(page).getByLabel("Comment (optional)").fill("Almost.");
    await dialog(page).getByRole("button", { name: "Request changes" }).click();
    await page.getByText("operator asked for changes").waitFor();
    await page.getByText("src/export.ts, line 5").waitFor();
    const { reviews } = await shop.read("vat");
    assert.deepEqual(
      [reviews[0].verdict, reviews[0].comment, reviews[0].comments],
      [
        "request_changes",
        "Almost.",
        [
          { path: "src/export.ts", line: 5, text: "Round it, half to even." },
          { path: "src/export.ts", line: 3, text: "Name the id order_id." },
        ],
      ],
    );
    await page.getByText("Attempt 2", { exact: true }).waitFor();
    await state(page, "To be reviewed").waitFor();
    await page.keyboard.press("a");
    await dialog(page).getByRole("button", { name: "Approve" }).click();
    await state(page, "Approved").waitFor();
    await lines.getByText("vat: order.total * 0.19,").waitFor();
    const { commit } = await shop.read("vat");
    assert.match(shop.git("show", "--format=%B", commit), /^Add VAT to the export[^]*vat: order\.total/);
  });

  it("is reviewed in the inbox too, with what it took", async () => {
    await shop.give("inbox", "Write it down", { does: [{ write: "NOTES.md", text: "Noted.\n" }] });
    await shop.reaches("inbox", "review");
    const { reviewUrl } = await shop.read("inbox");
    await using admin = await visitAssignments(browser, shop, { screen: "phone" }, new URL(reviewUrl).pathname);
    const { page } = admin;
    await page.getByRole("heading", { level: 1, name: "Review inbox: Write it down" }).waitFor();
    await page.getByRole("region", { name: "Changes of NOTES.md" }).getByText("Noted.").click();
    await dialog(page).getByLabel("Comment").fill("Say when.");
    await button(page, "Add the comment").click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page
      .getByText(/tokens in/)
      .first()
      .waitFor();
    await button(page, "Reject").click();
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await page.getByText("Answered by you").or(page.getByText("Answered by operator")).first().waitFor();
    const { state: after, reviews } = await shop.read("inbox");
    assert.deepEqual([after, reviews[0].comments], ["rejected", [{ path: "NOTES.md", line: 1, text: "Say when." }]]);
  });
});
