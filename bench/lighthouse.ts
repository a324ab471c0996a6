/**
 * Judges the main pages of the web app with Lighthouse, on a phone and at a desk: `npm run bench:lighthouse`.
 *
 * Installs Lighthouse from npm into a temporary folder. Ends with code 1 where a category has less than 95 points, or
 * the layout shifts by 0.05 or more.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { launchReachable } from "../test/browser/chromium.ts";
import { fillConsole, visitConsole } from "../test/browser/console-screens.ts";
import { fill } from "../test/browser/screens.ts";
import { reservePort } from "../test/support/ports.ts";
import { lookAtMachine } from "./machine.ts";
import { importFrom, installPeers } from "./peers/packages.ts";

const LEAST_POINTS = 95;
/**
 * Somebody who is signed in reads the stream of events, which never ends and which Lighthouse waits for: it takes any
 * fetch of the page for critical. A page has everything else within this time, in ms.
 */
const SETTLES_WITHIN_MS = 15_000;
const MOST_MS = 180_000;
const MOST_SHIFT = 0.05;
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
const SCREENS = {
  phone: {},
  desk: {
    formFactor: "desktop",
    screenEmulation: { mobile: false, width: 1280, height: 800, deviceScaleFactor: 1, disabled: false },
    throttling: { rttMs: 40, throughputKbps: 10_240, cpuSlowdownMultiplier: 1 },
  },
} as const;

/** The parts of Lighthouse's result that are read here. */
interface Judged {
  lhr: {
    categories: Record<string, { score: number | null }>;
    audits: Record<string, { score: number | null; title: string; numericValue?: number; scoreDisplayMode: string }>;
  };
}
type Lighthouse = { default: (url: string, flags: object) => Promise<Judged | undefined> };

/** Returns the addresses of the main pages, and the cookie of somebody who is signed in. */
async function pagesOf(page: Page, url: string): Promise<{ pages: [name: string, path: string][]; cookie: string }> {
  await page.goto(`${url}/inbox`);
  const request = page.locator('a[href^="/inbox/ask_"]').first();
  await request.waitFor();
  const cookies = await page.context().cookies();
  return {
    pages: [
      ["Answer", "/"],
      ["Inbox", "/inbox"],
      ["a request", (await request.getAttribute("href")) ?? "/inbox"],
      ["Run", "/console"],
      ["You", "/me"],
    ],
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
  };
}

const folder = mkdtempSync(join(tmpdir(), "parley-lighthouse-"));
const port = await reservePort();
let worst = 100;
let mostShift = 0;
try {
  installPeers(folder, ["lighthouse"]);
  const { default: lighthouse } = (await importFrom(folder, "lighthouse")) as Lighthouse;
  await using filled = await fillConsole();
  const { url } = filled.world;
  await fill({ url }, { places: 50 });
  const browser = await launchReachable(port);
  try {
    const visitor = await visitConsole(browser, filled, { screen: "phone" });
    const { pages, cookie } = await pagesOf(visitor.page, url);
    const machine = lookAtMachine(folder);
    console.log(`${machine.date}, ${machine.describes}\n`);
    console.log(`| page | screen | ${CATEGORIES.join(" | ")} | layout shift |`);
    console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (const [name, path] of pages) {
      for (const [screen, settings] of Object.entries(SCREENS)) {
        // A server of one's own asks search engines to stay away.
        const skipAudits = ["is-crawlable"];
        const extraHeaders = { Cookie: cookie };
        const maxWaitForLoad = SETTLES_WITHIN_MS;
        const flags = { port, logLevel: "error", maxWaitForLoad, onlyCategories: CATEGORIES, skipAudits, extraHeaders };
        const late = sleep(MOST_MS, undefined, { ref: false });
        const judged = await Promise.race([lighthouse(url + path, { ...flags, ...settings }), late]);
        // It still holds the browser, and would disturb the pages after it.
        if (!judged) throw new Error(`${name} at a ${screen} was not judged within ${MOST_MS / 1000} s`);
        const { categories, audits } = judged.lhr;
        const points = CATEGORIES.map((category) => Math.round((categories[category]?.score ?? 0) * 100));
        const shift = audits["cumulative-layout-shift"]?.numericValue ?? Number.NaN;
        worst = Math.min(worst, ...points);
        mostShift = Math.max(mostShift, shift);
        console.log(`| ${name} | ${screen} | ${points.join(" | ")} | ${shift.toFixed(3)} |`);
        const lost = Object.values(audits).filter(
          ({ score, scoreDisplayMode }) => score !== null && score < 0.9 && scoreDisplayMode !== "informative",
        );
        if (Math.min(...points) < LEAST_POINTS) for (const { title } of lost) console.error(`  ${title}`);
      }
    }
  } finally {
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (worst < LEAST_POINTS || !(mostShift < MOST_SHIFT)) process.exitCode = 1;
