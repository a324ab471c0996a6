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
    await admin.page.getByText("Approved by Cy Vann, for good").waitFor();
  });
});
