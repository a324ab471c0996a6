/** Builds @parley/adapters as it is published, in `adapters/dist`, or in the folder that is named as its one argument. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPackage } from "./build-package.mjs";

const ADAPTERS = fileURLToPath(new URL("../adapters", import.meta.url));
const DIST = resolve(process.argv[2] ?? join(ADAPTERS, "dist"));
const { version } = JSON.parse(readFileSync(join(ADAPTERS, "..", "sdk", "package.json"), "utf8"));

/**
 * The peer dependencies. A user of a framework has it installed, in a version that the tests have tried or a later
 * compatible one.
 */
const FRAMEWORKS = {
  "@langchain/core": "^1.2.0",
  "@langchain/langgraph": "^1.4.0",
  "@openai/agents": ">=0.20.0",
  ai: "^7.0.0",
};

buildPackage(ADAPTERS, DIST, {
  peerDependencies: { "@parley/sdk": `^${version}`, ...FRAMEWORKS },
  peerDependenciesMeta: Object.fromEntries(Object.keys(FRAMEWORKS).map((name) => [name, { optional: true }])),
});
