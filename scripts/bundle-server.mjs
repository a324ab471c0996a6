/** Compiles the server and its command line to JavaScript, with every package they use bundled in. */
import { cpSync, readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { MODULES_OF_JSONC } from "./bundle-hook.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SRC = join(ROOT, "src");
const PACKAGES = join(ROOT, "node_modules");

/** Runs in a jail that holds nothing else. */
const ALONE = "workshop/sandbox/launcher.ts";

/** How a source names a file by its address, which is relative to that of the source. */
const FILE_ADDRESS = /new URL\(\s*"(\.[^"]*)",\s*import\.meta\.url,?\s*\)/g;

/** The command line, and whatever a source names as a file: programs of their own, threads, what a jail gets. */
const PROGRAMS = ["main.ts", ...sourcesNamedAsFiles().filter((path) => path !== ALONE)];

/** Optional parts of packages that are not there, whose absence those packages take. */
const ABSENT = ["pg-native", "pg-cloudflare", "cloudflare:sockets"];

/** The expressions in the sources that locate installed packages, and their replacements in the bundle. */
const ABOUT_PACKAGES = {
  "protocols/ops/reference-page.ts": [
    'new URL("./static/", import.meta.resolve("@fastify/swagger-ui"))',
    'new URL("../swagger-ui/", import.meta.url)',
  ],
  "lib/installed.ts": ["import.meta.resolve(name);", "void name;"],
};

/**
 * The folder `to` is the package's: its `lib/` holds the compiled server, and beside it stand the files that it reads.
 * Every module of `lib/` is in that one folder, so that what one says of its own address is true of all.
 *
 * @returns the folders of the packages that were bundled
 */
export async function bundleServer(to) {
  const input = Object.fromEntries(PROGRAMS.map((path) => [nameOf(path), join(SRC, path)]));
  const folders = new Set();
  for (const [programs, options] of [
    [input, {}],
    [{ [nameOf(ALONE)]: join(SRC, ALONE) }, { codeSplitting: false }],
  ]) {
    const bundle = await rolldown({
      input: programs,
      platform: "node",
      external: ABSENT,
      resolve: { alias: { "jsonc-parser": MODULES_OF_JSONC } },
      plugins: [placesOfFiles(), httpWithoutFetch()],
      // A CommonJS package that names itself, and other things that packages do on purpose.
      logLevel: "silent",
    });
    const { output } = await bundle.write({
      dir: join(to, "lib"),
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      comments: false,
      keepNames: true,
      ...options,
    });
    await bundle.close();
    for (const { moduleIds = [] } of output) for (const id of moduleIds) folders.add(packageOf(id));
  }
  copyFiles(to);
  folders.delete(null);
  return [...folders, join(PACKAGES, "@fastify", "swagger-ui")].sort();
}

function copyFiles(to) {
  const wasm = join(PACKAGES, "@jitl", "quickjs-wasmfile-release-sync", "dist", "emscripten-module.wasm");
  cpSync(wasm, join(to, "lib", "emscripten-module.wasm"));
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js"]) {
    cpSync(join(PACKAGES, "@fastify", "swagger-ui", "static", name), join(to, "swagger-ui", name));
  }
  const isTest = (path) => path === join(ROOT, "prompts", "golden");
  cpSync(join(ROOT, "prompts"), join(to, "prompts"), { recursive: true, filter: (path) => !isTest(path) });
  cpSync(join(ROOT, "web", "dist"), join(to, "web", "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith(".built-from"),
  });
  for (const name of ["policy.assignment.yaml", "LICENSE"]) cpSync(join(ROOT, name), join(to, name));
}

/** `workshop/supervisor/supervisor-main.ts` is `supervisor-main`. */
function nameOf(path) {
  return path.split("/").at(-1).replace(/\.ts$/, "");
}

/**
 * Loads `node:http` without the WebSocket that its import as an ES module brings. With WebSocket comes Node's whole
 * HTTP
 * client, which costs a start 60 ms. The other members of the module are taken from `process.getBuiltinModule`.
 */
function httpWithoutFetch() {
  const names = Object.keys(http).filter(
    (name) => !["WebSocket", "CloseEvent", "MessageEvent", "default"].includes(name),
  );
  return {
    name: "http-without-fetch",
    resolveId: (id) => (id === "node:http" || id === "http" ? "\0http" : null),
    load: (id) =>
      id === "\0http"
        ? `const http = process.getBuiltinModule("node:http");
           export const { ${names.join(", ")} } = http;
           export default http;`
        : null,
  };
}

/** Turns addresses relative to a source file into ones relative to `lib/`. */
function placesOfFiles() {
  return {
    name: "places-of-files",
    transform(code, id) {
      if (!id.startsWith(SRC + sep)) return null;
      const path = relative(SRC, id).replaceAll(sep, "/");
      let text = code.replace(FILE_ADDRESS, (_, address) => {
        return `new URL("${placeOf(resolve(dirname(id), address), address)}", import.meta.url)`;
      });
      const about = ABOUT_PACKAGES[path];
      if (about && !text.includes(about[0])) throw new Error(`src/${path} no longer says ${about[0]}`);
      if (about) text = text.replace(about[0], about[1]);
      const left = text.match(/import\.meta\.(?!url\b)\w+|(?<!URL\("[^"]*", )import\.meta\.url/);
      if (left) throw new Error(`src/${path} names a file in a way that the bundle does not know: ${left[0]}`);
      return text === code ? null : { code: text, map: null };
    },
  };
}

function placeOf(target, address) {
  const slash = address.endsWith("/") ? "/" : "";
  if (target === SRC) return "./";
  if (!target.startsWith(SRC + sep)) return `../${relative(ROOT, target).replaceAll(sep, "/")}${slash}`;
  const path = relative(SRC, target).replaceAll(sep, "/");
  return `./${nameOf(path)}.js`;
}

/**
 * Returns the sources that other sources name by their address. A program that is started otherwise is not found, and
 * any other use of `import.meta` is refused below.
 *
 * @throws {Error} where two have one name: the compiled ones all stand in one folder
 */
function sourcesNamedAsFiles() {
  const named = readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const found = readFileSync(join(SRC, path), "utf8").matchAll(FILE_ADDRESS);
      return [...found].map(([, address]) => resolve(dirname(join(SRC, path)), address));
    })
    .filter((path) => path.startsWith(SRC + sep) && path.endsWith(".ts"));
  const paths = [...new Set(named)].map((path) => relative(SRC, path).replaceAll(sep, "/")).sort();
  const [twice] = paths.filter((path, i) => paths.findIndex((other) => nameOf(other) === nameOf(path)) !== i);
  if (twice) throw new Error(`src/${twice} is named as a file, and so is another file of that name`);
  return paths;
}

/** The folder of the package that a module belongs to; null where it is of Parley's own. */
function packageOf(id) {
  return /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1] ?? null;
}
