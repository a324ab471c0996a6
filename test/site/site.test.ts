import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { collectPages } from "../../site/pages.ts";
import { launchBrowser } from "../browser/chromium.ts";
import { type Screen, type Theme, visit } from "../browser/visitor.ts";
import { within } from "../support/contract.ts";
import { ROOT_FOLDER } from "../support/documents.ts";
import { reservePort } from "../support/ports.ts";

const SITE = join(ROOT_FOLDER, "site");
const BUILT = join(SITE, "dist");
const VITEPRESS = join(SITE, "node_modules/vitepress/bin/vitepress.js");

/** Returns the values of an attribute in a page. */
function valuesOf(attribute: "href" | "id" | "src" | "srcset", html: string): string[] {
  return [...html.matchAll(new RegExp(`\\s${attribute}="([^"]+)"`, "g"))].map(([, value = ""]) => value);
}

/** Returns the file that an address of the site is answered with. */
function fileOf(address: string): string {
  const path = decodeURI(address.replace(/[?#].*/, ""));
  return join(BUILT, path.endsWith("/") ? `${path}index.html` : path);
}

async function search(page: Page, screen: Screen, { words, path }: { words: string; path: string }): Promise<void> {
  await page.getByRole("button", { name: "Search" }).first().click();
  await page.getByRole("searchbox").fill(words);
  const first = page.locator(".result").first();
  await first.waitFor();
  // The text is searched a moment after it was typed, and the first result may change until then.
  await page.locator(`.result[href^="${path}"]`).first().waitFor();
  assert.match((await first.getAttribute("href")) ?? "", new RegExp(`^${path}(#|$)`));
  if (screen === "phone") await first.tap();
  else await page.keyboard.press("Enter");
}

describe("the site of the documents", () => {
  let browser: Browser;
  let url: string;
  let server: ReturnType<typeof spawn>;
  before(async () => {
    execFileSync(process.execPath, [join(SITE, "build.ts")], { stdio: "inherit" });
    const port = String(await reservePort());
    url = `http://localhost:${port}`;
    server = spawn(process.execPath, [VITEPRESS, "preview", SITE, "--port", port]);
    const serves = new Promise<void>((resolve) => {
      server.stdout?.setEncoding("utf8").on("data", (text: string) => {
        if (text.includes("served at")) resolve();
      });
    });
    await within(serves, "the site is not served");
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    server.kill();
  });

  it("has each page with its heading, and no link, picture or script that leads nowhere within it", () => {
    const files = globSync("**/*.html", { cwd: BUILT });
    const pages = collectPages(ROOT_FOLDER).pages.map(({ path }) => path.replace(/\.md$/, ".html"));
    assert.deepEqual(files.toSorted(), [...pages, "404.html"].toSorted());
    for (const file of pages) assert.match(readFileSync(join(BUILT, file), "utf8"), /<h1 id="[^"]+"[^>]*>./, file);
    const ids = new Map(
      files.map((file) => [join(BUILT, file), valuesOf("id", readFileSync(join(BUILT, file), "utf8"))]),
    );
    const wrong = pages.flatMap((file) => {
      const html = readFileSync(join(BUILT, file), "utf8");
      const addresses = (["href", "src", "srcset"] as const).flatMap((attribute) => valuesOf(attribute, html));
      const own = addresses.filter((address) => /^[/#.]/.test(address));
      assert.ok(own.length > 20, `${file} has ${own.length} links`);
      return own.flatMap((address) => {
        const target = address.startsWith("#") ? join(BUILT, file) : fileOf(address);
        const anchor = address.split("#")[1];
        const isThere = existsSync(target) && (!anchor || ids.get(target)?.includes(decodeURIComponent(anchor)));
        return isThere ? [] : [`${file}: ${address}`];
      });
    });
    assert.deepEqual([...new Set(wrong)], []);
  });

  for (const [screen, theme] of [
    ["desk", "light"],
    ["phone", "dark"],
  ] as const satisfies [Screen, Theme][]) {
    it(`finds a word and opens the page that is about it, and asks no other host (${screen}, ${theme})`, async () => {
      await using visitor = await visit(browser, url, { screen, theme, path: "/docs/" });
      const { page, context } = visitor;
      const elsewhere: string[] = [];
      context.on("request", (request) => {
        if (!request.url().startsWith(url)) elsewhere.push(request.url());
      });
      for (const [words, path, heading] of [
        ["erase person", "/docs/how-to/personal-data.html", "Personal data"],
        ["restore backup", "/docs/how-to/operate.html", "Run it"],
        ["slack buttons", "/docs/how-to/slack.html", "Ask on Slack"],
      ] as const) {
        await search(page, screen, { words, path });
        await page.waitForURL((to) => to.pathname === path);
        await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      }
      assert.deepEqual(elsewhere, []);
    });
  }

  it("shows every page on a phone without scrolling sideways, dark where the phone is", async () => {
    await using visitor = await visit(browser, url, { screen: "phone", theme: "dark" });
    const { page } = visitor;
    for (const path of globSync("**/*.html", { cwd: BUILT })) {
      await page.goto(`/${path}`, { waitUntil: "domcontentloaded" });
      const [wider, isDark] = await page.evaluate(() => [
        document.documentElement.scrollWidth - innerWidth,
        document.documentElement.classList.contains("dark"),
      ]);
      assert.deepEqual([path, wider, isDark], [path, 0, true]);
    }
  });

  it("leads from the index to a page and from that to the next, by what docs/README.md lists", async () => {
    await using visitor = await visit(browser, url, { screen: "phone", path: "/docs/how-to/receipts.html" });
    const { page } = visitor;
    await page.getByRole("button", { name: "Menu" }).tap();
    await page.getByRole("complementary").getByRole("link", { name: "Workers", exact: true }).tap();
    await page.getByRole("heading", { level: 1, name: "Workers" }).waitFor();
    await page.getByRole("link", { name: /^Next page/ }).tap();
    await page.waitForURL((to) => to.pathname === "/docs/how-to/policy.html");
  });
});
