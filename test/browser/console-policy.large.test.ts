import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { it } from "node:test";
import { changeRole } from "../../src/access/change-role.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { launchBrowser } from "./chromium.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { visit } from "./visitor.ts";

const FORBIDDEN = "version: 1\ndefaults: { other: ALLOW }\n";
const WHY = "policy.yaml:2: defaults.other must be ESCALATE or DENY: ALLOW would allow whatever no rule speaks of.";

it("says what is wrong with the policy file, and what is in force instead", async () => {
  await using world = await openInboxWorld();
  const browser = await launchBrowser();
  const page = async (instead: string) => {
    const { code } = await createSignInLink(world.server.ctx, OPERATOR);
    await using visitor = await visit(browser, world.url, { screen: "desk", path: `/console#start=${code}` });
    await visitor.page.getByText("Signed in as").first().waitFor();
    await visitor.page.goto("/console/policy");
    await visitor.page.getByText(instead).waitFor();
    await visitor.page.getByText(WHY).waitFor();
  };
  try {
    writeFileSync(world.config.relay.policyFile, FORBIDDEN);
    await world.server.reload();
    await page("The file holds a mistake; the last good version is in force.");
    await world.restart();
    await page("The file holds a mistake, so people decide everything until it is mended.");
  } finally {
    await browser.close();
  }
});

it("tries a policy on recorded calls, each of which opens", async () => {
  await using world = await openInboxWorld();
  const { ctx } = world.server;
  const cy = await nameSomebody(world, "Cy Vann");
  await changeRole(ctx, { person: cy.id, role: "admin" }, { kind: "server", id: "test" });
  const made = await askPeople(ctx, { ...callOf("refund", { amount: 5 }), audience: toPerson(cy.id) });
  await using browser = await launchBrowser();
  await using visitor = await cy.visit(browser, { screen: "phone" });
  const { page } = visitor;
  await page.goto(`/inbox/${made.id}`);
  await page.getByRole("button", { name: "Reject" }).tap();
  await page.getByRole("dialog").getByRole("button", { name: "Reject" }).tap();
  await page.getByText("Rejected by you").first().waitFor();

  await page.goto("/console/policy");
  await page
    .getByLabel("A policy file")
    .fill("version: 1\nrules: [{ id: all, when: { fn: refund }, decision: SAY }]\n");
  await page.getByRole("button", { name: "Try on these calls" }).tap();
  await page.getByText(/policy.yaml:2: rules\[0\].decision must be/).waitFor();
  await page
    .getByLabel("A policy file")
    .fill("version: 1\nrules: [{ id: all, when: { fn: refund }, decision: ALLOW }]\n");
  await page.getByRole("button", { name: "Try on these calls" }).tap();
  await page.getByText("1 call: 1 allowed, 0 refused, 0 for people.").waitFor();
  await page
    .getByText("1 that a person rejected would be allowed; 0 that a person approved would be refused.")
    .waitFor();
  await page.getByText("The newest calls").tap();
  const links = page.getByRole("status").getByRole("link", { name: /Refund/i });
  assert.match((await links.first().getAttribute("href")) ?? "", /^\/receipts\//);
  await links.last().tap();
  await page.getByRole("heading", { name: "Record" }).waitFor();
  await page.getByText("Rejected").first().waitFor();
});
