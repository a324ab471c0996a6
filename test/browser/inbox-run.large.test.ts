import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { freeze, freezerOf, thaw } from "../../src/policy/freezes.ts";
import { claimDecision } from "../../src/requests/decide/claim-decision.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { reportOutcome } from "../../src/requests/outcome/report-outcome.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { callOf, nameSomebody, sharedInbox, type Named } from "./inbox-world.ts";
import { atRest, type Screen, SCREENS } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

const MANY = 1000;
const MOST_SHIFT = 0.05;

/** The words of an outcome, and how a call comes to it. */
const ENDS: readonly {
  said: string;
  reports?: "start" | "end";
  happen?: (world: World, call: Request) => Promise<unknown>;
}[] = [
  { said: "The agent does not report what becomes of its calls" },
  {
    said: "bot started it",
    reports: "start",
    happen: ({ server: { ctx } }, { id }) => claimDecision(ctx, id, "r"),
  },
  ...(
    [
      ["done", "Done"],
      ["failed", "Failed"],
      ["withdrawn", "Not run: the agent withdrew it"],
    ] as const
  ).map(([state, said]) => ({
    said,
    reports: "start" as const,
    happen: ({ server: { ctx } }: World, { id }: Request) => reportOutcome(ctx, id, { state, words: `So ${state}` }),
  })),
  { said: "Unknown how it ended", reports: "end", happen: overdue },
  { said: "Not run", reports: "start", happen: overdue },
];

/** The time for a report is over; the server finds that by itself. */
function overdue({ server: { ctx } }: World, { id }: Request): Promise<unknown> {
  return transact(ctx, (tx) => tx.all(sql`UPDATE call_outcomes SET due_at = parley_now() - 1 WHERE ask_id = ${id}`));
}

/** From now on the page keeps its layout shifts, each with what moved. */
function watchShifts(page: Page): Promise<void> {
  return page.evaluate(() => {
    interface Shift extends PerformanceEntry {
      value: number;
      sources: { node?: Node | null }[];
    }
    const shifts: string[] = [];
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as Shift[]) {
        const nodes = sources.map(({ node }) => (node instanceof Element ? node.outerHTML : node?.textContent));
        shifts.push(`${value.toFixed(4)} ${nodes.map((one) => one?.slice(0, 90)).join(" | ")}`);
      }
    }).observe({ type: "layout-shift" });
  });
}

async function assertStill(page: Page): Promise<void> {
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts);
  const sum = shifts.reduce((before, shift) => before + Number.parseFloat(shift), 0);
  assert.ok(sum < MOST_SHIFT, `it moved by ${sum.toFixed(4)}:\n${shifts.join("\n")}`);
}

describe("everything of a run, in the inbox", () => {
  const scene = sharedInbox();
  const ask = (person: Named, order: string, wire: Request["wire"]) =>
    askPeople(scene().world.server.ctx, {
      audience: toPerson(person.id),
      ref: `call:${order}`,
      ...callOf("refund", { order }),
      asker: "agent:bot",
      uncharged: true,
      wire,
    });
  const approve = async (person: Named, { id, digest }: Request) => {
    const { ctx } = scene().world.server;
    const responder = await responderOf(ctx.db, person.id, "web");
    await decideRequest(ctx, { requestId: id, responder, decision: { kind: "approve", digest: digest ?? "" } });
  };

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`tells from the card what was asked, decided, run and frozen, and what comes in, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const { ctx } = world.server;
      const ana = await nameSomebody(world, "Ana Ruiz");
      const run = { run_id: `run-${screen}` };
      for (const [i, { reports, happen }] of ENDS.entries()) {
        const call = await ask(ana, `${screen}-${i}`, { ...run, ...(reports && { reports }) });
        await approve(ana, call);
        await happen?.(world, call);
      }
      const last = await ask(ana, `${screen}-last`, run);
      const by = { ...(await freezerOf(ctx, ana.id, "web")), isAdmin: true };
      await thaw(ctx, (await freeze(ctx, { scope: "all", subject: "" }, { ...by, reason: "Runs wild" })).id, by);

      await using visitor = await ana.visit(browser, { screen, ask: last });
      const { page } = visitor;
      await page.getByRole("link", { name: "Everything of this run" }).click();
      await page.getByRole("heading", { level: 1, name: "Everything of this run" }).waitFor();
      const entries = page.locator("[data-entry]");
      for (const { said } of ENDS) await entries.getByText(said, { exact: true }).first().waitFor();
      await entries.getByText("Frozen by you: Runs wild").waitFor();
      await entries.getByText("Thawed by you").waitFor();
      await entries.getByText("Failed: So failed").waitFor();
      await assertAccessible(page, "the timeline of a run");

      // Nothing moves when more comes in, until somebody wants to see it.
      await atRest(page);
      await watchShifts(page);
      const before = await entries.count();
      const more = await ask(ana, `${screen}-more`, run);
      const fresh = page.getByRole("article").getByRole("button", { name: "1 new" });
      await fresh.waitFor();
      assert.equal(await entries.count(), before);
      await assertStill(page);
      await fresh.click();
      await page.waitForFunction((n) => document.querySelectorAll("[data-entry]").length === n, before + 1);
      await entries.first().getByRole("link").click();
      await page.waitForURL(`**/inbox/${more.id}`);
    });
  }

  it("reads a thousand entries as somebody scrolls on a phone, and nothing jumps", async () => {
    const { world, browser } = scene();
    const ana = await nameSomebody(world, "Ana Many");
    const first = await ask(ana, "many-0", { run_id: "run-many" });
    for (let i = 1; i < MANY; i += 1) await ask(ana, `many-${i}`, { run_id: "run-many" });
    await using visitor = await ana.visit(browser, { screen: "phone", ask: first });
    const { page } = visitor;
    await page.goto(`/inbox/run-${first.id}`);
    const entries = page.locator("[data-entry]");
    await entries.nth(49).waitFor();
    await atRest(page);
    await watchShifts(page);
    for (let count = await entries.count(); count < MANY; count = await entries.count()) {
      await page.mouse.wheel(0, 2500);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    await entries.last().scrollIntoViewIfNeeded();
    await entries
      .last()
      .getByText(/many-0/)
      .waitFor();
    await assertStill(page);
  });
});
