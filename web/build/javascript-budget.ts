import { gzipSync } from "node:zlib";
import type { Plugin, Rolldown } from "vite";

/**
 * Fails the build when what a page loads to become usable is larger than the limit, gzipped.
 *
 * Counts the page's entry and everything it imports statically; what loads later, such as the Console, is not counted.
 */
export function javascriptBudget(budget: { page: string; limitBytes: number }): Plugin {
  return {
    name: "parley:javascript-budget",
    apply: "build",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file): file is Rolldown.OutputChunk => file.type === "chunk");
      const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
      const counted = new Set<string>();
      const count = (name: string): number => {
        const chunk = byName.get(name);
        if (!chunk || counted.has(name)) return 0;
        counted.add(name);
        return gzipSync(chunk.code, { level: 9 }).length + chunk.imports.reduce((sum, next) => sum + count(next), 0);
      };
      const bytes = chunks.filter((chunk) => chunk.isEntry).reduce((sum, chunk) => sum + count(chunk.fileName), 0);
      const finding = `${budget.page} loads ${(bytes / 1000).toFixed(1)} kB of JavaScript (gzipped)`;
      if (bytes > budget.limitBytes) this.error(`${finding}, more than ${budget.limitBytes / 1000} kB.`);
      this.info(`${finding}, at most ${budget.limitBytes / 1000} kB.`);
    },
  };
}
