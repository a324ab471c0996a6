import type { Plugin } from "vite";

/** Removes the code that looks for files to load first: each file that is loaded later needs no other. */
export function noPreloading(): Plugin {
  return {
    name: "parley:no-preloading",
    apply: "build",
    enforce: "pre",
    load(id) {
      if (id === "\0vite/preload-helper.js") return "export const __vitePreload = (load) => load();";
      return null;
    },
  };
}
