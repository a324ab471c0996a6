import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { readRequest } from "../../src/requests/read/read-request.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, toPerson, until } from "../support/addressed.ts";
import { fresh } from "../support/contract.ts";
import { callOf, nameSomebody, sharedInbox, type Named } from "./inbox-world.ts";
import type { Screen } from "./visitor.ts";

/** A script and not a hand, and a machine with other work. */
const LONGEST_MS = 15_000;

describe("the alike calls of an agent in the inbox", () => {
  const scene = sharedInbox();
  const ask = (to: Named, asker: string, args: object, { fn = "refund_order", seconds = 3600 } = {}) =>
    askPeople(scene().world.server.ctx, {
      ...callOf(fn, args),
      ref: fresh("call"),
      asker,
      audience: toPerson(to.id),
      timeoutSeconds: seconds,
    });
  const stateOf = async ({ id }: Request) => {
    const { state, outcome } = await readRequest(scene().world.server.ctx, id);
    return state === "open" ? "open" : outcome?.approved ? "approved" : "rejected";
  };
  /** Refunds of one agent, of which the one at `planted` is ten times as high. */
  const refunds = async (to: Named, count: number, planted: number): Promise<Request[]> => {
    const asker = `agent:${fresh("shop-bot")}`;
    const calls: Request[] = [];
    for (let at = 0; at < count; at += 1) {
      const amount = at === planted ? 400 : 20 + (at % 30);
      calls.push(await ask(to, asker, { order: `A-${1000 + at}`, amount, currency: "EUR" }, { seconds: 3600 + at }));
    }
    return calls;
  };
  const line = (page: Page, count: number) =>
    page.locator("[data-row]").filter({ hasText: new RegExp(`^${count} alike: Refund order`) });
  const row = (page: Page, order: string) => page.locator("[data-call]").filter({ hasText: order });

  for (const screen of ["phone", "desk"] as const satisfies Screen[]) {
    it(`are decided by three presses, 39 of 40, and the altered one waits, on a ${screen}`, async () => {
      const somebody = await nameSomebody(scene().world, fresh("Ana"));
      const calls = await refunds(somebody, 40, 17);
      await using visitor = await somebody.visit(scene().browser, { screen });
      const { page } = visitor;
      await line(page, 40).waitFor();
      const begunMs = performance.now();
      await line(page, 40).click();
      await page.getByRole("heading", { level: 1, name: "40 calls of refund_order" }).waitFor();
      await page.getByRole("button", { name: "Approve 39", exact: true }).click();
      await page.getByRole("dialog").locator("button[type=submit][aria-disabled=false]").click();
      await page.getByText("39 calls approved.").waitFor();
      const tookMs = performance.now() - begunMs;
      assert.ok(tookMs < LONGEST_MS, `${tookMs} ms`);
      const states = await Promise.all(calls.map(stateOf));
      assert.deepEqual(
        states.map((state, at) => (at === 17 ? state === "open" : state === "approved")),
        calls.map(() => true),
      );
      await row(page, "A-1017").getByText("Far from the others").waitFor();
      assert.equal(await row(page, "A-1017").getByRole("checkbox").isChecked(), false);
      assert.equal(await page.locator("[data-call]").count(), 1);
    });
  }

  it("say above the table what is the same in each, and mark what differs where it stands", async () => {
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    await refunds(somebody, 6, 3);
    await using visitor = await somebody.visit(scene().browser, { screen: "desk" });
    const { page } = visitor;
    await page.getByRole("heading", { level: 1, name: "6 calls of refund_order" }).waitFor();
    const same = page.getByRole("main").locator("dl").first();
    assert.match(await same.innerText(), /currency\s+.*EUR/);
    assert.deepEqual(await page.getByRole("columnheader").allInnerTexts(), ["Call", "amount", "order"]);
    await page.getByText("5 of 6 ticked").waitFor();
    await page.getByText("1 call stands out or has a high risk: not ticked.").waitFor();
  });

  it("tick none of high risk, and approve one of these only by a long press", async () => {
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    const asker = `agent:${fresh("disks")}`;
    const calls: Request[] = [];
    for (const disk of ["a", "b", "c"]) calls.push(await ask(somebody, asker, { disk }, { fn: "wipe_disk" }));
    await using visitor = await somebody.visit(scene().browser, { screen: "desk" });
    const { page } = visitor;
    await page.getByText("0 of 3 ticked").waitFor();
    const reject = page.getByRole("button", { name: "Reject 0", exact: true });
    assert.equal(await reject.getAttribute("aria-disabled"), "true");
    await page.getByRole("checkbox", { name: "All but those of high risk" }).click();
    await page.getByText("0 of 3 ticked").waitFor();
    for (const tick of (await page.locator("[data-call]").getByRole("checkbox").all()).slice(0, 2)) await tick.check();
    await page.getByRole("button", { name: "Approve 2", exact: true }).click();
    await page.getByText("2 of them stand out:").waitFor();
    const hold = page.getByRole("dialog").getByRole("button", { name: "Hold: Approve 2" });
    await hold.and(page.locator("[aria-disabled=false]")).waitFor();
    await hold.click();
    assert.deepEqual(await Promise.all(calls.map(stateOf)), ["open", "open", "open"]);
    await page.getByRole("textbox", { name: "Or type wipe_disk" }).fill("wipe_disk");
    await page.getByRole("dialog").locator("button[type=submit]").click();
    await page.getByText("2 calls approved.").waitFor();
    const states = await Promise.all(calls.map(stateOf));
    assert.deepEqual(states.toSorted(), ["approved", "approved", "open"]);
  });

  it("stay as they are while new ones come in, and while others decide some of them", async () => {
    const { ctx } = scene().world.server;
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    const calls = await refunds(somebody, 4, -1);
    const [first, second] = calls as [Request, Request];
    await using visitor = await somebody.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    await line(page, 4).tap();
    await page.getByText("4 of 4 ticked").waitFor();
    await row(page, "A-1001").getByRole("checkbox").uncheck();
    const late = await ask(somebody, first.asker, { order: "A-1099", amount: 25, currency: "EUR" });
    await page.getByRole("button", { name: "1 new", exact: true }).waitFor();
    await page.getByText("3 of 4 ticked").waitFor();
    const responder = await responderOf(ctx.db, somebody.id, "web");
    const decision = { kind: "reject", comment: "by mail" } as const;
    await decideRequest(ctx, { requestId: first.id, responder, decision });
    await row(page, "A-1000").getByText("Decided elsewhere, or over").waitFor();
    await page.getByRole("button", { name: "Reject 2", exact: true }).click();
    const reason = page.getByRole("textbox", { name: "Reason (optional)" });
    await reason.fill("not now");
    await page.getByRole("dialog").locator("button[type=submit][aria-disabled=false]").click();
    await page.getByText("2 calls rejected.").waitFor();
    assert.deepEqual(await Promise.all([...calls, late].map(stateOf)), [
      "rejected",
      "open",
      "rejected",
      "rejected",
      "open",
    ]);
    assert.equal((await readRequest(ctx, calls[2]?.id ?? "")).outcome?.comment, "not now");
    assert.equal(await row(page, "A-1001").getByRole("checkbox").isChecked(), false);
    assert.equal(await stateOf(second), "open");
  });

  it("keep their ticks while a card is open, and tick nothing because of what comes in", async () => {
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    const [first] = (await refunds(somebody, 6, 3)) as [Request];
    await using visitor = await somebody.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    await line(page, 6).tap();
    await page.getByText("5 of 6 ticked").waitFor();
    await row(page, "A-1001").getByRole("checkbox").uncheck();
    await row(page, "A-1001").getByRole("link").tap();
    await page.getByRole("heading", { level: 1, name: "Refund order" }).waitFor();
    await page.goBack();
    await page.getByText("4 of 6 ticked").waitFor();
    assert.equal(await row(page, "A-1001").getByRole("checkbox").isChecked(), false);
    for (const at of [1, 2, 3, 4]) {
      await ask(somebody, first.asker, { order: `A-109${at}`, amount: 400 + at, currency: "EUR" });
    }
    await page.getByRole("button", { name: "4 new", exact: true }).tap();
    await row(page, "A-1094").waitFor();
    assert.equal(await row(page, "A-1003").getByRole("checkbox").isChecked(), false);
    assert.equal(await row(page, "A-1001").getByRole("checkbox").isChecked(), false);
    assert.equal(await row(page, "A-1002").getByRole("checkbox").isChecked(), true);
  });

  it("of which more wait than a table has are followed by the rest", async () => {
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    await refunds(somebody, 203, -1);
    await using visitor = await somebody.visit(scene().browser, { screen: "desk" });
    const { page } = visitor;
    await page.getByText("200 of 200 ticked").waitFor();
    await page.getByRole("button", { name: "Reject 200", exact: true }).click();
    await page.getByRole("dialog").locator("button[type=submit][aria-disabled=false]").click();
    await page.getByText("3 of 3 ticked").waitFor();
    assert.equal(await page.locator("[data-call]").count(), 3);
  });

  it("are decided by keys alone, and the next line opens", async () => {
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    const calls = await refunds(somebody, 3, -1);
    const other = await ask(somebody, `agent:${fresh("bot")}`, { disk: 1 }, { fn: "mount_disk", seconds: 7200 });
    await using visitor = await somebody.visit(scene().browser, { screen: "desk" });
    const { page } = visitor;
    await page.getByText("3 of 3 ticked").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("2 of 3 ticked").waitFor();
    await page.keyboard.press("x");
    await page.locator("[aria-keyshortcuts=a]").waitFor();
    await page.keyboard.press("a");
    await page.getByRole("dialog").locator("button[type=submit][aria-disabled=false]").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Mount disk" }).waitFor();
    await until(async () => (await Promise.all(calls.map(stateOf))).every((state) => state === "approved"));
    assert.equal(await stateOf(other), "open");
  });

  it("are read one by one where somebody searches", async () => {
    const somebody = await nameSomebody(scene().world, fresh("Ana"));
    await refunds(somebody, 3, -1);
    await using visitor = await somebody.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    await page.getByRole("searchbox").fill("A-100");
    await page.locator("[data-row]").nth(2).waitFor();
    assert.equal(await line(page, 3).count(), 0);
  });
});
