import assert from "node:assert/strict";
import { it } from "node:test";
import { askPeople, toPerson } from "../support/addressed.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { smallTargets } from "./wcag.ts";

const TOKEN = `gh${"p_"}${"Zq7Xk2Lm".repeat(4)}0042`;

it("masks a secret until it is pressed for, shows the rest at once, and approves nothing before", async () => {
  await using world = await openInboxWorld();
  const ana = await nameSomebody(world, "Ana Ruiz");
  const ask = await askPeople(world.server.ctx, {
    audience: toPerson(ana.id),
    ...callOf("push", { repo: "shop", login: { token: TOKEN } }),
    wire: { guarded: ["login"], masked: { login: '{"token":"[secret:github-token]"}' } },
  });
  const browser = await launchBrowser();
  try {
    for (const screen of ["phone", "desk"] as const) {
      await using visitor = await ana.visit(browser, { screen, ask });
      const { page } = visitor;
      await page.getByText("shop", { exact: true }).waitFor();
      assert.equal(await page.getByText(TOKEN).isVisible(), false);
      assert.equal(await page.getByRole("button", { name: "Approve" }).isVisible(), true);
      await page.getByLabel("Arguments").getByText("[secret:github-token]").waitFor();
      assert.deepEqual(await smallTargets(page), []);
      await page.getByRole("button", { name: "Approve" }).click({ force: true });
      await page.getByRole("alert").getByText("Look at all of login first").waitFor();
      assert.equal(await page.getByRole("dialog").count(), 0);
      await page.getByText("login holds a secret. Show it").click();
      await page.getByText(TOKEN).waitFor();
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("dialog", { name: "Approve push?" }).waitFor();
    }
  } finally {
    await browser.close();
  }
});
