import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { until } from "../support/contract.ts";
import { OPERATOR } from "../support/identities.ts";
import type { World } from "../support/world.ts";
import { fillBoard, type FilledBoard } from "./assignment-screens.ts";
import { launchBrowser } from "./chromium.ts";
import { sharedConsole, type FilledConsole } from "./console-screens.ts";
import { LANGUAGES, type OwnLanguage, ownWords } from "./own-words.ts";
import { atRest, visit, type Visitor } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

/** As narrow as the narrowest phone, and so high that the bar of tabs lies over nothing. */
const SCREEN = { width: 320, height: 3000 };

/** Opens the first page of Run on a phone, signed in as the operator. */
async function come(browser: Browser, world: World, { locale, run }: OwnLanguage): Promise<Visitor> {
  const { code } = await createSignInLink(world.server.ctx, OPERATOR);
  const path = `/console#start=${code}`;
  const visitor = await visit(browser, world.url, { screen: "phone", locale, path, serviceWorkers: "block" });
  await visitor.page.setViewportSize(SCREEN);
  await visitor.page.getByText(run.signedInAs("operator", "admin")).waitFor();
  return visitor;
}

/** The name of a rule that was learned, the short form of minutes, and what has no other name. */
const NAMES = ["learned", "min", "url"];

/** Resolves when a page has loaded everything it shows. */
async function whole(page: Page, { shell }: OwnLanguage): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await until(() =>
    page.evaluate(
      (loading) =>
        [...document.querySelectorAll("main span, main p")].every(
          ({ textContent }) => textContent !== loading && textContent !== "…",
        ),
      shell.loading,
    ),
  );
  await atRest(page);
}

/** Returns what fails where Run speaks another language than the reader's, is too wide or bars somebody. */
function inOwnWords(of: OwnLanguage): (page: Page, path: string) => Promise<void> {
  const { shell, inbox, run, overview, relay, tasks } = of;
  const assertOwn = ownWords(of, [shell, inbox, run, overview, relay, tasks], NAMES);
  return async (page, where) => {
    await whole(page, of);
    await assertOwn(page, where);
    await assertAccessible(page, where);
  };
}

const PLACES: readonly ((filled: FilledConsole) => string)[] = [
  () => "/console",
  () => "/console/live",
  () => "/console/health",
  () => "/console/asks",
  ({ relay }) => `/console/asks/${relay.waiting}`,
  ({ relay }) => `/console/asks/${relay.denied}`,
  () => "/console/jobs",
  ({ relay }) => `/console/jobs/${relay.job}`,
  () => "/console/audit",
  () => "/console/policy",
  () => "/console/cache",
  () => "/console/setup",
  () => "/console/agents",
  () => "/console/people",
  ({ ana }) => `/console/people/${ana}`,
  () => "/console/people/new",
  () => "/console/keys",
  ({ key }) => `/console/keys/${key}`,
  () => "/console/keys/new",
  () => "/console/channels",
  () => "/console/channels/email",
  () => "/console/channels/slack",
  () => "/console/webhooks",
  ({ endpoint }) => `/console/webhooks/${endpoint}`,
];

describe("Run in the reader's language", () => {
  const scene = sharedConsole();

  for (const one of LANGUAGES) {
    it(`shows its pages in ${one.locale}`, async () => {
      const assertOwn = inOwnWords(one);
      await using visitor = await come(scene().browser, scene().filled.world, one);
      for (const pathOf of PLACES) {
        await visitor.page.goto(pathOf(scene().filled));
        await assertOwn(visitor.page, pathOf(scene().filled));
      }
    });

    it(`names its pages above each of them on a wide screen in ${one.locale}`, async () => {
      await using visitor = await come(scene().browser, scene().filled.world, one);
      const { page } = visitor;
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto("/console/keys");
      await inOwnWords(one)(page, "wide");
      const here = page.getByRole("navigation", { name: one.run.sections }).locator("[aria-current=page]");
      assert.equal(await here.textContent(), one.run.keys.title);
    });
  }
});

describe("the work of coding agents in the reader's language", () => {
  let filled: FilledBoard;
  let browser: Browser;
  before(async () => {
    filled = await fillBoard();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await filled?.[Symbol.asyncDispose]();
  });

  const BASE = "/console/assignments";
  for (const one of LANGUAGES) {
    it(`shows the board, tasks and their review in ${one.locale}`, async () => {
      const assertOwn = inOwnWords(one);
      await using visitor = await come(browser, filled.world, one);
      const { page } = visitor;
      for (const path of [BASE, `${BASE}/_new`, `${BASE}/shop/deploy`, `${BASE}/shop/prices`, `${BASE}/shop/vat`]) {
        await page.goto(path);
        await assertOwn(page, path);
      }
      for (const path of [`${BASE}/shop/export`, filled.review]) {
        await page.goto(path);
        await page.getByRole("region", { name: one.tasks.diff.region("src/export.ts") }).waitFor();
        await assertOwn(page, path);
        await page.getByRole("button", { name: one.tasks.review.request_changes }).click();
        await page.getByRole("dialog", { name: one.tasks.review.titles.request_changes }).waitFor();
        await assertOwn(page, `changes, ${path}`);
      }
    });
  }
});
