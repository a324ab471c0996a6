import { defineConfig } from "vite";
import { compressed } from "./build/compressed.ts";
import { fontPreload } from "./build/font-preload.ts";
import { javascriptBudget } from "./build/javascript-budget.ts";
import { noMutations } from "./build/no-mutations.ts";
import { noPreloading } from "./build/no-preloading.ts";

import { serviceWorker } from "./build/service-worker.ts";

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  resolve: {
    alias: [
      { find: /^react$/, replacement: "preact/compat" },
      { find: /^react-dom$/, replacement: "preact/compat" },
      { find: /^react-dom\/client$/, replacement: "preact/compat/client" },
      { find: /^react\/jsx-runtime$/, replacement: "preact/jsx-runtime" },
    ],
  },
  css: { modules: { generateScopedName: "[hash:base64:4]" } },
  build: {
    target: ["chrome123", "safari17.5", "firefox128"],
    // One style sheet and no preloading: the Console is the only thing that loads later, and it is one small file.
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // All that Answer needs at once is one file, with what other places share with it: it compresses best as a whole.
      output: { codeSplitting: { groups: [{ name: "app", test: /\/src\/main\.tsx$/ }] } },
      onwarn(warning, warn) {
        // "use client" means nothing here.
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
  plugins: [
    noMutations(),
    noPreloading(),
    fontPreload(/inter-latin-wght-normal.*\.woff2$/),
    javascriptBudget({ page: "index.html", limitBytes: 32_000 }),
    serviceWorker({ source: `${here}/src/service-worker.ts` }),
    compressed(),
  ],
});
