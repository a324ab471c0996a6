import assert from "node:assert/strict";
import { it } from "node:test";
import { askPeople, toPerson } from "../support/addressed.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { smallTargets } from "./wcag.ts";

const TOKEN = `gh${"p_"}${"Zq7Xk2Lm".repeat(4)}0042`;

it("shows an argument that holds a secret once it is pressed for, and the others at once", async () => {
  await using world = await openInboxWorld();
  const ana = await nameSomebody(world, "Ana Ruiz");
  const ask = await askPeople(world.server.ctx, {
    audience: toPerson(ana.id),
    ...callOf("push", { repo: "shop", login: { token: TOKEN } }),
    wire: { guarded: ["login"] },
  });
  const browser = await launchBrowser();
  try {
    for (const screen of ["phone", "desk"] as const) {
      await using visitor = await ana.visit(browser, { screen, ask });
      const { page } = visitor;
      await page.getByText("shop", { exact: true }).waitFor();
      assert.equal(await page.getByText(TOKEN).isVisible(), false);
      assert.equal(await page.getByRole("button", { name: "Approve" }).isVisible(), true);
      assert.deepEqual(await smallTargets(page), []);
      await page.getByText("login holds a secret. Show it").click();
      await page.getByText(TOKEN).waitFor();
    }
  } finally {
    await browser.close();
  }
});
