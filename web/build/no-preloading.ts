import type { Plugin } from "vite";

/** What loads later is one file that needs no other, so the code that looks for files to load before it can go. */
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
