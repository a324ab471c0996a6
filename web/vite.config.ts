import { defineConfig } from "vite";
import { compressed } from "./build/compressed.ts";
import { fontPreload } from "./build/font-preload.ts";
import { javascriptBudget } from "./build/javascript-budget.ts";
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
      // Preact has the real hook; the shim would bring a second implementation of it.
      {
        find: /^use-sync-external-store\/shim.*$/,
        replacement: "preact/compat",
      },
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
      onwarn(warning, warn) {
        // "use client" means nothing here.
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
  plugins: [
    noPreloading(),
    fontPreload(/inter-latin-wght-normal.*\.woff2$/),
    javascriptBudget({ page: "index.html", limitBytes: 38_000 }),
    serviceWorker({ source: `${here}/src/service-worker.ts` }),
    compressed(),
  ],
});
