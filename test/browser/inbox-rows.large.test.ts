import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, endOn, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { row } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

const HOUR_S = 3600;

describe("the rows of the inbox", () => {
  const scene = sharedInbox();

  it("say what would run, who asks and how long there is, and mark what looks risky", async () => {
    const eva = await nameSomebody(scene().world, "Eva Stern");
    const asks = { audience: toPerson(eva.id), asker: "agent:ops" };
    const { ctx } = scene().world.server;
    const calls = [
      callOf("delete_database", { name: "orders", skip_backup: true }),
      callOf("page_someone", { who: "bo" }),
      callOf("Bash", { command: "rm -rf pots", description: "Tidies" }),
      callOf("Bash", { command: "potter on", description: "Brews" }),
      { ...callOf("log_in", { token: "hunter2", user: "bo" }), wire: { guarded: ["token"] } },
    ];
    // Each is due after the one before: what is due in the same millisecond stands in no order.
    for (const [i, call] of calls.entries()) {
      await askPeople(ctx, { ...asks, ...call, timeoutSeconds: HOUR_S * 5 + i });
    }
    const question = { title: "Which one?", digest: null, form: { kind: "reply" as const, options: [] } };
    await askPeople(ctx, { ...asks, ...question, timeoutSeconds: null });

    await using visitor = await eva.visit(scene().browser, { screen: "phone" });
    const rows = visitor.page.locator("[data-row]");
    await row(visitor.page, "Which one?").waitFor();
    const left = String.raw`.*(now|ago)\d.* left$`;
    for (const [i, expected] of [
      `^Delete database orders, no backupHigh riskopsApproval${left}`,
      `^Page someone, who boopsApproval${left}`,
      `^Run \`rm -rf pots\`High riskopsApproval${left}`,
      `^Run \`potter on\`Not judgedopsApproval${left}`,
      `^Log in boHigh riskopsApproval${left}`,
      "^Which one\\?opsQuestion.*(now|ago)No deadline$",
    ].entries()) {
      assert.match((await rows.nth(i).textContent()) ?? "", new RegExp(expected));
    }
  });

  it("show the time left in amber within the last hour and in red within five minutes, and are counted in the title", async () => {
    const ada = await nameSomebody(scene().world, "Ada Kern");
    const { ctx } = scene().world.server;
    const asks = { audience: toPerson(ada.id), asker: "agent:ops" };
    // Calls of one function would be one row.
    for (const [fn, order, timeoutSeconds] of [
      ["refund", "calm", HOUR_S * 5],
      ["ship", "soon", HOUR_S - 60],
      ["pay", "last", 290],
    ] as const) {
      await askPeople(ctx, { ...asks, ...callOf(fn, { order }), timeoutSeconds });
    }
    await using visitor = await ada.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    const colour = (order: string) =>
      row(page, `order ${order}`)
        .locator("time.time-left")
        .evaluate((time) => getComputedStyle(time).color);
    await row(page, "order calm").waitFor();
    const [calm, soon, last] = [await colour("calm"), await colour("soon"), await colour("last")];
    assert.equal(new Set([calm, soon, last]).size, 3, `${calm}, ${soon}, ${last}`);
    await assertAccessible(page, "an inbox with time running out");
    await page.waitForFunction(() => document.title.startsWith("(3) "));
    await row(page, "order last").click();
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await page.waitForFunction(() => /^\(3\) Pay/.test(document.title));
  });

  it("are 56 pixels high, and keep to the screen at 320 pixels and twice the size of letters", async () => {
    const ida = await nameSomebody(scene().world, "Ida Holm");
    const asks = { audience: toPerson(ida.id), asker: "agent:ops", timeoutSeconds: HOUR_S };
    const { ctx } = scene().world.server;
    await askPeople(ctx, { ...asks, ...callOf("deploy", { version: "1.8" }) });
    const long = { command: `rm -rf ${"x".repeat(500)}`, path: "/".repeat(500) };
    await askPeople(ctx, { ...asks, ...callOf(`${"delete_everything_".repeat(10)}now`, long) });

    await using visitor = await ida.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    await row(page, "Deploy").waitFor();
    assert.equal(await row(page, "Deploy").evaluate((link) => link.getBoundingClientRect().height), 56);
    await page.setViewportSize({ width: 320, height: 800 });
    for (const size of ["100%", "200%"]) {
      await page.evaluate((fontSize) => document.documentElement.style.setProperty("font-size", fontSize), size);
      const [wanted, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok((wanted ?? 0) <= (has ?? 0), `at ${size} the page is ${wanted} wide and the screen ${has}`);
      const cut = await page
        .locator("[data-row] > :last-child > *")
        .evaluateAll((facts) => facts.filter((fact) => fact.getBoundingClientRect().right > innerWidth).length);
      assert.equal(cut, 0, `at ${size} no fact of a row leaves the screen`);
    }
  });

  it("stay where they are while others come in, which wait behind a button that counts them", async () => {
    const una = await nameSomebody(scene().world, "Una Berg");
    const { ctx } = scene().world.server;
    const ask = (fn: string, timeoutSeconds: number) =>
      askPeople(ctx, { ...callOf(fn, {}), audience: toPerson(una.id), timeoutSeconds });
    await ask("first", HOUR_S * 3);
    const second = await ask("second", HOUR_S * 4);
    await using visitor = await una.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    const names = () => page.locator("[data-row] > :first-child").allTextContents();
    await row(page, "Second").waitFor();

    await ask("urgent", HOUR_S / 2);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    await ask("between", HOUR_S * 3.5);
    await page.getByRole("button", { name: "2 new" }).waitFor();
    await page.getByText("Waiting (4)").waitFor();
    assert.deepEqual(await names(), ["First", "Second"]);

    const responder = await responderOf(ctx.db, una.id, "slack");
    await decideRequest(ctx, { requestId: second.id, responder, decision: { kind: "reject" } });
    await row(page, "Second").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "2 new" }).tap();
    await row(page, "Between").waitFor();
    assert.deepEqual(await names(), ["Urgent", "First", "Between"]);
    await page.locator("[data-row]:focus > :first-child", { hasText: "Urgent" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "new" }).count(), 0);
  });

  it("stand where they were left when somebody comes back to them, decided ones aside", async () => {
    const ole = await nameSomebody(scene().world, "Ole Krog");
    for (let i = 1; i <= 40; i += 1) {
      const call = callOf(`step_${i}`, { number: i });
      await askPeople(scene().world.server.ctx, { ...call, audience: toPerson(ole.id), timeoutSeconds: HOUR_S + i });
    }
    await using visitor = await ole.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    /** Opens the row, and returns where the list stood at the press: Playwright may scroll before it presses. */
    const open = async () => {
      await page.evaluate(() => {
        const note = () => (document.body.dataset["pressedAt"] = String(Math.round(scrollY)));
        addEventListener("pointerdown", note, { capture: true, once: true });
      });
      await row(page, "Step 30 ").tap();
      return Number(await page.evaluate(() => document.body.dataset["pressedAt"]));
    };
    const isAt = (y: number) => page.waitForFunction((wanted) => Math.round(scrollY) === wanted, y);
    await row(page, "Step 30 ").scrollIntoViewIfNeeded();
    const before = await open();
    assert.ok(before > 500);
    await page.getByRole("heading", { level: 1, name: "Step 30" }).waitFor();
    await page.getByRole("link", { name: "Inbox" }).first().tap();
    await isAt(before);
    await page.locator("[data-row]:focus", { hasText: /^Step 30 / }).waitFor();

    const again = await open();
    await page.getByRole("button", { name: "Reject" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Reject" }).tap();
    await endOn(page, "Rejected by you").waitFor();
    await page.getByRole("link", { name: "Inbox" }).first().tap();
    await isAt(again);
    await row(page, "Step 30 ").waitFor({ state: "hidden" });
  });

  it("of what was decided are found by words, from the keyboard too", async () => {
    const pia = await nameSomebody(scene().world, "Pia Lund");
    const { ctx } = scene().world.server;
    const responder = await responderOf(ctx.db, pia.id, "slack");
    for (const [fn, comment] of [
      ["issue_refund", "Only after the return"],
      ["deploy_shop", "Not on a Friday"],
    ] as const) {
      const made = await askPeople(ctx, { ...callOf(fn, {}), audience: toPerson(pia.id) });
      await decideRequest(ctx, { requestId: made.id, responder, decision: { kind: "reject", comment } });
    }
    await using visitor = await pia.visit(scene().browser, { screen: "desk" });
    const { page } = visitor;
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await page.keyboard.press("/");
    const field = page.getByLabel("Search what was decided");
    await row(page, "Deploy shop").waitFor();
    await page.keyboard.type("friday lund");
    await row(page, "Refund").waitFor({ state: "hidden" });
    await row(page, "Deploy shop").waitFor();
    assert.equal(await field.inputValue(), "friday lund");
    await field.fill("friday refund");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await field.fill("");
    await row(page, "Refund").waitFor();
    await page.keyboard.press("?");
    assert.equal(await field.inputValue(), "?", "where somebody writes no key does anything else");
  });
});
