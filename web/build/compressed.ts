import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Every text file also stands beside itself as `.br` and `.gz`, so the server never compresses anything. */
export function compressed(): Plugin {
  let outDir = "";
  return {
    name: "parley:compressed",
    apply: "build",
    configResolved: (config) => void (outDir = join(config.root, config.build.outDir)),
    writeBundle: {
      order: "post",
      sequential: true,
      handler() {
        for (const entry of readdirSync(outDir, {
          recursive: true,
          withFileTypes: true,
        })) {
          if (!entry.isFile() || !/\.(js|css|html|svg|webmanifest)$/.test(entry.name)) continue;
          const file = join(entry.parentPath, entry.name);
          const text = readFileSync(file);
          writeFileSync(`${file}.br`, brotliCompressSync(text));
          writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
        }
      },
    },
  };
}
