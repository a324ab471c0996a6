import { readFileSync } from "node:fs";

const MANIFEST = new URL("../package.json", import.meta.url);

/**
 * Returns what the package.json of each published package says alike. Where its sources are to be found is said in the
 * package.json of this checkout (`repository`, `homepage`, `bugs`), once there is such a place, and nowhere else.
 */
export function publishedMetadata() {
  const { version, license, repository, homepage, bugs } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  return {
    version,
    license,
    repository,
    homepage,
    bugs,
    keywords: ["agents", "approval", "human-in-the-loop", "mcp", "self-hosted"],
    // A package whose name has a scope is private otherwise.
    publishConfig: { access: "public" },
  };
}
