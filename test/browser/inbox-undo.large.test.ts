import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { Request } from "../../src/requests/model/request.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { until } from "../support/contract.ts";
import type { World } from "../support/world.ts";
import { callOf, endOn, nameSomebody, sharedInbox, type Named } from "./inbox-world.ts";
import { row, SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const bar = (page: Page) => page.locator("[data-undo]");
const undo = (page: Page) => bar(page).getByRole("button", { name: "Undo" });
const approve = async (page: Page) => {
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve", exact: true }).click();
};

const ask = ({ server: { ctx } }: World, who: Named, order: string, fn = "refund") =>
  askPeople(ctx, { audience: toPerson(who.id), ...callOf(fn, { order }), timeoutSeconds: 86_400 });
const approved = async ({ server: { ctx } }: World, { id }: Request) =>
  (await readRequest(ctx, id)).outcome?.approved ?? null;

describe("a decision that is pressed in the inbox", () => {
  const scene = sharedInbox({ PARLEY_INBOX_UNDO_SECONDS: "60" });

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`is undone from the next card, with what was written, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const [first] = [await ask(world, ana, "A-1"), await ask(world, ana, "A-2", "charge")];
      await using visitor = await ana.visit(browser, { screen, ask: first });
      const { page } = visitor;
      await page.getByRole("button", { name: "Approve", exact: true }).click();
      await page.getByRole("dialog").getByLabel("Comment (optional)").fill("Only this once");
      await page.getByRole("dialog").getByRole("button", { name: "Approve", exact: true }).click();

      await page.getByRole("heading", { level: 1, name: /A-2/ }).waitFor();
      await bar(page)
        .getByText(/^Approved by you: .*A-1/)
        .waitFor();
      await page.getByRole("link", { name: /^Approved by you: .*A-1/ }).waitFor();
      assert.equal(await approved(world, first), null);
      await assertAccessible(page, "a card below an undo");
      if (screen === "phone") {
        await assertMadeForThumbsAndLargeText(page);
        await undo(page).tap();
      } else await page.keyboard.press("u");

      await page.getByRole("heading", { level: 1, name: /A-1/ }).waitFor();
      await page.getByRole("button", { name: "Approve", exact: true }).click();
      assert.equal(await page.getByLabel("Comment (optional)").inputValue(), "Only this once");
      assert.equal(await bar(page).count(), 0);
      assert.equal(await approved(world, first), null);
    });

    it(`is undone on its own page, also after a reload, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const only = await ask(world, ana, "A-3");
      await using visitor = await ana.visit(browser, { screen, ask: only });
      const { page } = visitor;
      await approve(page);
      await undo(page).waitFor();
      await endOn(page, "Approved by you").waitFor();
      await page.reload();
      await endOn(page, "Approved by you").waitFor();
      await assertAccessible(page, "a decision that has not left");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
      await page.goto("/inbox");
      await row(page, "order A-3").waitFor();
    });
  }

  it("of many calls is undone at once", async () => {
    const { world, browser } = scene();
    const ana = await nameSomebody(world, "Ana Ruiz");
    const calls = [];
    for (const order of ["B-1", "B-2", "B-3", "B-4"]) calls.push(await ask(world, ana, order));
    await using visitor = await ana.visit(browser, { screen: "phone" });
    const { page } = visitor;
    await row(page, "4 alike").tap();
    await page.getByRole("button", { name: "Approve 4" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Approve 4" }).tap();
    await bar(page).getByText("4 calls approved.").waitFor();
    await undo(page).tap();
    await page.getByRole("heading", { level: 1, name: "4 calls of refund" }).waitFor();
    assert.deepEqual(await Promise.all(calls.map((one) => approved(world, one))), [null, null, null, null]);
  });

  it("is seen by others as being decided, and their rejection voids it", async () => {
    const { world, browser } = scene();
    const [ana, bo] = [await nameSomebody(world, "Ana Ruiz"), await nameSomebody(world, "Bo Lind")];
    const one = await askPeople(world.server.ctx, {
      ...callOf("refund", { order: "C-1" }),
      audience: { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) },
    });
    await using anas = await ana.visit(browser, { screen: "desk", ask: one });
    await using bos = await bo.visit(browser, { screen: "phone" });
    await approve(anas.page);
    await row(bos.page, "order C-1").getByText("Being decided").waitFor();
    await row(bos.page, "order C-1").tap();
    await bos.page.getByText("Ana Ruiz is deciding").waitFor();
    await bos.page.getByRole("button", { name: "Reject", exact: true }).tap();
    await bos.page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).tap();
    await endOn(bos.page, "Rejected by you").waitFor();
    // Hers does not count any more: she may decide again.
    await anas.page.getByText("Bo Lind is deciding").waitFor();
    await anas.page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  });

  it("of high risk says that it cannot be undone, and is made at once", async () => {
    const { world, browser } = scene();
    const ana = await nameSomebody(world, "Ana Ruiz");
    const grave = await askPeople(world.server.ctx, {
      audience: toPerson(ana.id),
      ...callOf("Bash", { command: "rm -rf /srv/data" }),
    });
    await using visitor = await ana.visit(browser, { screen: "desk", ask: grave });
    const { page } = visitor;
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("It cannot be undone.").waitFor();
    await page.getByLabel("Or type Bash").fill("Bash");
    await page.getByRole("dialog").getByRole("button", { name: "Approve", exact: true }).click();
    await endOn(page, "Approved by you").waitFor();
    assert.equal(await approved(world, grave), true);
    assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
  });
});

describe("a decision that nobody undoes", () => {
  const scene = sharedInbox({ PARLEY_INBOX_UNDO_SECONDS: "1" });

  it("leaves by itself, and its way back with it", async () => {
    const { world, browser } = scene();
    const ana = await nameSomebody(world, "Ana Ruiz");
    const one = await ask(world, ana, "D-1");
    await using visitor = await ana.visit(browser, { screen: "phone", ask: one });
    const { page } = visitor;
    await approve(page);
    await until(async () => ((await approved(world, one)) === true ? true : undefined));
    await page.getByText("It takes effect in a moment.").waitFor({ state: "detached" });
    await bar(page).waitFor({ state: "detached" });
    await endOn(page, "Approved by you").waitFor();
  });
});
