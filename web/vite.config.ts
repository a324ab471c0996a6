import { defineConfig } from "vite";
import { compressed } from "./build/compressed.ts";
import { fontPreload } from "./build/font-preload.ts";
import { noMutations } from "./build/no-mutations.ts";

import { serviceWorker } from "./build/service-worker.ts";
import { stylesFirst } from "./build/styles-first.ts";
import { weights } from "./build/weights.ts";

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
    modulePreload: false,
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
    stylesFirst(),
    fontPreload(/inter-latin-wght-normal.*\.woff2$/),
    weights([
      // With theme.js, which is loaded before it, 32 kB.
      { name: "Answer", module: "src/main.tsx", scripts: 31_740, styles: 4_000 },
      { name: "its list", module: "src/answer/list.tsx", scripts: 2_000, styles: 1_000 },
      { name: "Inbox", module: "src/inbox/inbox.tsx", scripts: 16_900, styles: 3_000 },
      { name: "Inbox with a request", module: "src/inbox/ask.tsx", scripts: 20_000, styles: 5_000 },
      { name: "Run", module: "src/console/console.tsx", scripts: 48_600, styles: 5_000 },
    ]),
    serviceWorker({ source: `${here}/src/service-worker.ts` }),
    compressed(),
  ],
});
