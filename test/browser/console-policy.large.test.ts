import { writeFileSync } from "node:fs";
import { it } from "node:test";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { launchBrowser } from "./chromium.ts";
import { openInboxWorld } from "./inbox-world.ts";
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
