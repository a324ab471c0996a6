/** The site of the documents. build.ts puts its pages together, and its navigation is docs/README.md. */
import { fileURLToPath } from "node:url";

// By their addresses, so that Node loads them: what VitePress compiles them with does not know our tsconfig.json.
const { anchorOf } = await import(new URL("../links.ts", import.meta.url).href);
const { navigation } = await import(new URL("../pages.ts", import.meta.url).href);

const sections = navigation(fileURLToPath(new URL("../..", import.meta.url)));

/** Has Vue show two braces as they stand, where it would put in what an expression between them is worth. */
function keepBraces(markdown) {
  const { rules } = markdown.renderer;
  for (const kind of ["text", "code_inline"]) {
    const render = rules[kind];
    rules[kind] = (...given) => render(...given).replaceAll("{{", "&#123;&#123;");
  }
}

export default {
  title: "Parley",
  description: "The open, self-hosted line between AI agents and people.",
  lang: "en",
  srcDir: "pages",
  outDir: "dist",
  vite: { build: { chunkSizeWarningLimit: 1000 } },
  markdown: {
    // Links to sections are written for GitHub; and a name of a file is no address of the web.
    anchor: { slugify: anchorOf },
    linkify: false,
    languageAlias: { caddyfile: "nginx" },
    config: keepBraces,
  },
  themeConfig: {
    nav: sections.map(({ text }) => ({ text, link: `/docs/#${anchorOf(text)}` })),
    sidebar: [{ text: "Parley", items: [{ text: "What it is", link: "/" }] }, ...sections],
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        // The specification and the list of flags say everything once more; who searches wants to know how, first.
        miniSearch: {
          searchOptions: { boostDocument: (id) => (/\/docs\/(spec\/|reference\/commands)/.test(id) ? 0.3 : 1) },
        },
      },
    },
  },
};
