import { gzipSync } from "node:zlib";
import type { Plugin, Rolldown } from "vite";

/** A place of the app, the module with which it begins, and the most that it may load, in bytes, gzipped. */
export interface PlaceWeight {
  name: string;
  module: string;
  scripts: number;
  styles: number;
}

type Kind = "scripts" | "styles";

/**
 * Fails the build when what a place loads to be usable is larger than its limit.
 *
 * Counts the place's module and everything it imports statically, with their style sheets; what waits for an action of
 * the reader is not counted. The first place is the one that every other is added to.
 */
export function weights([first, ...added]: readonly [PlaceWeight, ...PlaceWeight[]]): Plugin {
  return {
    name: "parley:weights",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const base = filesOf(bundle, first.module);
        for (const place of [first, ...added]) {
          const known = place === first ? new Set<string>() : base;
          for (const kind of ["scripts", "styles"] as const) {
            const files = [...filesOf(bundle, place.module)].filter((file) => !known.has(file));
            const bytes = sum(bundle, files, kind);
            const finding = `${place.name}: ${(bytes / 1000).toFixed(3)} kB of ${kind} (gzipped)`;
            if (bytes === 0 || bytes > place[kind]) this.error(`${finding}, not up to ${place[kind] / 1000} kB.`);
            this.info(`${finding}, at most ${place[kind] / 1000} kB.`);
          }
        }
      },
    },
  };
}

/** The names of the files that a module needs at once. */
function filesOf(bundle: Rolldown.OutputBundle, module: string): Set<string> {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const begin = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/${module}`)));
  const found = new Set<string>();
  const add = (name: string | undefined): void => {
    const chunk = chunks.find(({ fileName }) => fileName === name);
    if (!chunk || found.has(chunk.fileName)) return;
    found.add(chunk.fileName);
    for (const sheet of chunk.viteMetadata?.importedCss ?? []) found.add(sheet);
    chunk.imports.forEach(add);
  };
  add(begin?.fileName);
  return found;
}

function sum(bundle: Rolldown.OutputBundle, files: readonly string[], kind: Kind): number {
  return files
    .map((name) => bundle[name])
    .filter((file) => file?.type === (kind === "scripts" ? "chunk" : "asset"))
    .map((file) => (file?.type === "chunk" ? file.code : (file?.source ?? "")))
    .reduce((bytes, text) => bytes + gzipSync(text, { level: 9 }).length, 0);
}
