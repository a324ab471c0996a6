import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { newAsk } from "../support/relay.ts";
import { sharedConsole } from "./console-screens.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name });
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name });

describe("the Console's pages about executors", () => {
  const scene = sharedConsole();

  it("shows asks as they happen, with the figures of the hour", async () => {
    await using admin = await scene().visit({ screen: "phone" });
    const { page } = admin;
    await link(page, "What waits").click();
    await page.getByText("1 ask waits, 1 of them for people.").waitFor();
    await page.getByText("Policy 50% (1)").waitFor();
    await page.getByText("People 50% (1)").waitFor();
    const asked = newAsk({ job_id: "J-live", prompt: "Is the blue or the green label right?" });
    const { body } = await scene().filled.relay.executor("POST", "/asks", asked);
    await link(page, /blue or the green/)
      .first()
      .waitFor();
    await page.getByText("2 asks wait, 2 of them for people.").waitFor();
    await link(page, /J-live.*Waits for an answer/).waitFor();
    await scene().filled.relay.executor("DELETE", `/asks/${body.ask_id}`);
    await link(page, /blue or the green.*Failed/).waitFor();
    await page.getByText("1 ask waits, 1 of them for people.").waitFor();
  });

  it("opens from a number the list of just what it counts", async () => {
    const { executor } = scene().filled.relay;
    const asked = await Promise.all(
      Array.from({ length: 55 }, (_, at) =>
        executor("POST", "/asks", newAsk({ job_id: "J-counted", step_id: `S-${at}`, prompt: `Which label, ${at}?` })),
      ),
    );
    await using admin = await scene().visit({ screen: "phone" });
    const { page } = admin;
    const row = (name: string) => page.getByRole("listitem").filter({ has: link(page, name) });
    await row("Asks")
      .getByText(/^56 wait, oldest /)
      .waitFor();
    const jobs = await row("Jobs").getByText(/open$/).textContent();
    await link(page, "Asks").click();
    const rows = page.getByRole("main").getByRole("listitem");
    await rows.nth(49).waitFor();
    await button(page, "Show older").click();
    await rows.nth(55).waitFor();
    assert.equal(await rows.count(), 56);
    await page.reload();
    await rows.nth(49).waitFor();
    assert.ok(await page.getByLabel("Waiting", { exact: true }).isChecked());
    await page.goto("/console");
    await link(page, "Jobs").click();
    await rows.first().waitFor();
    assert.equal(`${await rows.count()} open`, jobs);
    await page.goto("/console");
    for (const { body } of asked) await executor("DELETE", `/asks/${body.ask_id}`);
    // The page that is open follows.
    await row("Asks")
      .getByText(/^1 waits, oldest /)
      .waitFor();
  });

  it("tells one ask's whole life, to its decision in the inbox and its receipt", async () => {
    const { executor, job } = scene().filled.relay;
    const more = { step_id: "publish", ask_type: "APPROVAL", prompt: "Publish the packages?" };
    const asked = newAsk({ job_id: job, ...more, meta: { action: "publish" } });
    await executor("POST", "/asks", asked, { "parley-lease": scene().filled.relay.lease });
    await using admin = await scene().visit({ screen: "desk" }, "/console/asks");
    const { page } = admin;
    await link(page, /Publish the packages/).click();
    await heading(page, "Waiting: People").waitFor();
    await page.getByText("None yet.").waitFor();
    await link(page, "Open it in the inbox").click();
    await button(page, "Approve").click();
    // A decision that is faster than a person can read is taken for a machine's.
    await page.waitForTimeout(1100);
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by you").first().waitFor();
    await page.goto("/console/asks");
    await link(page, /Publish the packages.*Answered by operator/).click();
    await heading(page, "Answered by operator").waitFor();
    await page.getByText("operator approved").waitFor();
    await page.getByText("relay.answered", { exact: true }).waitFor();
    const [receipt] = await Promise.all([page.waitForEvent("download"), link(page, "Signed receipt").click()]);
    assert.match(readFileSync(await receipt.path(), "utf8"), /^[\w-]+\.[\w-]+\.[\w-]+$/);
    await page.getByRole("link", { name: "Release: shop-api", exact: true }).last().click();
    await page.getByRole("heading", { name: "Release: shop-api", level: 1 }).waitFor();
  });

  it("follows a job until it is over", async () => {
    const { executor } = scene().filled.relay;
    const job = "release:2042";
    await executor("POST", "/jobs", { job_id: job, kind: "release", external: true });
    await using admin = await scene().visit({ screen: "phone" }, "/console/jobs");
    const { page } = admin;
    await link(page, job).click();
    await page.getByRole("status").getByText("Running").waitFor();
    await page.getByText("Nothing was asked in it.").waitFor();
    await executor("POST", `/jobs/${job}/logs`, { message: "Building 12 packages" });
    await page.getByText("Building 12 packages").waitFor();
    await executor("POST", "/asks", newAsk({ job_id: job, prompt: "Which branch is meant?" }));
    await link(page, "Which branch is meant?").waitFor();
    await page.getByRole("status").getByText("Waits for an answer").waitFor();
    await executor("POST", `/jobs/${job}/cancel`, { reason: "not today" });
    await page.getByRole("status").getByText("Canceled").waitFor();
    await page.getByText("not today").first().waitFor();
    const events = await page.getByRole("listitem").allInnerTexts();
    assert.ok(events.some((said) => said.startsWith("Canceled")) && !events.some((said) => said.includes("CANCEL")));
  });

  it("takes a proposed rule, revokes it, ends what was allowed for good, and tries the policy", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/policy");
    const { page } = admin;
    await page.getByText("In force as the file stands.").waitFor();
    await page.getByLabel("Action").fill("write");
    await page.getByLabel("Environment").fill("prod");
    await page.getByRole("button", { name: "Try", exact: true }).press("Enter");
    await page.getByRole("region", { name: "Verdict" }).getByText(/^DENY/m).waitFor();
    const diff = page.getByRole("region", { name: /The rule that would be in force/ });
    assert.match(await diff.innerText(), /^\+ {2}- id: learned-/m);
    await button(page, /Put it in force/).click();
    await page.getByText("Nothing is proposed.").waitFor();
    await button(page, /Revoke learned-/).click();
    await button(page, "Revoke it").click();
    await button(page, /Revoke learned-/).waitFor({ state: "detached" });
    await button(page, /Revoke restart/).click();
    await page.getByText("An admin who approves a call may allow calls like it.").waitFor();
  });

  it("forgets one decision, then all", async () => {
    await using admin = await scene().visit({ screen: "phone" }, "/console/cache");
    const { page } = admin;
    await page.getByText("repeated 12 times").waitFor();
    const forget = button(page, /Forget \(Use the orders_v2 table/);
    await forget.click();
    await forget.waitFor({ state: "detached" });
    await button(page, "Forget everything").click();
    await button(page, "Forget everything").last().click();
    await heading(page, "Nothing is repeated yet").waitFor();
  });

  it("is walked by keyboard", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/jobs");
    const { page } = admin;
    await link(page, /release-2041/).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.match(new URL(page.url()).pathname, /^\/console\/jobs\/.+/);
  });
});
