import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { claimDecision } from "../../src/requests/decide/claim-decision.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { reportOutcome } from "../../src/requests/outcome/report-outcome.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { callOf, nameSomebody, sharedInbox, type Named } from "./inbox-world.ts";
import { SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

type Reports = "start" | "end";

/** The words for each outcome, on the card and in the list, and how a call comes to it. */
const ENDS: readonly {
  order: string;
  reports?: Reports;
  card: string;
  list?: string;
  happen?: (world: World, request: Request) => Promise<unknown>;
}[] = [
  { order: "none", card: "The agent does not report what becomes of its calls" },
  { order: "awaited", reports: "end", card: "The agent has not said yet that it ran" },
  {
    order: "started",
    reports: "start",
    card: "Running",
    list: "Running",
    happen: ({ server: { ctx } }, { id }) => claimDecision(ctx, id, "run-1"),
  },
  {
    order: "done",
    reports: "end",
    card: "Done",
    list: "Done",
    happen: ({ server: { ctx } }, { id }) => reportOutcome(ctx, id, { state: "done", words: "Refunded <b>49.90</b>" }),
  },
  {
    order: "failed",
    reports: "end",
    card: "Failed",
    list: "Failed",
    happen: ({ server: { ctx } }, { id }) => reportOutcome(ctx, id, { state: "failed" }),
  },
  {
    order: "withdrawn",
    reports: "start",
    card: "Not run: the agent withdrew it",
    list: "Not run: the agent withdrew it",
    happen: ({ server: { ctx } }, { id }) => reportOutcome(ctx, id, { state: "withdrawn" }),
  },
  { order: "unknown", reports: "end", card: "Unknown how it ended", list: "Unknown how it ended", happen: overdue },
  { order: "unrun", reports: "start", card: "Not run", list: "Not run", happen: overdue },
];

/** The time for a report is over; the server finds that by itself. */
function overdue({ server: { ctx } }: World, { id }: Request): Promise<unknown> {
  return transact(ctx, (tx) => tx.all(sql`UPDATE call_outcomes SET due_at = parley_now() - 1 WHERE ask_id = ${id}`));
}

async function approved({ server: { ctx } }: World, ana: Named, order: string, reports?: Reports): Promise<Request> {
  const call = callOf("refund", { order: `K-${order}` });
  const wire = reports ? { reports } : {};
  const request = await askPeople(ctx, { audience: toPerson(ana.id), ...call, wire });
  const responder = await responderOf(ctx.db, ana.id, "web");
  const decision = { kind: "approve", digest: request.digest ?? "" } as const;
  return (await decideRequest(ctx, { requestId: request.id, responder, decision })).request;
}

describe("what became of an approved call, in the inbox", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`stands on the card and in Done, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const calls = [];
      for (const end of ENDS) calls.push({ ...end, request: await approved(world, ana, end.order, end.reports) });
      await using visitor = await ana.visit(browser, { screen });
      const { page } = visitor;
      for (const { request, happen, card, order } of calls) {
        await page.goto(`/inbox/${request.id}`);
        const outcome = page.getByRole("region", { name: "What became of it" });
        await outcome.waitFor();
        // The card is open while it happens.
        await happen?.(world, request);
        await outcome.getByText(card, { exact: true }).waitFor();
        if (order === "done") {
          await outcome.getByText("Refunded <b>49.90</b>").waitFor();
          await assertAccessible(page, "the outcome of a call");
        }
      }
      await page.goto("/inbox");
      await page.getByLabel("Done").check();
      for (const { order, list } of calls) {
        const line = page.getByRole("link", { name: new RegExp(`K-${order}\\b`) });
        await line.waitFor();
        for (const word of new Set(ENDS.flatMap((end) => end.list ?? []))) {
          assert.equal(await line.getByText(word, { exact: true }).count(), word === list ? 1 : 0, `${order}: ${word}`);
        }
      }
      await assertAccessible(page, "Done with outcomes");
    });
  }
});
