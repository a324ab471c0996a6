/** Takes a picture of every screen into docs/screenshots: `npm run screenshots`, or only those whose name holds a word. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launchBrowser } from "./chromium.ts";
import { VIEWS, fill, show } from "./screens.ts";
import { serve } from "./served.ts";

const FOLDER = fileURLToPath(new URL("../../docs/screenshots/", import.meta.url));
/** Every screen once on a phone and once at a desk, and the main path in the other theme too. */
const LOOKS = [
  { screen: "phone", theme: "light", names: /./ },
  { screen: "desk", theme: "dark", names: /./ },
  { screen: "phone", theme: "dark", names: /^(feed|question|result)$/ },
  { screen: "desk", theme: "light", names: /^(feed|question|result)$/ },
] as const;

mkdirSync(FOLDER, { recursive: true });
const words = process.argv.slice(2);
const browser = await launchBrowser();
try {
  for (const { screen, theme, names } of LOOKS) {
    await using served = await serve();
    await fill(served);
    for (const view of VIEWS) {
      const name = `${view.name}-${screen}-${theme}.png`;
      if (!names.test(view.name) || !(words.length === 0 || words.some((word) => name.includes(word)))) continue;
      await using visitor = await show(browser, served, view, { screen, theme });
      await visitor.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await visitor.page.mouse.move(0, 0);
      await visitor.page.screenshot({ path: FOLDER + name });
      console.log(`docs/screenshots/${name}`);
    }
  }
} finally {
  await browser.close();
}
