import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { sql } from "../../src/core/store/sql.ts";
import { freeze } from "../../src/policy/freezes.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { OPERATOR } from "../support/identities.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { SCREENS, type Screen, visit } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;

describe("what is stuck, in the console", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`is found in one press with its cause, people and age, and mended beside it, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const { ctx } = world.server;
      const lou = await enrol(ctx, `Lou ${screen}`);
      const ask = (asker: string, person: string) =>
        askPeople(ctx, {
          asker,
          audience: toPerson(person),
          ...callOf("refund", { order: `${asker.slice(6)}-${screen}` }),
          timeoutSeconds: 86_400,
        });
      await ask("agent:lone", lou);
      const late = await ask("agent:late", OPERATOR);
      await ctx.db.transact((tx) =>
        tx.all(sql`UPDATE requests SET created_at = created_at - 7200000 WHERE ask_id = ${late.id}`),
      );
      await ask("agent:ice", OPERATOR);
      await freeze(ctx, { scope: "agent", subject: "agent:ice" }, ADMIN);
      const { code } = await createSignInLink(ctx, OPERATOR);
      await using visitor = await visit(browser, world.url, { screen, path: `/console#start=${code}` });
      const { page } = visitor;
      await page.getByRole("main").getByRole("link", { name: "Stuck", exact: true }).first().click();
      await page.getByRole("heading", { level: 1, name: "Stuck" }).waitFor();

      const lone = page.getByRole("listitem").filter({ hasText: `order lone-${screen}` });
      await lone.getByText(`asked: Lou ${screen}`).waitFor();
      await page.getByRole("heading", { level: 2, name: "Nobody can see it" }).waitFor();
      await page.getByRole("heading", { level: 2, name: "Frozen" }).waitFor();
      await page
        .getByRole("listitem")
        .filter({ hasText: `order ice-${screen}` })
        .waitFor();
      await assertAccessible(page, "what is stuck");
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);

      const old = page.getByRole("listitem").filter({ hasText: `order late-${screen}` });
      await old.getByText("for 2 hr").waitFor();
      await old.getByRole("button", { name: "Remind" }).click();
      await page.getByText("1 person reminded.").waitFor({ state: "attached" });
      const { items } = await readAudit(ctx, { subjectId: late.id, afterSeq: 0, limit: 10 });
      assert.deepEqual(items.at(-1)?.action, "function_call.reminded");
      await lone.getByRole("link", { name: new RegExp(`Sign-in link for .*Lou ${screen}`) }).click();
      await page.getByRole("heading", { name: `Lou ${screen}` }).waitFor();
    });
  }
});
