import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Programs from npm that measure, or are measured, and their versions. */
export const PEERS = {
  "@restatedev/restate-server": "1.7.12",
  "@restatedev/restate-sdk": "1.17.2",
  "@dbos-inc/dbos-sdk": "5.3.0",
  lighthouse: "13.5.0",
} as const;

type Peer = keyof typeof PEERS;

/** Installs packages from npm into a folder of their own, without their scripts. @throws where npm fails, with its words */
export function installPeers(folder: string, peers: readonly Peer[]): void {
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  try {
    execFileSync("npm", [...words, ...peers.map((peer) => `${peer}@${PEERS[peer]}`)], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`npm did not install ${peers.join(", ")}: ${stderr?.trim() || String(error)}`, { cause: error });
  }
}

/** Returns the path of a file of a package that is installed in `folder`. @throws where it is missing */
export function fileOf(folder: string, path: string): string {
  return createRequire(join(folder, "package.json")).resolve(path);
}

/** Imports a package that is installed in `folder`. */
export async function importFrom(folder: string, peer: Peer): Promise<unknown> {
  return import(pathToFileURL(fileOf(folder, peer)).href);
}
