import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { sharedConsole } from "./console-screens.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { row } from "./visitor.ts";

const HOUR_S = 3600;

/** Resolves once the address ends so. */
const atAddress = (page: Page, end: string): Promise<void> =>
  page.waitForURL((url) => url.pathname + url.search === end);

const rowsOf = (page: Page) => page.locator("[data-row]");

describe("the choice of the inbox's list", () => {
  const scene = sharedInbox();

  it("stands in the address, where a reload, a link and Back find it, and what is usual does not", async () => {
    const eli = await nameSomebody(scene().world, "Eli Roth");
    const { ctx } = scene().world.server;
    const asks = { audience: toPerson(eli.id), asker: "agent:ops" };
    await askPeople(ctx, { ...asks, ...callOf("deploy_shop", {}), timeoutSeconds: HOUR_S / 2 });
    const question = { title: "Which label?", digest: null, form: { kind: "reply" as const, options: [] } };
    await askPeople(ctx, { ...asks, ...question, timeoutSeconds: 5 * HOUR_S });
    const over = await askPeople(ctx, { ...asks, ...callOf("issue_refund", {}) });
    const responder = await responderOf(ctx.db, eli.id, "slack");
    await decideRequest(ctx, { requestId: over.id, responder, decision: { kind: "reject" } });

    await using visitor = await eli.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    await row(page, "Deploy shop").waitFor();
    await atAddress(page, "/inbox");
    await page.getByLabel("Show", { exact: true }).selectOption("kind:reply");
    await atAddress(page, "/inbox?show=kind%3Areply");
    await row(page, "Deploy shop").waitFor({ state: "hidden" });
    await page.reload();
    await row(page, "Which label?").waitFor();
    assert.equal(await rowsOf(page).count(), 1);

    await row(page, "Which label?").tap();
    await page.getByRole("heading", { level: 1, name: "Which label?" }).waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Inbox" }).first().tap();
    await atAddress(page, "/inbox?show=kind%3Areply");
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await atAddress(page, "/inbox");
    await row(page, "Deploy shop").waitFor();

    await page.getByLabel("Done").check();
    await row(page, "Refund").waitFor();
    await page.getByLabel("Search what was decided").fill("refund");
    await atAddress(page, "/inbox?state=over&q=refund");
    await page.getByLabel("Search what was decided").fill("refund nothing");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await page.goBack();
    await row(page, "Refund").waitFor();
    await page.goBack();
    await atAddress(page, "/inbox");
    await row(page, "Deploy shop").waitFor();
    await page.goto("/inbox?show=kind:nothing&order=sideways&state=gone");
    await row(page, "Which label?").waitFor();
    assert.equal(await rowsOf(page).count(), 2);
  });

  it("stays beside an open request, and when the next one opens", async () => {
    const uma = await nameSomebody(scene().world, "Uma Berg");
    const { ctx } = scene().world.server;
    for (const [at, [asker, fn]] of (
      [
        ["agent:ops", "deploy_one"],
        ["agent:web", "page_two"],
        ["agent:ops", "deploy_three"],
      ] as const
    ).entries()) {
      await askPeople(ctx, { audience: toPerson(uma.id), asker, ...callOf(fn, {}), timeoutSeconds: HOUR_S + at });
    }
    await using visitor = await uma.visit(scene().browser, { screen: "desk" });
    const { page } = visitor;
    await page.getByLabel("Show", { exact: true }).selectOption("agent:ops");
    await row(page, "Page two").waitFor({ state: "hidden" });
    await row(page, "Deploy three").click();
    await page.waitForURL(/\/inbox\/\w+\?show=agent%3Aops$/);
    await page.reload();
    await row(page, "Deploy one").waitFor();
    assert.equal(await rowsOf(page).count(), 2);
  });

  it("searches what waits by sentence, agent, function and person, and lists the riskiest or the longest wait first", async () => {
    const noa = await nameSomebody(scene().world, "Noa Keller");
    const { ctx } = scene().world.server;
    const made = [
      { asker: "agent:ops", ...callOf("page_someone", { who: "bo" }), timeoutSeconds: 3 * HOUR_S },
      { asker: "agent:web", ...callOf("Bash", { command: "rm -rf /srv/shop" }), timeoutSeconds: 2 * HOUR_S },
      { asker: "agent:web", ...callOf("fetch_page", { page: "prices" }), timeoutSeconds: HOUR_S / 2 },
    ];
    for (const one of made) await askPeople(ctx, { ...one, audience: toPerson(noa.id) });

    await using visitor = await noa.visit(scene().browser, { screen: "phone" });
    const { page } = visitor;
    const field = page.getByLabel("Search", { exact: true });
    const shown = async (...starts: string[]): Promise<void> => {
      await page.waitForFunction((wanted) => {
        const rows = [...document.querySelectorAll("[data-row]")].map((one) => one.textContent ?? "");
        return rows.length === wanted.length && wanted.every((start, at) => rows[at]?.startsWith(start));
      }, starts);
    };
    await shown("Fetch page", "Run `rm -rf", "Page someone");
    await page.getByLabel("Order").selectOption("risk");
    await shown("Run `rm -rf", "Page someone", "Fetch page");
    await atAddress(page, "/inbox?order=risk");
    await page.getByLabel("Order").selectOption("asked");
    await shown("Page someone", "Run `rm -rf", "Fetch page");
    await page.reload();
    await shown("Page someone", "Run `rm -rf", "Fetch page");
    for (const time of await page.locator("[data-row] time").all()) {
      assert.match((await time.getAttribute("datetime")) ?? "", /^\d{4}-\d\d-\d\dT/);
    }
    assert.equal(await page.locator("[data-row] time").count(), 2 * made.length, "when it was asked, and its deadline");

    await page.getByLabel("Order").selectOption("deadline");
    for (const [words, ...starts] of [
      ["someone", "Page someone"],
      ["web", "Fetch page", "Run `rm -rf"],
      ["fetch_page", "Fetch page"],
      ["keller", "Fetch page", "Run `rm -rf", "Page someone"],
    ] as const) {
      await field.fill(words);
      await shown(...starts);
    }
    await page.keyboard.press("Escape");
    await field.fill("nobody at all");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await page.goBack();
    await shown("Fetch page", "Run `rm -rf", "Page someone");
    await page.waitForFunction((input) => (input as HTMLInputElement).value === "", await field.elementHandle());
  });
});

describe("the choice of a list of Run", () => {
  const scene = sharedConsole();

  it("comes back with the way up on a phone, and goes with Back", async () => {
    await using admin = await scene().visit({ screen: "phone" }, "/console/jobs");
    const { page } = admin;
    await page.getByLabel("Open", { exact: true }).check();
    await atAddress(page, "/console/jobs?show=open");
    const rows = page.getByRole("main").getByRole("listitem");
    await rows.first().getByRole("link").tap();
    await page.waitForURL(/\/console\/jobs\/[^?]+\?show=open$/);
    await page.getByRole("banner").getByRole("link", { name: "Back" }).tap();
    await atAddress(page, "/console/jobs?show=open");
    assert.ok(await page.getByLabel("Open", { exact: true }).isChecked());
    await page.getByRole("banner").getByRole("link", { name: "Back" }).tap();
    await atAddress(page, "/console");
    await page.goto("/console/jobs");
    await page.getByLabel("Open", { exact: true }).check();
    await atAddress(page, "/console/jobs?show=open");
    await page.goBack();
    await atAddress(page, "/console/jobs");
  });

  it("of what waits searches and orders it, and leads to the inbox with the same choice", async () => {
    await using admin = await scene().visit({ screen: "phone" }, "/console/live");
    const { page } = admin;
    const waiting = page.getByRole("link", { name: /waits .*left/ });
    await waiting.nth(1).waitFor();
    await page.getByLabel("Order").selectOption("asked");
    await atAddress(page, "/console/live?order=asked");
    const [name] = ((await waiting.first().textContent()) ?? "").split(/[ ,]/);
    await page.getByLabel("Search", { exact: true }).fill("nothing of the kind");
    await page.getByText("Nothing found").waitFor();
    await page.getByLabel("Search", { exact: true }).fill(name ?? "");
    await waiting.first().waitFor();
    await page.reload();
    await waiting.first().waitFor();
    assert.equal(await page.getByLabel("Search", { exact: true }).inputValue(), name);
    assert.equal(await page.getByLabel("Order").inputValue(), "asked");
    await page.goBack();
    await atAddress(page, "/console/live?order=asked");
    await page.goBack();
    await atAddress(page, "/console/live");
  });

  it("of keys and of the record stands in the address too", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/keys");
    const { page } = admin;
    await page.getByLabel("All", { exact: true }).check();
    await atAddress(page, "/console/keys?show=all");
    await page.reload();
    await page.getByRole("link", { name: "support" }).waitFor();
    assert.ok(await page.getByLabel("All", { exact: true }).isChecked());

    await page.goto("/console/audit");
    await page.getByLabel("Action").fill("human.created");
    await page.getByRole("button", { name: "Filter" }).click();
    await atAddress(page, "/console/audit?action=human.created");
    const others = page.locator("summary").filter({ hasNotText: "Person: created" });
    await others.first().waitFor({ state: "detached" });
    await page.reload();
    await page.locator("details").first().waitFor();
    assert.equal(await page.getByLabel("Action").inputValue(), "human.created");
    await page.goBack();
    await atAddress(page, "/console/audit");
    await others.first().waitFor();
    assert.equal(await page.getByLabel("Action").inputValue(), "");
  });
});
