import assert from "node:assert/strict";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { newProfile } from "./chromium.ts";

/** Somebody in front of a screen, with a browser profile of their own. */
export interface Visitor extends AsyncDisposable {
  context: BrowserContext;
  page: Page;
  /** How often this profile has sent an answer, whichever of its tabs did. */
  sent(): number;
  /** Resolves when as many reports have come as were provoked on purpose, and takes them back. */
  forgive(pattern: RegExp, count: number): Promise<void>;
  /** Another tab of the same profile. */
  openTab(path?: string): Promise<Page>;
}

export const SCREENS = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  desk: { viewport: { width: 1280, height: 800 }, hasTouch: false, isMobile: false, deviceScaleFactor: 1 },
} as const;
export type Screen = keyof typeof SCREENS;
export type Theme = "light" | "dark";

/** How somebody looks at the app. */
export interface Look {
  screen: Screen;
  theme?: Theme;
  /** Where they are blocked, the profile does not fetch the whole app once more to have it without a network. */
  serviceWorkers?: "allow" | "block";
  /** The language of the browser; `en-GB` where none is given. */
  locale?: string;
}

/**
 * Opens the app in a fresh profile. Whatever the page does that it must not, such as breaking its own content security
 * policy or throwing, fails the test when the visitor leaves.
 */
export async function visit(
  browser: Browser,
  url: string,
  { screen, theme = "light", path = "/", serviceWorkers = "allow", locale = "en-GB" }: Look & { path?: string },
): Promise<Visitor> {
  const context = await newProfile(browser, {
    ...SCREENS[screen],
    serviceWorkers,
    colorScheme: theme,
    baseURL: url,
    locale,
  });
  const troubles: string[] = [];
  let sent = 0;
  context.on("weberror", (error) => troubles.push(error.error().stack ?? error.error().message));
  context.on("console", (message) => {
    if (message.text().startsWith("CSP ")) troubles.push(message.text());
  });
  context.on("request", (request) => {
    if (request.method() === "POST" && new URL(request.url()).pathname === "/human/responses") sent += 1;
  });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
      console.error(`CSP ${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
    });
  });
  const openTab = async (to = "/"): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(to);
    return page;
  };
  const page = await openTab(path);
  return {
    context,
    page,
    sent: () => sent,
    async forgive(pattern, count) {
      while (troubles.filter((trouble) => pattern.test(trouble)).length < count) await page.waitForTimeout(20);
      const others = troubles.filter((trouble) => !pattern.test(trouble));
      assert.equal(troubles.length - others.length, count);
      troubles.splice(0, troubles.length, ...others);
    },
    openTab,
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(troubles, []);
    },
  };
}

/** Presses one of the keys that decide a call, once it acts. */
export async function pressKey(page: Page, key: "a" | "r"): Promise<void> {
  await page.locator(`[aria-keyshortcuts="${key}"]`).waitFor();
  await page.keyboard.press(key);
}

/** Presses a key until this shows: for half a second no key acts on what has just appeared. */
export async function pressUntil(page: Page, key: string, isShown: () => Promise<boolean>): Promise<void> {
  while (!(await isShown())) {
    await page.keyboard.press(key);
    for (let looks = 0; looks < 40 && !(await isShown()); looks += 1) await page.waitForTimeout(20);
  }
}

/** Resolves when the service worker has everything it needs to open the app without a network, and has this page. */
export async function readyForOffline(page: Page): Promise<void> {
  const isTaken = await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    for (let tries = 0; tries < 50 && !navigator.serviceWorker.controller; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return navigator.serviceWorker.controller !== null;
  });
  // A page that was still loading when the worker started is left out of its first claim.
  if (!isTaken) await page.reload();
}

/** Resolves when nothing on the page moves any more; what moves without end, such as a sign that it loads, is left out. */
export async function atRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const moving = () =>
      document.getAnimations().filter(({ effect, playState }) => {
        return playState === "running" && effect?.getComputedTiming().endTime !== Infinity;
      });
    do {
      await Promise.allSettled(moving().map(({ finished }) => finished));
      // An element that was just drawn for the first time begins to move in the next frame.
      for (let i = 0; i < 2; i += 1) await frame();
    } while (moving().length > 0);
  });
}

/** Opens a question from the list, which lies in a drawer where the screen is narrow. */
export async function pick(page: Page, prompt: string | RegExp): Promise<void> {
  const isNarrow = (page.viewportSize()?.width ?? 0) < 960;
  if (isNarrow) await page.getByRole("button", { name: /^Questions/ }).click();
  await page.getByRole("link").filter({ hasText: prompt }).click();
}

/** The row of a question in the list. */
export function row(page: Page, prompt: string) {
  return page.getByRole("link", { name: prompt });
}
