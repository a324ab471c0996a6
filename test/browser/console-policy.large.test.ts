import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { changeRole } from "../../src/access/change-role.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { OPERATOR } from "../support/identities.ts";
import { launchBrowser } from "./chromium.ts";
import { accepted, callBody } from "../support/a2h.ts";
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

const FILE = "version: 1\nrules: []\n";

it("proposes rules from what people approved, and tries the file with the ticked ones before it is in force", async () => {
  await using world = await openInboxWorld();
  const { ctx } = world.server;
  writeFileSync(world.config.relay.policyFile, FILE);
  await world.server.reload();
  const cy = await nameSomebody(world, "Cy Vann");
  await changeRole(ctx, { person: cy.id, role: "admin" }, { kind: "server", id: "test" });
  const responder = await responderOf(ctx.db, cy.id, "web");
  const decide = async (fn: string, args: object, kind: "approve" | "reject") => {
    const request = await askPeople(ctx, { ...callOf(fn, args), audience: toPerson(cy.id) });
    await decideRequest(ctx, { requestId: request.id, responder, decision: { kind } });
  };
  for (const command of ["npm test", "npm test a.test.ts", "npm test b.test.ts"])
    await decide("Bash", { command, cwd: "/home/kim/shop" }, "approve");
  await decide("Bash", { command: "npm publish", cwd: "/home/kim/shop" }, "reject");
  for (const name of ["a", "b", "c"])
    await decide("Read", { file_path: `src/${name}.ts`, cwd: "/home/kim/shop" }, "approve");
  await using browser = await launchBrowser();
  await using visitor = await cy.visit(browser, { screen: "phone" });
  const { page } = visitor;
  await page.goto("/console/policy");
  await page.getByRole("button", { name: "Try on these calls" }).tap();
  await page.getByText("7 calls: 0 allowed, 0 refused, 7 for people.").waitFor();

  await page.getByRole("button", { name: "Look for rules" }).tap();
  await page.getByText("7 calls, 6 of them approved by people and by no rule: 2 rules proposed.").waitFor();
  await page.getByText("Not covered: Run `npm publish`").waitFor();
  await page.getByRole("checkbox", { name: /-Read$/ }).tap();
  await page.getByRole("button", { name: "Put the file with the ticked rules below" }).tap();
  await page
    .getByText(`It stands below. Try it on recorded calls, then put it into ${world.config.relay.policyFile}.`)
    .waitFor();
  const words = await page.getByLabel("A policy file").inputValue();
  assert.match(
    words,
    /^version: 1\nrules:\n {2}# 3 approved calls, such as: .*\n {2}# Not covered: .*\n {2}- id: suggested-.*-Bash\n/,
  );
  assert.doesNotMatch(words, /Read/);
  await page.getByRole("button", { name: "Try on these calls" }).tap();
  await page.getByText("7 calls: 3 allowed, 0 refused, 4 for people.").waitFor();
  assert.equal(readFileSync(world.config.relay.policyFile, "utf8"), FILE);
});

it("edits a rule: a mistake keeps the words, then the change is shown, saved, listed and in force", async () => {
  await using world = await openInboxWorld();
  const { ctx } = world.server;
  const refunds = "id: refunds\n    when: { fn: refund }\n    decision: ESCALATE";
  const before = `# The shop.\nversion: 1\nrules:\n  - ${refunds}\n`;
  writeFileSync(world.config.relay.policyFile, before);
  await world.server.reload();
  const cy = await nameSomebody(world, "Cy Vann");
  await changeRole(ctx, { person: cy.id, role: "admin" }, { kind: "server", id: "test" });
  await using browser = await launchBrowser();
  await using visitor = await cy.visit(browser, { screen: "phone" });
  const { page } = visitor;
  await page.goto("/console/policy");
  await page.getByRole("button", { name: "Edit refunds" }).tap();
  const words = page.getByLabel("The rule as YAML");
  await words.fill("id: refunds\nwhen: { fn: refund }\ndecision: SAY");
  await page.getByRole("button", { name: "Show the change" }).tap();
  const wrong = page.getByRole("alert").filter({ hasText: "Nothing was saved" });
  await wrong.getByText(/line 3: decision must be/).waitFor();
  assert.match(await words.inputValue(), /SAY/);
  await words.fill("id: refunds\nwhen: { fn: refund }\ndecision: DENY");
  await page.getByRole("button", { name: "Show the change" }).tap();
  await page.getByRole("region", { name: "The change of the file" }).getByText("decision: DENY").waitFor();
  assert.equal(readFileSync(world.config.relay.policyFile, "utf8"), before);
  await page.getByRole("button", { name: "Save this change" }).tap();
  await words.waitFor({ state: "detached" });
  await page
    .getByRole("listitem")
    .filter({ hasText: /^Deny.*refunds/ })
    .first()
    .waitFor();
  assert.equal(readFileSync(world.config.relay.policyFile, "utf8"), before.replace("ESCALATE", "DENY"));
  const { text: key } = await createKey(ctx, { name: "support", scope: "agent" });
  const headers = { authorization: `Bearer ${key}` };
  const call = { headers, body: callBody({ fn: "refund" }) };
  const { status } = accepted(await world.call("POST", "/humanlayer/v1/function_calls", call));
  assert.equal(status.approved, false);
});
