import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Audience } from "../../src/requests/model/request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { row, SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

describe("a person who is away, in the app", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`names the day and a stand-in, and is back, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const bo = await nameSomebody(world, `Bo ${screen}`, { seesAll: true });
      const either: Audience = { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };
      const order = `A-${screen}`;
      await askPeople(world.server.ctx, { audience: either, ...callOf("refund", { order }), timeoutSeconds: 86_400 });
      await using first = await ana.visit(browser, { screen });
      await using second = await bo.visit(browser, { screen });
      const [{ page }, { page: other }] = [first, second];
      await row(other, order).waitFor();

      await page.goto("/me");
      const section = page.locator("#away");
      const day = new Date(Date.now() + 5 * 86_400_000);
      const two = (part: number) => String(part).padStart(2, "0");
      await section.getByLabel("Back on").fill(`${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`);
      await section.getByLabel("Stand-in").selectOption({ label: bo.name });
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
      await assertAccessible(page, "where one says that one is away");
      const save = section.getByRole("button", { name: "Save" });
      if (screen === "phone") await save.tap();
      else await save.click();
      await section.getByText(/^You are away until /).waitFor();
      await section.getByText(`${bo.name} stands in.`).waitFor();

      // It stands first in the stand-in's list by itself, and stays in Ana's.
      await other.getByRole("heading", { name: "Handed to you (1)" }).waitFor();
      const top = other.locator("[data-row]").first();
      await top.getByText(/^Ana Ruiz is away until /).waitFor();
      await assertAccessible(other, "the list of a stand-in");
      await top.click();
      await other.getByRole("heading", { level: 1, name: new RegExp(order) }).waitFor();
      await other
        .locator("main")
        .getByText(/^Ana Ruiz is away until /)
        .last()
        .waitFor();
      assert.equal(await other.getByRole("button", { name: "Hand back" }).count(), 0);
      await other.getByRole("button", { name: "Hand on", exact: true }).click();
      await other
        .getByRole("dialog")
        .getByText(/^away until /)
        .waitFor();

      await page.goto("/inbox");
      await row(page, order).waitFor();
      await page.getByText(/^You are away until /).waitFor();
      await assertAccessible(page, "the list of somebody who is away");
      const back = page.getByRole("button", { name: "I am back" });
      if (screen === "phone") await back.tap();
      else await back.click();
      await page.getByText(/^You are away until /).waitFor({ state: "detached" });
      await other.goto("/inbox");
      await row(other, order).waitFor();
      assert.equal(await other.getByText("is away until").count(), 0);
    });
  }
});
