import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleHook } from "./bundle-hook.mjs";
import { bundleServer } from "./bundle-server.mjs";
import { dependenciesOf, noticesOf } from "./licence-notices.mjs";
import { publishedMetadata } from "./published-metadata.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { description } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** The folder is the package `@parley/parley` as it is published: the server and its command line, with the web app. */
export async function makeServerPackage(folder) {
  mkdirSync(join(folder, "bin"), { recursive: true });
  const bundled = await bundleServer(folder);
  await bundleHook(join(folder, "bin", "hook", "parley.cjs"));
  const shown = [...dependenciesOf(join(ROOT, "web"))].filter((place) => !place.startsWith(join(ROOT, "sdk")));
  const isOurs = (place) => place.includes(join("node_modules", "@parley"));
  const folders = [...new Set([...bundled, ...shown])].filter((place) => !isOurs(place));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), `${noticesOf(folders)}\n`);
  cpSync(join(ROOT, "scripts", "parley.cjs"), join(folder, "bin", "parley.cjs"));
  chmodSync(join(folder, "bin", "parley.cjs"), 0o755);
  cpSync(join(ROOT, "scripts", "package-readme.md"), join(folder, "README.md"));
  const manifest = {
    name: "@parley/parley",
    description,
    ...publishedMetadata(),
    type: "module",
    bin: { parley: "bin/parley.cjs" },
    // It is a program: nothing of it is imported.
    exports: { "./package.json": "./package.json" },
    engines: { node: ">=24" },
    files: ["bin", "lib", "prompts", "swagger-ui", "web", "policy.assignment.yaml", "THIRD-PARTY-NOTICES.txt"],
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
