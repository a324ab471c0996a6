import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { fill } from "./screens.ts";
import { type Served, serve } from "./served.ts";
import { pick, readyForOffline, visit } from "./visitor.ts";

describe("the app", () => {
  let served: Served;
  let browser: Browser;
  before(async () => {
    served = await serve();
    browser = await launchBrowser();
    await fill(served);
  });
  after(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
  });

  it("says at an address nobody knows that there is nothing, and leads on", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    const reply = await ana.page.goto("/nothing/of/the/kind");
    assert.equal(reply?.status(), 404);
    await ana.page.getByRole("heading", { name: "There is nothing here" }).waitFor();
    await ana.page.getByRole("link", { name: "Go to the questions" }).tap();
    await ana.page.waitForURL(`${served.url}/`);
  });

  it("loads one file of JavaScript until somebody answers, and its own styles alone", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    const loaded = (): Promise<string[]> =>
      ana.page.evaluate(() => {
        const paths = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
        // Without the part of a name that comes from the content.
        const names = paths.map((path) => path.replace(/-[\w-]{8}(?=\.(js|css)$)/, ""));
        return names.filter((name) => /^\/assets\/.*\.(js|css)$/.test(name)).sort();
      });
    await ana.page.getByText("Skip", { exact: true }).waitFor();
    // The service worker has loaded the whole app, so the page has loaded all that it does by itself.
    await ana.page.evaluate(() => navigator.serviceWorker.ready);
    assert.deepEqual(await loaded(), ["/assets/app.css", "/assets/app.js"]);
  });

  it("offers to load the page anew where a part of it cannot be loaded, as after a deployment", async () => {
    await using ana = await visit(browser, served.url, { screen: "desk", path: "/nothing", serviceWorkers: "block" });
    const { page } = ana;
    const isBroken = page.getByRole("heading", { name: "Something went wrong" });
    for (const part of ["me-*.js", "you-*.css", "keys-dialog-*.js"]) {
      await page.route(`**/assets/${part}`, (route) => route.abort());
      const isKeys = part.startsWith("keys");
      await page.getByRole("heading", { name: "There is nothing here" }).waitFor();
      if (isKeys) await page.keyboard.press("?");
      else await page.getByRole("link", { name: "You" }).click();
      await isBroken.waitFor();
      await page.getByRole("status").getByText("Something went wrong").waitFor();
      await page.unroute(`**/assets/${part}`);
      await page.getByRole("button", { name: "Load again" }).click();
      await page.getByRole("heading", { name: isKeys ? "There is nothing here" : "You", level: 1 }).waitFor();
      await page.goto("/nothing");
    }
  });

  it("can be installed", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await readyForOffline(ana.page);
    const session = await ana.context.newCDPSession(ana.page);
    const manifest = await session.send("Page.getAppManifest");
    assert.deepEqual(manifest.errors, []);
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    // Every test profile is an incognito one, which no app is ever installed from.
    assert.deepEqual(
      installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito"),
      [],
    );

    const { icons } = JSON.parse(manifest.data ?? "{}") as { icons: { src: string; sizes: string }[] };
    for (const { src, sizes } of [...icons, { src: "/icons/badge.png", sizes: "96x96" }]) {
      const size = await ana.page.evaluate(async (address) => {
        const image = new Image();
        image.src = address;
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      }, src);
      if (sizes !== "any") assert.equal(size, sizes, src);
    }
  });

  it("runs nothing that its own policy does not name", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    const refused = await ana.page.evaluate(() => {
      const attempt = (work: () => unknown): string => {
        try {
          work();
          return "done";
        } catch (error) {
          return (error as Error).name;
        }
      };
      const policies = (window as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } })
        .trustedTypes;
      return [
        attempt(() => (document.createElement("div").innerHTML = "<b>markup</b>")),
        attempt(() => (document.createElement("script").src = "/other.js")),
        attempt(() => policies.createPolicy("another", {})),
        attempt(() => policies.createPolicy("parley", {})),
      ];
    });
    assert.deepEqual(refused, ["TypeError", "TypeError", "TypeError", "TypeError"]);
    await ana.forgive(/^CSP (trusted-types|require-trusted-types-for) /, 4);
  });

  it("moves nothing once a phone shows the first question", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone", path: "/leaderboard" });
    const page = await ana.context.newPage();
    await page.goto("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForURL(/\/q\//);
    await page.waitForTimeout(500);
    assert.deepEqual(await shifts(page), []);
  });

  it("moves nothing on the way from the list to the result, at a desk or on a phone", async () => {
    for (const screen of ["phone", "desk"] as const) {
      await using ana = await visit(browser, served.url, { screen });
      await pick(ana.page, "robot");
      await ana.page.getByLabel("Your answer").fill(`Crumbs, seen on a ${screen}`);
      await ana.page.getByRole("button", { name: /^Send/ }).click();
      await ana.page.getByText(/answers so far/).waitFor();
      await ana.page.waitForTimeout(700);
      assert.deepEqual(await shifts(ana.page), [], screen);
      for (const path of ["/me", "/leaderboard", "/console"]) {
        await ana.page.goto(path);
        await ana.page.waitForTimeout(500);
        assert.deepEqual(await shifts(ana.page), [], `${path} on a ${screen}`);
      }
    }
  });

  it("wears the chosen theme from the first paint on", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone", theme: "light", path: "/me" });
    const paper = () => ana.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await paper();
    await ana.page.getByLabel("Dark").check();
    const dark = await paper();
    assert.notEqual(dark, light);

    // Before the app itself has run, the page already is what was chosen.
    await ana.page.route("**/assets/*.js", () => {});
    await ana.page.goto("/", { waitUntil: "commit" });
    await ana.page.waitForFunction(() => document.styleSheets.length > 0);
    assert.equal(await paper(), dark);
  });

  it("leaves single keys alone when they are turned off", async () => {
    await using ana = await visit(browser, served.url, { screen: "desk", path: "/me" });
    await ana.page.getByLabel("Single-key shortcuts").uncheck();
    await ana.page.goto("/");
    // Beside the list the first question opens by itself.
    await ana.page.waitForURL(/\/q\//);
    const heading = ana.page.getByRole("heading", { level: 1 });
    await heading.waitFor();
    const before = await heading.innerText();
    await ana.page.keyboard.press("j");
    await ana.page.keyboard.press("?");
    assert.equal(await heading.innerText(), before);
    assert.equal(await ana.page.getByRole("dialog").count(), 0);
  });

  it("signs its operator in with a link that works once and leaves no code in the address", async () => {
    const link = await served.newStartLink();
    await using operator = await visit(browser, served.url, { screen: "desk", path: new URL(link).pathname });
    await operator.page.getByRole("heading", { name: "Nobody is signed in" }).waitFor();

    await operator.page.goto("/");
    await operator.page.goto(link);
    await operator.page.getByText("Signed in as operator (admin)").waitFor();
    assert.equal(operator.page.url(), `${served.url}/console`);
    const command = await operator.page.getByRole("region", { name: "Ask a question" }).innerText();
    assert.ok(command.startsWith(`curl ${served.url}/agent/questions`), command);

    await operator.page.getByRole("button", { name: "Sign out" }).click();
    await operator.page.getByRole("heading", { name: "Nobody is signed in" }).waitFor();
    await operator.page.goto("/");
    await operator.page.goto(link);
    await operator.page.getByRole("heading", { name: "This link does not work any more" }).waitFor();
  });

  it("shows whatever an agent writes as words", async () => {
    const agent = new Parley({ url: served.url });
    const prompt = `<img src=x onerror="document.title='owned'"> Is this <b>bold</b>?`;
    const { question_id: id } = await agent.ask({
      prompt,
      options: ["<script>alert(1)</script>", "javascript:alert(2)"],
    });
    await using ana = await visit(browser, served.url, { screen: "phone", path: `/q/${id}` });
    await ana.page.getByRole("heading", { name: prompt }).waitFor();
    await ana.page.getByText("<script>alert(1)</script>").tap();
    await ana.page
      .getByRole("link", { name: "All questions" })
      .or(ana.page.getByRole("link", { name: "Next question" }))
      .waitFor();
    assert.equal(await ana.page.locator("main img, main b, main script").count(), 0);
    await agent.cancel(id);
  });
});

/** Returns the layout shifts of the page that no input caused. */
async function shifts(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    interface Shift extends PerformanceEntry {
      value: number;
      hadRecentInput: boolean;
      sources: { node?: Node | null }[];
    }
    const entries = await new Promise<Shift[]>((resolve) => {
      const observer = new PerformanceObserver((list) => resolve(list.getEntries() as Shift[]));
      observer.observe({ type: "layout-shift", buffered: true });
      setTimeout(() => resolve([]), 200);
    });
    return entries
      .filter((shift) => !shift.hadRecentInput && shift.value > 0.001)
      .map(({ value, sources }) => {
        const nodes = sources.map(({ node }) => (node instanceof Element ? node.outerHTML.slice(0, 100) : "text"));
        return `${value.toFixed(4)} ${nodes.join(" | ")}`;
      });
  });
}
