import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openAssignments, visitAssignments, type AssignmentWorld } from "./assignment-world.ts";
import { until } from "../support/contract.ts";
import { launchBrowser } from "./chromium.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name });
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name });

describe("the Assignments board, while nothing can start", () => {
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
  const waits = (id: string, prompt: string, ...dependencies: string[]) =>
    shop.give(id, prompt, { dependencies: ["never", ...dependencies] });

  it("shows tasks as they come and go, each with why it is where it is and what it builds on", async () => {
    await waits("card-1", "Add VAT to the export");
    await using admin = await visitAssignments(browser, shop, { screen: "phone" });
    const { page } = admin;
    await link(page, /Add VAT to the export/).waitFor();
    await page.getByText("never is not known yet", { exact: true }).waitFor();
    await waits("card-2", "Use it in the invoice", "card-1");
    await link(page, /Use it in the invoice/).waitFor();
    await link(page, "card-1 (blocked)").waitFor();
    await shop.planner("DELETE", "/assignment/tasks/card-1");
    await link(page, "card-1 (canceled)").waitFor();
    await heading(page, /^Done/).waitFor();
  });

  it("takes a new task, keeps what was begun of it, and opens it", async () => {
    await using admin = await visitAssignments(browser, shop, { screen: "phone" });
    const { page } = admin;
    await link(page, "New task").click();
    await page.getByLabel("What is to be done").fill("Write the release notes\n\nShort ones.");
    await page.reload();
    assert.equal(await page.getByLabel("What is to be done").inputValue(), "Write the release notes\n\nShort ones.");
    const drafts = await page.evaluate(() => Object.keys(localStorage).filter((key) => /^parley\.draft/.test(key)));
    assert.match(drafts.join(), /^parley\.draft-[^.,]+\.task$/, "the person's own, which goes with their session");
    await page.getByLabel("After").fill("card-2, card-2b");
    await page.getByLabel("Id").fill("notes/1 50% ü");
    await button(page, "Give it to the agent").click();
    await heading(page, "Write the release notes").waitFor();
    await page.getByRole("status").getByText("Blocked").waitFor();
    assert.equal(new URL(page.url()).pathname, "/console/assignments/shop/notes%2F1%2050%25%20%C3%BC");
    const { body } = await shop.planner("GET", "/assignment/tasks/notes%2F1%2050%25%20%C3%BC");
    assert.deepEqual(
      [body.prompt, body.dependencies],
      ["Write the release notes\n\nShort ones.", ["card-2", "card-2b"]],
    );
    await page.goto("/console/assignments/_new");
    assert.equal(await page.getByLabel("What is to be done").inputValue(), "");
  });

  it("says what the server declines, and keeps the words", async () => {
    await waits("loop-1", "One of two", "loop-2");
    await using admin = await visitAssignments(browser, shop, { screen: "desk" }, "/console/assignments/_new");
    const { page } = admin;
    await page.getByLabel("What is to be done").fill("Two of two");
    await page.getByLabel("After").fill("loop-1");
    await page.getByLabel("Id").fill("loop-2");
    await button(page, "Give it to the agent").click();
    await page.getByRole("alert").getByText("loop-2 depends on loop-1, loop-1 depends on loop-2").waitFor();
    assert.equal(await page.getByLabel("What is to be done").inputValue(), "Two of two");
  });

  it("cancels a task once it was confirmed, and does it again", async () => {
    await waits("card-4", "Rename the table");
    await using admin = await visitAssignments(browser, shop, { screen: "phone" }, "/console/assignments/shop/card-4");
    const { page } = admin;
    await button(page, "Cancel the task").click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the task" }).click();
    await page.getByRole("status").getByText("Canceled").waitFor();
    await page.getByText("canceled by operator", { exact: true }).waitFor();
    await page.getByRole("log").getByText("Canceled: canceled by operator").waitFor();
    await button(page, "Do it again").click();
    await page.getByRole("dialog").getByRole("button", { name: "Do it again" }).click();
    await page.getByRole("status").getByText("Blocked").waitFor();
  });

  it("holds its log still while it is paused, and shows no markup", async () => {
    await waits("card-5", "<img src=x onerror=alert(1)> **bold**");
    await using admin = await visitAssignments(browser, shop, { screen: "desk" }, "/console/assignments/shop/card-5");
    const { page } = admin;
    await heading(page, "<img src=x onerror=alert(1)> **bold**").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    const log = page.getByRole("log");
    await log.getByText("Blocked: never is not known yet").waitFor();
    await button(page, "Pause").click();
    await shop.planner("DELETE", "/assignment/tasks/card-5");
    await button(page, /^Go on \(1 new entry\)$/).waitFor();
    assert.equal(await log.getByRole("listitem").count(), 1);
    await button(page, /^Go on/).click();
    await log.getByText(/^Canceled/).waitFor();
  });

  it("is walked by keyboard", async () => {
    await using admin = await visitAssignments(browser, shop, { screen: "desk" });
    const { page } = admin;
    await link(page, /Use it in the invoice/).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    const focused = page.locator("[data-row]:focus");
    await focused.waitFor();
    const href = await focused.getAttribute("href");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === href);
    await page.goto("/console/assignments");
    await heading(page, "Assignments").waitFor();
    await page.keyboard.press("n");
    await heading(page, "New task").waitFor();
  });

  it("is for admins, and says when there is nothing of the kind", async () => {
    await using admin = await visitAssignments(browser, shop, { screen: "desk" }, "/console/assignments/shop/nothing");
    await heading(admin.page, "There is nothing here").waitFor();
    await admin.page.goto("/console/assignments/nowhere");
    await heading(admin.page, "There is nothing here").waitFor();
    const reply = await shop.world.call("GET", "/admin/assignments");
    assert.equal(reply.status, 401);
  });
});

describe("the Assignments board on a machine without a sandbox", () => {
  let shop: AssignmentWorld;
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), "parley-no-bwrap-"));
  const path = process.env["PATH"];
  before(async () => {
    // The program exists and fails, as where user namespaces are not permitted.
    writeFileSync(join(folder, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    process.env["PATH"] = `${folder}:${path}`;
    shop = await openAssignments({ sandbox: "auto" });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await shop?.[Symbol.asyncDispose]();
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true });
  });

  it("says so on the board, at each task, and where one is given", async () => {
    await shop.give("card-1", "Add VAT to the export", { dependencies: ["never"] });
    await using admin = await visitAssignments(browser, shop, { screen: "phone" });
    const { page } = admin;
    const says = page.getByRole("note").getByText(/^No sandbox: bubblewrap is missing or not permitted\. .*your files/);
    // The board says it from the moment the server has tried the sandbox, which it does after it has begun to listen.
    await until(async () => {
      const { sandboxNotice } = await page.evaluate(
        async () => (await (await fetch("/admin/assignments")).json()) as { sandboxNotice: string | null },
      );
      return sandboxNotice !== null;
    });
    await page.reload();
    await says.waitFor();
    await link(page, /Add VAT/).click();
    await page.getByRole("log").waitFor();
    await says.waitFor();
    await page.goto("/console/assignments/_new");
    await says.waitFor();
  });
});
