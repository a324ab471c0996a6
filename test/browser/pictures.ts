/** Pictures of screens: where they are, how each is named, and how one is taken. */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { atRest, type Screen, type Theme } from "./visitor.ts";

/** The pictures that pages show. */
export const PICTURES_FOLDER = fileURLToPath(new URL("../../docs/screenshots/", import.meta.url));
/** A picture of every screen, which git ignores. */
export const SCREENS_FOLDER = fileURLToPath(new URL("../../dist/screenshots/", import.meta.url));
export const THEMES: readonly Theme[] = ["light", "dark"];
/** The widths of the screens, in pixels. */
export const WIDTHS: Readonly<Record<Screen, number>> = { phone: 390, desk: 1280 };
/** Words stay legible, and so do hairlines, which go below it. */
const QUALITY = 16;

export const pictureFile = (name: string, screen: Screen, theme: Theme): string =>
  `${name}-${WIDTHS[screen]}-${theme}.webp`;

/**
 * Returns what a tab shows as WebP, of `scale` pixels for each of CSS: nothing moves on it, and nothing in it has the
 * focus.
 */
export async function takePicture(page: Page, { quality = QUALITY, scale = 1 } = {}): Promise<Buffer> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  await page.mouse.move(0, 0);
  await page.evaluate(async () => {
    (document.activeElement as HTMLElement | null)?.blur();
    await document.fonts.ready;
  });
  await atRest(page);
  // A sign that something loads moves without end.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) animation.cancel();
  });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", {
    format: "webp",
    quality,
    ...(scale !== 1 && { clip: { x: 0, y: 0, width, height, scale } }),
  });
  await session.detach();
  return Buffer.from(data, "base64");
}
