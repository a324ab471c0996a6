import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { linksOf } from "../../site/links.ts";

export const ROOT_FOLDER = fileURLToPath(new URL("../..", import.meta.url));
/** Every page that shows somebody how to use the product. */
export const DOCUMENTS = [
  "README.md",
  "sdk/README.md",
  "sdk-python/README.md",
  ...globSync(["docs/*.md", "docs/{tutorials,how-to,reference,explanation}/*.md"], { cwd: ROOT_FOLDER }).sort(),
];

/** A fenced block of a page. */
export interface Block {
  file: string;
  /** The line of its fence, as an editor counts. */
  line: number;
  language: string;
  text: string;
}

export const textOf = (file: string): string => readFileSync(`${ROOT_FOLDER}/${file}`, "utf8");

/** Returns the blocks of a page, in its order. */
export function blocksOf(file: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  textOf(file)
    .split("\n")
    .forEach((line, i) => {
      const [, fence] = /^\s*```(.*)$/.exec(line) ?? [];
      if (open && fence === undefined) open.text += `${line}\n`;
      else if (open) {
        blocks.push(open);
        open = undefined;
      } else if (fence !== undefined) open = { file, line: i + 1, language: fence.trim(), text: "" };
    });
  if (open) throw new Error(`${file}:${open.line}: a block without an end`);
  return blocks;
}

/** Returns the names of the files in docs/screenshots that pages show. */
export function picturesShown(): ReadonlySet<string> {
  const pages = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT_FOLDER }).map((page) => page.replaceAll("\\", "/"));
  const shown = pages.flatMap((page) => {
    const sources = [...textOf(page).matchAll(/srcset="([^"]+)"/g)].map(([, to = ""]) => to);
    return [...linksOf(textOf(page)), ...sources].map((to) => join(dirname(page), to));
  });
  return new Set(shown.filter((file) => dirname(file) === "docs/screenshots").map((file) => basename(file)));
}

/** Returns the commands that a page names in its text, such as `keys create`. */
export function commandsIn(file: string): string[] {
  const spans = textOf(file).matchAll(/`(?:npx )?parley ([a-z]+)(?: ([a-z]+(?:-[a-z]+)*))?[^`]*`/g);
  return [...spans].map(([, first = "", second]) => (second === undefined ? first : `${first} ${second}`));
}
