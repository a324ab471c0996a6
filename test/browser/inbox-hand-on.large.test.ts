import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { Audience } from "../../src/requests/model/request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { pressUntil, row, SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const handOn = (page: Page) => page.getByRole("button", { name: "Hand on", exact: true });

describe("a request that is handed on in the inbox", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`goes to a colleague with a note, and comes back, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const bo = await nameSomebody(world, "Bo Lind");
      const either: Audience = { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      // Each of another function: three alike would be one line.
      const ask = (order: string, timeoutSeconds: number | null) =>
        askPeople(world.server.ctx, { audience: either, ...callOf(`refund_${order}`, { order }), timeoutSeconds });
      await ask("B-0", 3000);
      const made = await ask("B-1", 86_400);
      await ask("B-2", null);
      await using first = await ana.visit(browser, { screen, ask: made });
      await using second = await bo.visit(browser, { screen });
      const { page } = first;
      await row(second.page, "order B-1").waitFor();
      if (screen === "phone") {
        await handOn(page).tap();
        await dialog(page).getByRole("radio", { name: "Bo Lind" }).waitFor();
        await assertMadeForThumbsAndLargeText(page);
      } else await pressUntil(page, "h", () => dialog(page).isVisible());
      await dialog(page).getByRole("radio", { name: "Bo Lind" }).check();
      await dialog(page).getByLabel("Note").fill("You know this customer.");
      await assertAccessible(page, "to whom it is handed");
      await dialog(page).getByRole("button", { name: "Hand on" }).click();

      // The next request opens, with a way back.
      await page.getByRole("heading", { level: 1, name: /B-2/ }).waitFor();
      await page.getByRole("link", { name: /^Handed on to Bo Lind.*B-1/ }).waitFor();
      await page.goto("/inbox");
      await row(page, "order B-2").waitFor();
      assert.equal(await row(page, "order B-1").count(), 0);

      // In Bo's list it stands first, although the other one is due sooner.
      const other = second.page;
      await other.getByRole("heading", { name: "Handed to you (1)" }).waitFor();
      const top = other.locator("[data-row]").first();
      await top.getByText("Ana Ruiz hands you this: You know this customer.").waitFor();
      await top.click();
      await other.getByRole("heading", { level: 1, name: /B-1/ }).waitFor();
      const back = other.getByRole("button", { name: "Hand back" });
      await back.waitFor();
      await assertAccessible(other, "a card that was handed to somebody");
      if (screen === "phone") await back.tap();
      else await back.click();
      await dialog(other).getByLabel("Note").fill("No, yours.");
      await dialog(other).getByRole("button", { name: "Hand back" }).click();
      await dialog(other).waitFor({ state: "hidden" });
      await page.goto("/inbox");
      await row(page, "order B-1").getByText("Bo Lind hands you this: No, yours.").waitFor();

      // It can be taken back where it was handed on.
      await other.goto(`/inbox/${made.id}`);
      await other.getByText("Handed on to Ana Ruiz: No, yours.").waitFor();
      await other.getByRole("button", { name: "Take back" }).click();
      await handOn(other).waitFor();
      await page.goto("/inbox");
      await row(page, "order B-1").waitFor();
      assert.equal(await row(page, "order B-1").getByText("hands you this").count(), 0);
    });
  }

  it("has receivers who can be searched where there are many", async () => {
    const { world, browser } = scene();
    const people = [];
    for (let i = 0; i < 10; i += 1) people.push(await nameSomebody(world, `Person ${String.fromCharCode(65 + i)}`));
    const [first] = people;
    const made = await askPeople(world.server.ctx, {
      audience: { kind: "any", of: people.map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) },
      ...callOf("refund", { order: "B-3" }),
    });
    await using visitor = await (first ?? assert.fail("nobody")).visit(browser, { screen: "desk", ask: made });
    const { page } = visitor;
    await handOn(page).click();
    await dialog(page).getByRole("radio").nth(8).waitFor();
    assert.equal(await dialog(page).getByRole("radio").count(), 9);
    await dialog(page).getByRole("searchbox").fill("person d");
    await dialog(page).getByRole("radio", { name: "Person D" }).check();
    assert.equal(await dialog(page).getByRole("radio").count(), 1);
  });
});
