import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The SDK as it is published, in a folder of its own. */
export async function builtSdk(): Promise<Disposable & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "parley-built-sdk-"));
  await run(process.execPath, [join(ROOT, "scripts/build-sdk.mjs"), folder]);
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns a program with the packed SDK in it as one module, as a bundler makes it for places that have no packages. */
export async function bundled(entry: string): Promise<string> {
  using sdk = await builtSdk();
  const alias = { "@parley/sdk": join(sdk.folder, "esm/client.js") };
  const made = await build({
    configFile: false,
    logLevel: "error",
    root: ROOT,
    resolve: { alias },
    build: { write: false, lib: { entry: join(ROOT, entry), formats: ["es"], fileName: "program" } },
  });
  const [output] = Array.isArray(made) ? made : [made];
  if (!output || !("output" in output)) throw new Error("nothing was bundled");
  return output.output[0].code;
}
