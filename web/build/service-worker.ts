import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build, type Plugin } from "vite";

/** Builds the service worker as one file of its own, knowing every file of the app and a version made from them. */
export function serviceWorker({ source }: { source: string }): Plugin {
  let outDir = "";
  return {
    name: "parley:service-worker",
    apply: "build",
    configResolved: (config) => void (outDir = join(config.root, config.build.outDir)),
    async writeBundle() {
      const files = readdirSync(outDir, {
        recursive: true,
        withFileTypes: true,
      })
        .filter((entry) => entry.isFile() && !/\.(gz|br|map)$|^sw\.js$/.test(entry.name))
        .map((entry) => relative(outDir, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
        .sort();
      const hash = createHash("sha256");
      for (const file of files) hash.update(file).update(readFileSync(join(outDir, file)));
      await build({
        configFile: false,
        logLevel: "warn",
        define: {
          PRECACHE: JSON.stringify(files),
          VERSION: JSON.stringify(hash.digest("hex").slice(0, 12)),
        },
        build: {
          outDir,
          emptyOutDir: false,
          copyPublicDir: false,
          lib: {
            entry: source,
            formats: ["iife"],
            name: "worker",
            fileName: () => "sw.js",
          },
        },
      });
    },
  };
}
