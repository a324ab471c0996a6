import type { Page } from "playwright-core";

export const WCAG_22_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

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
