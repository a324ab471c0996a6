import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { atRest } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

const TOKEN = `gh${"p_"}${"Zq7Xk2Lm".repeat(4)}0042`;

describe("earlier decisions on the function of a request", () => {
  const scene = sharedInbox();

  for (const screen of ["phone", "desk"] as const) {
    it(`stand on its card with the words that differ, and open (${screen})`, async () => {
      const { world, ana } = scene();
      const { ctx } = world.server;
      const asker = `agent:shop-${screen}`;
      const audience = toPerson(ana.id);
      const ask = (kwargs: object, wire: Request["wire"] = {}) =>
        askPeople(ctx, { asker, audience, ...callOf("issue_refund", kwargs), wire });
      const decide = async (request: Request, kind: "approve" | "reject", comment?: string) => {
        const responder = await responderOf(ctx.db, ana.id, "web");
        const decision = { kind, digest: request.digest ?? "", ...(comment !== undefined && { comment }) };
        await decideRequest(ctx, { requestId: request.id, read: request, responder, decision });
      };
      const note = "As agreed with Bo Lind on the phone";
      const guarded = { guarded: ["login"], masked: { login: '"user [secret:github-token]"' } };
      const oldest = await ask({ amount: 240, note, login: `user ${TOKEN}` }, guarded);
      await decide(oldest, "approve");
      const newest = await ask({ amount: 240, note, order: "A-1018" });
      await decide(newest, "reject", "Ask finance first");
      const now = await ask({ amount: 900, note: note.replace("Bo Lind", "Cy Moss") });

      await using visitor = await scene().visit({ screen, ask: now });
      const { page } = visitor;
      const before = page.getByRole("region", { name: "Before", exact: true });
      await before.getByText("Rejected by you").waitFor();
      await before.getByText("Ask finance first").waitFor();
      const change = (name: string) =>
        before.locator("dl > div", { has: page.getByText(name, { exact: true }) }).first();
      const wordsOf = async (name: string) => ({
        was: await change(name).locator("del").allInnerTexts(),
        is: await change(name).locator("ins").allInnerTexts(),
      });
      assert.deepEqual(await wordsOf("note"), { was: ["Bo Lind"], is: ["Cy Moss"] });
      assert.deepEqual(await wordsOf("amount"), { was: ["240"], is: ["900"] });
      assert.deepEqual(await wordsOf("order"), { was: ['"A-1018"'], is: [] });
      const line = (of: string) =>
        change("note")
          .locator(of)
          .evaluate((element) => getComputedStyle(element).textDecorationLine);
      assert.deepEqual([await line("del"), await line("ins")], ["line-through", "underline"]);

      await before.getByText("1 more from before").click();
      await before.getByText("Approved by you").waitFor();
      await before.getByText("Differs, and holds a secret").waitFor();
      assert.doesNotMatch(await page.content(), /Zq7Xk2Lm/);
      await atRest(page);
      await assertAccessible(page, `before, ${screen}`);
      const { overflow } = await page.evaluate(() => ({
        overflow: document.documentElement.scrollWidth > document.documentElement.clientWidth,
      }));
      assert.equal(overflow, false, "nothing is wider than the screen");

      await before.getByRole("link", { name: "Rejected by you" }).click();
      await page.waitForURL(`**/inbox/${newest.id}`);
      await page.getByRole("status").getByText("Rejected by you").waitFor();
    });
  }

  it("are not there where nobody has decided on it before", async () => {
    const { world, ana } = scene();
    const made = await askPeople(world.server.ctx, { audience: toPerson(ana.id), ...callOf("pay", { amount: 1 }) });
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await page.getByRole("region", { name: "About this" }).waitFor();
    await atRest(page);
    assert.equal(await page.getByRole("region", { name: "Before", exact: true }).count(), 0);
  });
});
