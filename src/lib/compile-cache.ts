import { enableCompileCache, flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/** Beside the packages, where only those can write who can change the program itself. */
const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/parley", import.meta.url));

/**
 * From now on Node keeps what it compiles, and takes it from there the next time: a start costs about half the processor
 * time. A module that has changed is compiled anew; where the folder cannot be written, everything is, each time.
 * `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE=1` none. Call it before the modules are loaded.
 */
export function keepCompiled(): void {
  enableCompileCache(FOLDER);
}

/** Writes the code compiled so far to the cache folder. Node writes it only when the process ends by itself. */
export function writeCompiled(): void {
  flushCompileCache();
}
