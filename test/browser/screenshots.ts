/**
 * Takes a picture of every screen into dist/screenshots, at both widths and in both themes: `npm run screenshots`, or
 * only those whose name holds a word that is given. With `--shown` it renews the pictures of docs/screenshots that pages
 * show, and no others.
 *
 * Ends with code 1 where a screen cannot be reached.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { picturesShown, ROOT_FOLDER } from "../support/documents.ts";
import { BOARD_VIEWS, fillBoard, showBoard } from "./assignment-screens.ts";
import { visitAssignments } from "./assignment-world.ts";
import { launchBrowser } from "./chromium.ts";
import { CONSOLE_VIEWS, fillConsole, showConsole, visitConsole } from "./console-screens.ts";
import { fillInbox, INBOX_VIEWS, showInbox } from "./inbox-screens.ts";
import { fillLanguages, LANGUAGE_VIEWS, showLanguage } from "./language-screens.ts";
import { pictureFile, PICTURES_FOLDER, SCREENS_FOLDER, takePicture, THEMES } from "./pictures.ts";
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

const { values, positionals: words } = parseArgs({ allowPositionals: true, options: { shown: { type: "boolean" } } });
const shown = picturesShown();
const folder = values.shown ? PICTURES_FOLDER : SCREENS_FOLDER;
const isChosen = (file: string): boolean =>
  (!values.shown || shown.has(file)) && (words.length === 0 || words.some((word) => file.includes(word)));
const themesOf = (screen: Screen, { name }: Named) =>
  LIKE_ANOTHER.includes(name) ? [] : THEMES.filter((theme) => isChosen(pictureFile(name, screen, theme)));
const isWanted = (screen: Screen, view: Named): boolean => themesOf(screen, view).length > 0;
const count = SCREENS.flatMap((screen) => ALL.flatMap((view) => themesOf(screen, view))).length;
const taken: string[] = [];
const failed: string[] = [];
const begun = performance.now();
const seconds = (): string => `${((performance.now() - begun) / 1000).toFixed(0)} s`;

/** Takes the pictures of what a tab shows. */
async function take({ page }: Visitor, view: Named, screen: Screen): Promise<void> {
  for (const theme of themesOf(screen, view)) {
    await page.emulateMedia({ colorScheme: theme });
    await atRest(page);
    const file = join(folder, pictureFile(view.name, screen, theme));
    const picture = await takePicture(page);
    writeFileSync(file, picture);
    taken.push(file);
    console.log(`${taken.length}/${count} ${relative(ROOT_FOLDER, file)}, ${picture.length} bytes, ${seconds()}`);
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

if (!values.shown && words.length === 0) rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
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

console.log(`${taken.length} of ${count} pictures taken in ${seconds()}`);
if (failed.length > 0) {
  console.error(`not reached: ${failed.join(", ")}`);
  process.exitCode = 1;
}
