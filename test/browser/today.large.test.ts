import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { decider } from "../support/deciders.ts";
import { OPERATOR } from "../support/identities.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { SCREENS, type Screen, visit } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const figure = (page: Page, name: string) =>
  page.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) });

describe("decisions by time, in the console", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`are numbers of which each opens the list that it counts, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const { ctx } = world.server;
      const operator = await decider(world, OPERATOR);
      const ask = (order: string) =>
        askPeople(ctx, {
          asker: `agent:today-${screen}`,
          audience: toPerson(OPERATOR),
          ...callOf("refund", { order: `${order}-${screen}` }),
          timeoutSeconds: 86_400,
        });
      await operator.decide((await ask("one")).id, { approved: true });
      await operator.decide((await ask("two")).id, { approved: false });
      await cancelRequest(ctx, (await ask("three")).id, { kind: "agent", id: `agent:today-${screen}` });
      await ask("four");

      const { code } = await createSignInLink(ctx, OPERATOR);
      await using visitor = await visit(browser, world.url, { screen, path: `/console#start=${code}` });
      const { page } = visitor;
      await page.getByRole("main").getByRole("link", { name: "Decisions", exact: true }).first().click();
      await page.getByRole("heading", { level: 1, name: "Decisions" }).waitFor();
      const people = figure(page, "People").getByRole("link").first();
      const count = Number(await people.textContent());
      assert.ok(count >= 2, `${count}`);
      assert.ok(Number(await figure(page, "Withdrawn").getByRole("link").first().textContent()) >= 1);
      await page.getByText("As a table").click();
      await assertAccessible(page, "decisions by time");
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);

      await people.click();
      await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
      await page.getByRole("status").getByText(`${count} rows.`).waitFor();
      const rows = page.locator("[data-activity] > li");
      assert.equal(await rows.count(), count);
      await rows
        .filter({ hasText: `today-${screen}` })
        .filter({ hasText: "rejected" })
        .waitFor();
      await assertAccessible(page, "the list of activity");
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
      await page.getByLabel("Decided by").selectOption("Withdrawn");
      await rows
        .filter({ hasText: `today-${screen}` })
        .filter({ hasText: "withdrawn" })
        .waitFor();
      await page.reload();
      await rows
        .filter({ hasText: `today-${screen}` })
        .filter({ hasText: "withdrawn" })
        .waitFor();
      await page.getByLabel("State").selectOption("Waiting");
      await page.getByLabel("Decided by").selectOption("All");
      await rows
        .filter({ hasText: `today-${screen}` })
        .first()
        .waitFor();
    });
  }
});
