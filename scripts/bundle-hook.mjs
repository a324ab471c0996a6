/** Compiles the program of hooks (src/hook.ts) into one file of plain JavaScript, which loads parts of Node alone. */
import { mkdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Its CommonJS form asks for its own files in a way that no bundler reads. */
export const MODULES_OF_JSONC = join(ROOT, "node_modules", "jsonc-parser", "lib", "esm", "main.js");

/** A Node of any age reads these lines. A hook that failed must not let a tool run: every agent takes 2 as a no. */
const OLD_NODE = `"use strict";
if (parseInt(process.versions.node, 10) < 24) {
  console.error("Parley denied it: its hook needs Node 24 or newer, and " + process.execPath + " is " + process.version +
    ": run parley connect with the new one.");
  process.exit(2);
}`;

/** Each part of Node is loaded when it is first used: what one prompt does not need would cost each of them. */
const LATE_PARTS = {
  name: "late-parts",
  renderChunk(code) {
    const names = new Map();
    const rest = code.replaceAll(/^let (node_\w+) = require\("(node:[\w/]+)"\);\n/gm, (_line, name, part) => {
      names.set(name, part);
      return "";
    });
    return rest.replaceAll(/\bnode_\w+\b/g, (name) => (names.has(name) ? `require("${names.get(name)}")` : name));
  },
};

const STARTED = "if (require.main === module) exports.decideHook(process.argv.slice(2));";

/** @throws {Error} where it would load anything but parts of Node */
export async function bundleHook(file) {
  mkdirSync(dirname(file), { recursive: true });
  const bundle = await rolldown({
    input: join(ROOT, "src", "hook.ts"),
    platform: "node",
    resolve: { alias: { "jsonc-parser": MODULES_OF_JSONC } },
    transform: { target: "es2022" },
    logLevel: "silent",
    plugins: [LATE_PARTS],
  });
  const { output } = await bundle.write({
    file,
    format: "cjs",
    codeSplitting: false,
    comments: false,
    banner: OLD_NODE,
    footer: STARTED,
  });
  await bundle.close();
  const [{ imports }] = output;
  const foreign = imports.filter((name) => !isBuiltin(name));
  if (output.length > 1 || foreign.length > 0)
    throw new Error(`The program of hooks would load ${foreign.join(", ")}.`);
}
