/**
 * Collects the pages of the site: the README, the index of the documents, and all files that these link to, directly or
 * through others.
 *
 * A page has the address of its file: `docs/how-to/inbox.md` is at `/docs/how-to/inbox.html`, and a README is the page
 * of its folder. Any other file, such as `compose.yaml`, is shown as text on a page of its own. So every link within
 * the repository leads somewhere, whether or not anybody knows an address of the repository.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, normalize } from "node:path/posix";
import { isElsewhere, replaceLinks } from "./links.ts";

export const INDEX = "docs/README.md";
const FIRST = ["README.md", INDEX];
const PICTURES = [".webp", ".svg"];
/** Measurements of one day, which nobody means who searches for what they measure. */
const NOT_SEARCHED = /^bench\//;
const LANGUAGES: Readonly<Record<string, string>> = { ".yaml": "yaml", Dockerfile: "docker" };

export interface Page {
  /** The file of the repository that it shows. */
  file: string;
  /** Where it is among the pages of the site. */
  path: string;
  text: string;
}

export interface Collected {
  pages: Page[];
  /** Files that pages show as pictures; they keep their paths. */
  pictures: string[];
}

/**
 * Returns the pages of the repository in that folder, with links between them as the site needs them.
 *
 * @throws where a link leads to no file, or to a folder without a README
 */
export function collectPages(root: string): Collected {
  const pages = new Map<string, Page>();
  const pictures = new Set<string>();
  const waiting = [...FIRST];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (pages.has(file)) continue;
    const written = readFileSync(join(root, file), "utf8");
    // A prompt for a model is shown as text, even if its file name ends in `.md`.
    if (!file.endsWith(".md") || !written.startsWith("# ")) {
      pages.set(file, { file, path: pathOf(file), text: shownAsText(file, written) });
      continue;
    }
    const from = file;
    const text = replaceLinks(written, (link) => {
      if (isElsewhere(link) || link.startsWith("#")) return link;
      const target = targetOf(root, from, link);
      if (PICTURES.includes(extname(target))) {
        pictures.add(target);
        // A link to a file beside the page must begin with a dot. Otherwise it would be taken for an address of the
        // web.
        return link.startsWith(".") ? link : `./${link}`;
      }
      waiting.push(target);
      const [, anchor] = link.split("#");
      return `/${pathOf(target)}${anchor === undefined ? "" : `#${anchor}`}`;
    });
    const matter = NOT_SEARCHED.test(file) ? "---\nsearch: false\n---\n\n" : "";
    pages.set(file, { file, path: pathOf(file), text: matter + text });
  }
  const byPath = (one: Page, other: Page) => one.path.localeCompare(other.path);
  return { pages: [...pages.values()].toSorted(byPath), pictures: [...pictures].sort() };
}

/** Returns the file of the repository that a link of a page leads to: for a folder, its README. */
function targetOf(root: string, page: string, link: string): string {
  const [path = ""] = link.split("#");
  const target = normalize(join(dirname(page), decodeURI(path)));
  const file =
    existsSync(join(root, target)) && statSync(join(root, target)).isDirectory() ? `${target}/README.md` : target;
  if (!existsSync(join(root, file))) throw new Error(`${page}: ${link} leads to ${file}, which is not there.`);
  return file;
}

/** Returns where a file is among the pages of the site. */
function pathOf(file: string): string {
  return file.endsWith(".md") ? file.replace(/(^|\/)README\.md$/, "$1index.md") : `${file}.md`;
}

function shownAsText(file: string, text: string): string {
  return `# ${file}\n\n\`\`\`${LANGUAGES[extname(file) || basename(file)] ?? "text"}\n${text.trimEnd()}\n\`\`\`\n`;
}

export interface Item {
  text: string;
  /** The address of its page in the site; a group has none. */
  link?: string;
  items?: Item[];
}

/** Returns what the index of the documents lists, by its headings, and within them by the lines that end in a colon. */
export function navigation(root: string): Item[] {
  const sections: Item[] = [];
  let open: Item[] = [];
  for (const line of readFileSync(join(root, INDEX), "utf8").split("\n")) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    const [, group] = /^(\w[^:]*):$/.exec(line) ?? [];
    const [, text, link] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? [];
    if (heading !== undefined) {
      open = [];
      sections.push({ text: heading, items: open });
    } else if (group !== undefined) {
      const items: Item[] = [];
      sections.at(-1)?.items?.push({ text: group, items });
      open = items;
    } else if (text !== undefined && link !== undefined) {
      open.push({ text, link: `/${pathOf(targetOf(root, INDEX, link))}` });
    }
  }
  return sections;
}
