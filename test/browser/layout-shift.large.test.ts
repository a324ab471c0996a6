import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { OPERATOR } from "../support/identities.ts";
import { fillBoard, type FilledBoard } from "./assignment-screens.ts";
import { visitAssignments } from "./assignment-world.ts";
import { launchBrowser } from "./chromium.ts";
import { visitConsole } from "./console-screens.ts";
import { callOf, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { atRest, row, type Visitor } from "./visitor.ts";
import type { World } from "../support/world.ts";

const HOUR_S = 3600;
/** Longer than the half second after an input in which a shift counts as wanted. */
const SLOW_MS = 600;
const MOST = 0.05;
const WIDTHS = [
  { screen: "phone", width: 360, height: 740 },
  { screen: "desk", width: 1280, height: 800 },
] as const;

/** From now on the page adds up its layout shifts, those of every load. */
async function watchShifts({ context, page }: Visitor): Promise<void> {
  await context.addInitScript(() => {
    interface Shift extends PerformanceEntry {
      value: number;
      hadRecentInput: boolean;
      sources: { node?: Node | null }[];
    }
    const shifts: string[] = [];
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        const nodes = sources.map(({ node }) => (node instanceof Element ? node.outerHTML : node?.textContent));
        if (!hadRecentInput) shifts.push(`${value.toFixed(4)} ${nodes.map((one) => one?.slice(0, 90)).join(" | ")}`);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.route(/\/(people|admin|assignment|human)\//, async (route) => {
    if (!/events|live|log/.test(route.request().url())) await page.waitForTimeout(SLOW_MS).catch(() => undefined);
    await route.continue().catch(() => undefined);
  });
}

async function assertStill(page: Page, name: string): Promise<void> {
  await atRest(page);
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts.splice(0));
  const sum = shifts.reduce((before, shift) => before + Number.parseFloat(shift), 0);
  assert.ok(sum < MOST, `${name} moved by ${sum.toFixed(4)}:\n${shifts.join("\n")}`);
}

for (const { screen, ...viewport } of WIDTHS) {
  describe(`on a screen ${viewport.width} pixels wide with a slow network, nothing moves`, () => {
    let world: World;
    let browser: Browser;
    let shop: FilledBoard;
    before(async () => {
      [world, shop, browser] = await Promise.all([openInboxWorld(), fillBoard(), launchBrowser()]);
    });
    after(async () => {
      await browser?.close();
      await Promise.all([world?.[Symbol.asyncDispose](), shop?.[Symbol.asyncDispose]()]);
    });

    const ask = (person: string, fn: string, timeoutSeconds = 2 * HOUR_S) =>
      askPeople(world.server.ctx, {
        audience: toPerson(person),
        asker: "agent:ops",
        ...callOf(fn, { version: "1.8", place: "eu-west" }),
        timeoutSeconds,
      });

    it("in the inbox, as it loads, as something comes in, and as a request opens", async () => {
      const ana = await nameSomebody(world, `Ana ${screen}`);
      const earlier = await ask(ana.id, "page_someone");
      await decideRequest(world.server.ctx, {
        requestId: earlier.id,
        read: earlier,
        responder: await responderOf(world.server.ctx.db, ana.id, "web"),
        decision: { kind: "reject", digest: earlier.digest ?? "" },
      });
      for (const fn of ["deploy_shop", "page_someone", "issue_refund"]) await ask(ana.id, fn);
      await using visitor = await ana.visit(browser, { screen });
      const { page } = visitor;
      await page.setViewportSize(viewport);
      await watchShifts(visitor);
      await page.goto("/inbox");
      await row(page, "Refund").waitFor();
      await page.getByLabel("Order").waitFor();
      if (screen === "desk") await page.getByRole("heading", { level: 1 }).waitFor();
      await assertStill(page, "the load");
      await ask(ana.id, "restart_worker");
      await page.getByRole("button", { name: "1 new" }).waitFor();
      await assertStill(page, "what came in");
      await row(page, "Page someone").click();
      await page.getByRole("heading", { level: 1, name: "Page someone" }).waitFor();
      await page.getByRole("region", { name: "About this" }).waitFor();
      await page.getByRole("region", { name: "Before", exact: true }).waitFor();
      await assertStill(page, "the request");
    });

    it("in the inbox where nothing waits, as the first request comes in", async () => {
      const eve = await nameSomebody(world, `Eve ${screen}`);
      await using visitor = await eve.visit(browser, { screen });
      const { page } = visitor;
      await page.setViewportSize(viewport);
      await watchShifts(visitor);
      await page.goto("/inbox");
      await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
      await assertStill(page, "the load");
      await ask(eve.id, "deploy_shop");
      await row(page, "Deploy shop").waitFor();
      await assertStill(page, "what came in");
    });

    it("in what waits, as it loads and as something comes in", async () => {
      for (const fn of ["archive_logs", "rotate_keys"]) await ask(OPERATOR, fn);
      await using visitor = await visitConsole(browser, { world }, { screen });
      const { page } = visitor;
      await page.setViewportSize(viewport);
      await watchShifts(visitor);
      await page.goto("/console/live");
      await page.getByRole("heading", { name: "Executors, the last hour" }).waitFor();
      await page.getByRole("link", { name: /Rotate keys.*for / }).waitFor();
      await assertStill(page, "the load");
      await ask(OPERATOR, "restart_worker", HOUR_S);
      await page.getByRole("link", { name: /Restart worker.*for / }).waitFor();
      await assertStill(page, "what came in");
    });

    it("in a task that is to be reviewed, on its own page and in the inbox", async () => {
      await using visitor = await visitAssignments(browser, shop, { screen });
      const { page } = visitor;
      await page.setViewportSize(viewport);
      await watchShifts(visitor);
      for (const path of ["/console/assignments/shop/export", shop.review]) {
        await page.goto(path);
        await page.getByRole("region", { name: "Changes of src/export.ts" }).waitFor();
        await assertStill(page, path);
      }
    });
  });
}
