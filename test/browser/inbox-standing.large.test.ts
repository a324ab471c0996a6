import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { changeRole } from "../../src/access/change-role.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { bindCall } from "../../src/requests/model/bound-call.ts";
import { requestCall } from "../../src/requests/create/request-call.ts";
import { askPeople, newCallRequest, toPerson } from "../support/addressed.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { row } from "./visitor.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const dialog = (page: Page) => page.getByRole("dialog");

describe("the Inbox room, for what may be allowed for good", () => {
  it("offers that to admins alone, says until when, and shows what was decided so", async () => {
    await using world = await openInboxWorld();
    await using browser = await launchBrowser();
    const ana = await nameSomebody(world, "Ana Ruiz");
    const cy = await nameSomebody(world, "Cy Vann");
    await changeRole(world.server.ctx, { person: cy.id, role: "admin" }, { kind: "server", id: "test" });
    const toAll = [ana, cy].map(({ id }) => ({ afterMs: 0, node: toPerson(id) }));
    const audience = { kind: "any" as const, of: toAll };
    const made = await askPeople(world.server.ctx, {
      ...callOf("deploy_shop", { env: "dev" }),
      audience,
      wire: { standing: true },
    });
    const always = { name: /^Always allow exactly this/ };

    await using member = await ana.visit(browser, { screen: "phone" });
    await row(member.page, "Deploy shop").tap();
    await button(member.page, "Approve").tap();
    await dialog(member.page).getByLabel("Comment (optional)").waitFor();
    assert.equal(await dialog(member.page).getByRole("checkbox", always).count(), 0);

    await using admin = await cy.visit(browser, { screen: "phone" });
    await row(admin.page, "Deploy shop").tap();
    await button(admin.page, "Approve").tap();
    await dialog(admin.page)
      .getByText(/without asking, until .*\d{4} or until an admin revokes it\.$/)
      .waitFor();
    await dialog(admin.page).getByRole("checkbox", always).tap();
    await dialog(admin.page).getByRole("button", { name: "Approve" }).tap();
    await admin.page.getByText("Approved by you").first().waitFor();
    assert.equal((await readRequest(world.server.ctx, made.id)).outcome?.standing, true);

    const bound = bindCall("deploy_shop", { env: "dev" });
    const again = {
      ...newCallRequest({ ...callOf("deploy_shop", { env: "dev" }), audience }),
      bound,
      rejectOptions: [],
      editable: false,
    };
    await requestCall(world.server.ctx, parsePolicy("version: 1"), again);
    await admin.page.goto("/inbox");
    await admin.page.getByLabel("Done").check();
    await admin.page.getByText("Approved by Cy Vann, in advance").waitFor();
  });

  for (const screen of ["phone", "desk"] as const) {
    it(`lets an admin allow calls like one, see that under Rules, and end it there, on a ${screen}`, async () => {
      await using world = await openInboxWorld();
      await using browser = await launchBrowser();
      const { ctx } = world.server;
      const cy = await nameSomebody(world, "Cy Vann");
      await changeRole(ctx, { person: cy.id, role: "admin" }, { kind: "server", id: "test" });
      const bash = (command: string) => ({
        ...newCallRequest({ ...callOf("Bash", { command, cwd: "/home/kim/shop" }), audience: toPerson(cy.id) }),
        bound: bindCall("Bash", { command, cwd: "/home/kim/shop" }),
        rejectOptions: [],
        editable: false,
      });
      const ask = async (command: string) => (await requestCall(ctx, parsePolicy("version: 1"), bash(command))).request;
      const made = await ask("npm test");

      await using admin = await cy.visit(browser, { screen });
      const { page } = admin;
      await page.goto(`/inbox/${made.id}`);
      await button(page, "Approve").click();
      await dialog(page).getByRole("button", { name: "Allow like this…" }).click();
      const patterns = dialog(page).getByRole("group", { name: "Allow like this…" });
      const one = patterns.getByRole("checkbox", { name: /^Bash: “npm test …”, in “\/home\/kim\/shop”, by “/ });
      await one.check();
      assert.equal(await patterns.getByText("None of the last week’s calls.").count(), 3);
      await dialog(page)
        .getByRole("checkbox", { name: /^Always allow exactly this/ })
        .check();
      assert.equal(await one.isChecked(), false);
      await one.check();
      assert.equal(await dialog(page).getByRole("checkbox", { checked: true }).count(), 1);
      await patterns.getByLabel("For how long").selectOption("7 days");
      await dialog(page).getByRole("button", { name: "Approve" }).click();
      await page.getByText("Approved by you").first().waitFor();

      assert.equal((await ask("npm test src/a.test.ts")).outcome?.by?.id, cy.id);
      assert.equal((await ask("npm test; rm x")).state, "open");
      await page.goto("/console/policy");
      await page
        .getByText(/^Bash: “npm test …”, in “\/home\/kim\/shop”, by “/)
        .first()
        .waitFor();
      await page.getByText("spared people 1 question").first().waitFor();
      await button(page, /^Revoke Bash: “npm test …”/).click();
      await page.getByText("An admin who approves a call may allow calls like it.").waitFor();
      assert.equal((await ask("npm test src/b.test.ts")).state, "open");
    });
  }
});
