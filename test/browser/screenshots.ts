/**
 * Takes a picture of every screen into docs/screenshots, at both widths and in both themes: `npm run screenshots`, or
 * only those whose name holds a word that is given.
 *
 * Ends with code 1 where a screen cannot be reached, or the pictures are too large. Where all were taken, pictures of
 * screens that are no more go.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOARD_VIEWS, fillBoard, showBoard } from "./assignment-screens.ts";
import { visitAssignments } from "./assignment-world.ts";
import { launchBrowser } from "./chromium.ts";
import { CONSOLE_VIEWS, fillConsole, showConsole, visitConsole } from "./console-screens.ts";
import { fillInbox, INBOX_VIEWS, showInbox } from "./inbox-screens.ts";
import { fillLanguages, LANGUAGE_VIEWS, showLanguage } from "./language-screens.ts";
import { MOST_BYTES, pictureFile, PICTURES_FOLDER, takePicture, THEMES } from "./pictures.ts";
import { VIEWS, fill, show } from "./screens.ts";
import { serve } from "./served.ts";
import { atRest, type Screen, type Visitor } from "./visitor.ts";

type Named = { name: string };
/** How long a screen may take to come, in ms. */
const WITHIN_MS = 30_000;
const SCREENS: readonly Screen[] = ["phone", "desk"];
const ALL = [VIEWS, CONSOLE_VIEWS, BOARD_VIEWS, INBOX_VIEWS, LANGUAGE_VIEWS].flat();
/** They look like another, but for some words. */
const LIKE_ANOTHER = [
  "question-undone",
  "not-found",
  "console-channel-off",
  "console-key",
  "console-person-remove",
  "console-signed-out",
];

const words = process.argv.slice(2);
const isWanted = (screen: Screen, { name }: Named): boolean =>
  !LIKE_ANOTHER.includes(name) &&
  (words.length === 0 || THEMES.some((theme) => words.some((word) => pictureFile(name, screen, theme).includes(word))));
const count = SCREENS.flatMap((screen) => ALL.filter((view) => isWanted(screen, view))).length * THEMES.length;
const taken: string[] = [];
const failed: string[] = [];
const begun = performance.now();
const seconds = (): string => `${((performance.now() - begun) / 1000).toFixed(0)} s`;

/** Takes the pictures of what a tab shows. */
async function take({ page }: Visitor, { name }: Named, screen: Screen): Promise<void> {
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await atRest(page);
    const file = pictureFile(name, screen, theme);
    const picture = await takePicture(page);
    writeFileSync(join(PICTURES_FOLDER, file), picture);
    taken.push(file);
    console.log(`${taken.length}/${count} docs/screenshots/${file}, ${picture.length} bytes, ${seconds()}`);
  }
}

/** Shows each wanted view and takes it. One that cannot be reached is reported, and the others are taken. */
async function takeEach<View extends Named>(
  views: readonly View[],
  screen: Screen,
  open: (view: View, takeIt: (visitor: Visitor) => Promise<void>) => Promise<void>,
): Promise<void> {
  for (const view of views.filter((one) => isWanted(screen, one))) {
    try {
      await open(view, (visitor) => take(visitor, view, screen));
    } catch (error) {
      failed.push(pictureFile(view.name, screen, "light"));
      console.error(`${view.name} cannot be reached on a ${screen}:`, error);
    }
  }
}

/** A tab that waits for a screen as long as one may take. */
function impatient(visitor: Visitor): Visitor {
  visitor.context.setDefaultTimeout(WITHIN_MS);
  return visitor;
}

const browser = await launchBrowser();

async function takeAnswer(screen: Screen): Promise<void> {
  await using served = await serve();
  await fill(served);
  await takeEach(VIEWS, screen, async (view, takeIt) => {
    const serviceWorkers = view.name === "waiting" ? "allow" : "block";
    await using visitor = await show(browser, served, view, { screen, serviceWorkers });
    await takeIt(visitor);
  });
}

async function takeConsole(screen: Screen): Promise<void> {
  await using filled = await fillConsole();
  await using visitor = impatient(await visitConsole(browser, filled, { screen, serviceWorkers: "block" }));
  await takeEach(CONSOLE_VIEWS, screen, async (view, takeIt) => {
    await showConsole(visitor, filled, view);
    await takeIt(visitor);
  });
}

async function takeBoard(screen: Screen): Promise<void> {
  await using filled = await fillBoard();
  await using visitor = impatient(await visitAssignments(browser, filled, { screen, serviceWorkers: "block" }));
  await takeEach(BOARD_VIEWS, screen, async (view, takeIt) => {
    await showBoard(visitor, filled, view);
    await takeIt(visitor);
  });
}

async function takeInbox(screen: Screen): Promise<void> {
  const filled = await fillInbox();
  await using _world = filled.world;
  await using visitor = impatient(await filled.ana.visit(browser, { screen, serviceWorkers: "block" }));
  await takeEach(INBOX_VIEWS, screen, async (view, takeIt) => {
    await showInbox(visitor, filled, view);
    await takeIt(visitor);
  });
}

async function takeLanguages(screen: Screen): Promise<void> {
  const filled = await fillLanguages();
  await using _world = filled.world;
  await takeEach(LANGUAGE_VIEWS, screen, async (view, takeIt) => {
    await using visitor = await showLanguage(browser, filled, view, { screen, serviceWorkers: "block" });
    await takeIt(visitor);
  });
}

const PARTS: readonly [views: readonly Named[], takeAll: (screen: Screen) => Promise<void>][] = [
  [VIEWS, takeAnswer],
  [INBOX_VIEWS, takeInbox],
  [LANGUAGE_VIEWS, takeLanguages],
  [CONSOLE_VIEWS, takeConsole],
  [BOARD_VIEWS, takeBoard],
];

mkdirSync(PICTURES_FOLDER, { recursive: true });
try {
  const takeScreen = async (screen: Screen): Promise<void> => {
    for (const [views, takeAll] of PARTS) {
      if (views.some((view) => isWanted(screen, view))) await takeAll(screen);
    }
  };
  await Promise.all(SCREENS.map(takeScreen));
} finally {
  await browser.close();
}

const pictures = readdirSync(PICTURES_FOLDER).filter((file) => !file.startsWith("."));
if (words.length === 0 && failed.length === 0) {
  const gone = pictures.filter((file) => !file.startsWith("approval") && !taken.includes(file));
  for (const file of gone) {
    rmSync(join(PICTURES_FOLDER, file));
    console.log(`docs/screenshots/${file} is of no screen, and went`);
  }
}
const bytes = readdirSync(PICTURES_FOLDER).reduce((sum, file) => sum + statSync(join(PICTURES_FOLDER, file)).size, 0);
console.log(`${taken.length} of ${count} pictures taken in ${seconds()}; all have ${bytes} bytes of ${MOST_BYTES}`);
if (failed.length > 0) console.error(`not reached: ${failed.join(", ")}`);
if (failed.length > 0 || bytes > MOST_BYTES) process.exitCode = 1;
