import type { Plugin } from "vite";

/** Replaces the code by which Vite looks for files to load first: here those are style sheets alone. */
const LOADER = `
const page = document.querySelectorAll("link[rel=stylesheet]");
const sheets = new Map(Array.from(page, (link) => [link.getAttribute("href").slice(1), true]));
function wear(file) {
  let sheet = sheets.get(file);
  if (!sheet) {
    const link = document.createElement("link");
    sheet = new Promise((resolve, reject) => {
      link.onload = resolve;
      link.onerror = () => {
        link.remove();
        sheets.delete(file);
        reject(new Error("Could not load " + file));
      };
    });
    sheets.set(file, sheet);
    link.rel = "stylesheet";
    link.href = "/" + file;
    document.head.append(link);
  }
  return sheet;
}
export const __vitePreload = async (load, files = []) => (await Promise.all([load(), ...files.map(wear)]))[0];
`;

/**
 * A part of the app that is loaded later is there once its style sheets are, so nothing is ever drawn without them. The
 * sheets of the parts that it shares with others come before its own, as in the order of the imports.
 */
export function stylesFirst(): Plugin {
  return {
    name: "parley:styles-first",
    apply: "build",
    enforce: "pre",
    load: (id) => (id === "\0vite/preload-helper.js" ? LOADER : null),
  };
}
