/** Takes a picture of every screen into docs/screenshots: `npm run screenshots`, or only those whose name holds a word. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BOARD_VIEWS, fillBoard, showBoard } from "./assignment-screens.ts";
import { visitAssignments } from "./assignment-world.ts";
import { launchBrowser } from "./chromium.ts";
import { CONSOLE_VIEWS, fillConsole, showConsole, visitConsole } from "./console-screens.ts";
import { fillInbox, INBOX_VIEWS, showInbox } from "./inbox-screens.ts";
import { VIEWS, fill, show } from "./screens.ts";
import { serve } from "./served.ts";
import type { Visitor } from "./visitor.ts";

const FOLDER = fileURLToPath(new URL("../../docs/screenshots/", import.meta.url));
/** Every screen once on a phone and once at a desk, and the main path in the other theme too. */
const LOOKS = [
  { screen: "phone", theme: "light", names: /./ },
  { screen: "desk", theme: "dark", names: /./ },
  { screen: "phone", theme: "dark", names: /^(feed|question|result|inbox|inbox-approval)$/ },
  { screen: "desk", theme: "light", names: /^(feed|question|result|inbox-approval)$/ },
] as const;

mkdirSync(FOLDER, { recursive: true });
const words = process.argv.slice(2);
const isWanted = (file: string): boolean => words.length === 0 || words.some((word) => file.includes(word));

async function take(visitor: Visitor, file: string): Promise<void> {
  await visitor.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await visitor.page.mouse.move(0, 0);
  await visitor.page.screenshot({ path: FOLDER + file });
  console.log(`docs/screenshots/${file}`);
}

const browser = await launchBrowser();
try {
  for (const { screen, theme, names } of LOOKS) {
    const fileOf = ({ name }: { name: string }): string => `${name}-${screen}-${theme}.png`;
    const wanted = <View extends { name: string }>(views: readonly View[]): View[] =>
      views.filter((view) => names.test(view.name) && isWanted(fileOf(view)));

    if (wanted(VIEWS).length > 0) {
      await using served = await serve();
      await fill(served);
      for (const view of wanted(VIEWS)) {
        await using visitor = await show(browser, served, view, { screen, theme });
        await take(visitor, fileOf(view));
      }
    }
    if (wanted(CONSOLE_VIEWS).length > 0) {
      await using filled = await fillConsole();
      await using visitor = await visitConsole(browser, filled, { screen, theme });
      for (const view of wanted(CONSOLE_VIEWS)) {
        await showConsole(visitor, filled, view);
        await take(visitor, fileOf(view));
      }
    }
    if (wanted(BOARD_VIEWS).length > 0) {
      await using filled = await fillBoard();
      await using visitor = await visitAssignments(browser, filled, { screen, theme });
      for (const view of wanted(BOARD_VIEWS)) {
        await showBoard(visitor, filled, view);
        await take(visitor, fileOf(view));
      }
    }
    if (wanted(INBOX_VIEWS).length > 0) {
      const filled = await fillInbox();
      await using _world = filled.world;
      await using visitor = await filled.ana.visit(browser, { screen, theme });
      for (const view of wanted(INBOX_VIEWS)) {
        await showInbox(visitor, filled, view);
        await take(visitor, fileOf(view));
      }
    }
  }
} finally {
  await browser.close();
}
