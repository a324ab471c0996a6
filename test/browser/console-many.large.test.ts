import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { openWorld } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { visit } from "./visitor.ts";

/** More than were ever shown. */
const MANY = 220;

it("reaches the oldest of many decisions that are repeated, by keyboard, and says how many there are", async () => {
  await using world = await openWorld({ on: "sqlite", running: true });
  const { ctx } = world.server;
  // All of the same moment: the key alone tells them apart.
  await transact(ctx, (tx) =>
    tx.all(sql`INSERT INTO decision_cache (decision_key, answer_text, created_at, ttl_seconds, seed_key, role, source, hits)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
      SELECT 'k' || (1000 + i), 'Decision ' || i || '.', parley_now(), 86400, 'k' || i, 'role.dba@v1', 'runner', 0 FROM n`),
  );
  await using browser = await launchBrowser();
  const path = `/console/cache#start=${(await createSignInLink(ctx, OPERATOR)).code}`;
  await using admin = await visit(browser, world.url, { screen: "desk", path });
  const { page } = admin;
  await page.getByText(`${MANY} earlier decisions are repeated`).waitFor();
  const forget = page.getByRole("button", { name: /^Forget \(/ });
  const older = page.getByRole("button", { name: "Show older" });
  for (let read = 50; read < MANY;) {
    await forget.nth(read - 1).waitFor();
    assert.equal(await forget.count(), read);
    const before = read;
    read = Math.min(read + 50, MANY);
    await older.focus();
    await page.keyboard.press("Enter");
    await forget.nth(read - 1).waitFor();
    const first = `Forget (Decision ${MANY - before}.)`;
    await page.waitForFunction((text) => document.activeElement?.textContent === text, first);
  }
  await older.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Forget (Decision 1.)", exact: true }).click();
  await page.getByText(`${MANY - 1} earlier decisions are repeated`).waitFor();
  assert.equal(await forget.count(), MANY - 1);
});
