import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { atRest, type Theme } from "./visitor.ts";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const WCAG_22_AA: axe.RunOnly = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};
/** The rules of axe that look at colours. */
const COLOUR_RULES: axe.RunOnly = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/**
 * Fails with what axe finds on a page in either theme: every rule in the light one, and in the dark one those about
 * colours, which are all that a theme changes. The page is left in the dark theme.
 */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  await changeTheme(page, "light");
  assert.deepEqual(await findings(page, WCAG_22_AA), [], `${where}, light`);
  await changeTheme(page, "dark");
  assert.deepEqual(await findings(page, COLOUR_RULES), [], `${where}, dark`);
}

/** Resolves when the page has the colours of a theme, which some parts pass into bit by bit. */
async function changeTheme(page: Page, colorScheme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await atRest(page);
}

/**
 * Returns the violations that axe finds in the page itself. Loading axe into a document takes longer than running it,
 * so it is loaded once. Only violations are written out, because describing each element that passed takes half as long
 * as the rules.
 */
async function findings(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  return page.evaluate(async (rules) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: rules,
      resultTypes: ["violations"],
    });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
  }, runOnly);
}

/** Fails where a page on a phone has something too small for a thumb, or is too wide with text of twice the size. */
export async function assertMadeForThumbsAndLargeText(page: Page): Promise<void> {
  assert.deepEqual(await smallTargets(page), []);
  await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
  const { wide, has } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    has: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= has, `${wide} pixels of content on a screen of ${has}`);
}

/** Whatever can be pressed and is smaller than a thumb; links inside a sentence may be. */
export async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pressed = document.querySelectorAll(
      "a, button, select, textarea, summary, label:has(input), input[type=text]",
    );
    const isSeen = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true });
    const isInSentence = (element: Element): boolean => element.matches("p a");
    const isForKeyboard = (element: Element): boolean => element.getBoundingClientRect().bottom < 0;
    return [...pressed]
      .filter((element) => isSeen(element) && !isInSentence(element) && !isForKeyboard(element))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => Math.round(box.width) < 44 || Math.round(box.height) < 44)
      .map(
        ({ element, box }) => `${Math.round(box.width)}x${Math.round(box.height)} ${element.outerHTML.slice(0, 120)}`,
      );
  });
}
