/** Writes the program of hooks for this checkout, or into the file that is named as the one argument. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleHook } from "./bundle-hook.mjs";

const [file = fileURLToPath(new URL("../bin/hook/parley.cjs", import.meta.url))] = process.argv.slice(2);
await bundleHook(resolve(file));
