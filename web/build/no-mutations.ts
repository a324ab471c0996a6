import type { Plugin } from "vite";

/** Leaves the mutations of the query client out: the app writes through the SDK, and reads anew. */
export function noMutations(): Plugin {
  return {
    name: "parley:no-mutations",
    apply: "build",
    enforce: "pre",
    load(id) {
      if (!/query-core\/.*\/mutationCache\.js$/.test(id)) return null;
      return "export class MutationCache { clear() {} findAll() { return []; } async resumePausedMutations() {} }";
    },
  };
}
