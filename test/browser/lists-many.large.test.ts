import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { appendJobEvents, lockJob } from "../../src/asks/store/jobs.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { openRelayScene, type RelayScene } from "../support/relay.ts";
import { launchBrowser } from "./chromium.ts";
import { visit, type Visitor } from "./visitor.ts";

/** More than two pages hold. */
const MANY = 120;
const each = Array.from({ length: MANY }, (_, i) => i + 1);

let scene: RelayScene;
let browser: Browser;
let admin: Visitor;

before(async () => {
  scene = await openRelayScene("sqlite");
  browser = await launchBrowser();
  const { code } = await createSignInLink(scene.world.server.ctx, OPERATOR);
  admin = await visit(browser, scene.world.url, { screen: "desk", path: `/console#start=${code}` });
  await admin.page.getByText("Signed in as").first().waitFor();
});

after(async () => {
  await admin[Symbol.asyncDispose]();
  await browser.close();
  await scene[Symbol.asyncDispose]();
});

/** Presses the button below a section's list, by keyboard, until it has all of its rows and no button. */
async function readOn(page: Page, title: string, label: string, rows: number): Promise<void> {
  const section = page
    .locator("section")
    .filter({ has: page.getByRole("heading", { name: title, exact: true }) })
    .last();
  const [items, more] = [
    section.locator("ul, ol").last().locator(":scope > li"),
    section.getByRole("button", { name: label }),
  ];
  for (let read = 50; read < rows;) {
    await items.nth(read - 1).waitFor();
    assert.equal(await items.count(), read);
    await more.focus();
    await page.keyboard.press("Enter");
    read = Math.min(read + 50, rows);
    await items.nth(read - 1).waitFor();
  }
  await more.waitFor({ state: "detached" });
  assert.equal(await items.count(), rows);
}

it("reaches the oldest of many grants and of many proposed rules, and ends the one and takes the other", async () => {
  const { ctx } = scene.world.server;
  await transact(ctx, async (tx) => {
    for (const i of each) {
      const rule = {
        id: `learned-${i}`,
        when: { action: "deploy", resource: `r${i}` },
        decision: "ALLOW",
        reason: "Why",
      };
      await tx.all(sql`INSERT INTO policy_grants (grant_id, class_key, action, resource, env, ask_id, made_by, created_at,
          expires_at, uses) VALUES (${`grant_${1000 + i}`}, ${`g${i}`}, 'deploy', ${`shop-${i}`}, 'dev', 'ask_1',
          ${OPERATOR}, parley_now(), parley_now() + 86400000, 0)`);
      await tx.all(sql`INSERT INTO policy_proposals (proposal_id, class_key, rule, state, approvals, created_at)
        VALUES (${`proposal_${1000 + i}`}, ${`p${i}`}, ${JSON.stringify(rule)}, 'open', 3, parley_now())`);
    }
  });
  const { page } = admin;
  await page.goto("/console/policy");
  await readOn(page, "Permissions", "Show older", MANY);
  await readOn(page, "Proposed rules", "Show older", MANY);
  await page.getByRole("button", { name: "Revoke deploy, shop-1, dev", exact: true }).click();
  await page.getByText("deploy, shop-1, dev", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Dismiss (learned-1)", exact: true }).click();
  await page.getByRole("heading", { name: "learned-1", exact: true }).waitFor({ state: "detached" });
});

it("reaches the first of many events of a job, while new ones come, and what came too late for an ask", async () => {
  const { ctx } = scene.world.server;
  const asked = await scene.ask({ prompt: "Which region?" });
  const { page } = admin;
  const log = (message: string) => ({ event: "log" as const, body: { event: "note", message } });
  const append = async (tx: Tx, messages: readonly string[]) => {
    const job = await lockJob(tx, asked.job_id);
    assert.ok(job);
    await appendJobEvents(tx, job, messages.map(log));
  };
  await transact(ctx, async (tx) => {
    await append(
      tx,
      each.map((i) => `Number ${i}.`),
    );
    for (const i of each) {
      await tx.all(sql`INSERT INTO late_answers (ask_id, principal, status, answer_text, at)
        VALUES (${asked.ask_id}, 'answer:svc', 'ANSWERED', ${`Late ${i}.`}, parley_now() + ${i})`);
    }
  });
  const { seq } = (await scene.admin.get(`/admin/jobs/${asked.job_id}`)).body;
  await page.goto(`/console/jobs/${asked.job_id}`);
  await readOn(page, "Events", "Show older", seq);
  await transact(ctx, (tx) => append(tx, ["The newest."]));
  await page.getByText("note: The newest.").waitFor();
  const lines = await page.locator("li").filter({ hasText: "note: " }).locator("p:first-child").allTextContents();
  assert.deepEqual(lines, ["note: The newest.", ...each.toReversed().map((i) => `note: Number ${i}.`)]);

  await page.goto(`/console/asks/${asked.ask_id}`);
  await readOn(page, "Too late", "Show more", MANY);
  await page.getByText(`Late ${MANY}.`, { exact: true }).waitFor();
});
