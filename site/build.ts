/**
 * Builds the site of the documents into `site/dist`: `npm run site:build`; `npm run site` serves it as well.
 *
 * Its packages are installed in this folder on the first run, and whenever the lock file has changed. Options go to
 * VitePress: `npm run site:build -- --base /parley/` for a site that is not at the root of its host, and
 * `npm run site -- --port 8080` for another port.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { collectPages } from "./pages.ts";

const FOLDER = import.meta.dirname;
const ROOT = join(FOLDER, "..");
const PAGES = join(FOLDER, "pages");
const LOCK = join(FOLDER, "package-lock.json");
const INSTALLED_FROM = join(FOLDER, "node_modules", ".installed-from");

const [first, ...rest] = process.argv.slice(2);
const isServed = first === "serve";

install();
writePages();
vitepress("build", isServed ? [] : process.argv.slice(2));
if (isServed) vitepress("preview", rest);

function install(): void {
  if (existsSync(INSTALLED_FROM) && readFileSync(INSTALLED_FROM, "utf8") === readFileSync(LOCK, "utf8")) return;
  console.error("Installing what builds the site, about 100 MB ...");
  run("npm", ["ci", "--no-audit", "--no-fund"]);
  copyFileSync(LOCK, INSTALLED_FROM);
}

function writePages(): void {
  rmSync(PAGES, { recursive: true, force: true });
  const { pages, pictures } = collectPages(ROOT);
  for (const { path, text } of pages) {
    mkdirSync(dirname(join(PAGES, path)), { recursive: true });
    writeFileSync(join(PAGES, path), text);
  }
  for (const picture of pictures) cpSync(join(ROOT, picture), join(PAGES, picture));
}

function vitepress(command: string, words: string[]): void {
  run(process.execPath, [join(FOLDER, "node_modules", "vitepress", "bin", "vitepress.js"), command, FOLDER, ...words]);
}

/** Runs a command to its end, and ends as it did when it failed. */
function run(program: string, words: string[]): void {
  const { status, error } = spawnSync(program, words, {
    cwd: FOLDER,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error) console.error(error.message);
  if (status !== 0) process.exit(status ?? 1);
}
