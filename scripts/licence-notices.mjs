/**
 * Collects the notices that the licences of bundled packages ask for: the packages' names and the texts to ship with
 * them.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(?!.*\.(js|ts|json)$)/i;

/**
 * Returns the notices of the packages in these folders, as one text.
 *
 * @throws {Error} where a package names no licence
 */
export function noticesOf(folders) {
  const packages = new Map(folders.map((folder) => [folder, readJson(join(folder, "package.json"))]));
  const sorted = [...packages].sort(([, one], [, other]) => (named(one) < named(other) ? -1 : 1));
  return [
    "Parley contains these packages, each under its own licence.",
    ...new Set(sorted.map(([folder, manifest]) => noticeOf(folder, manifest))),
  ].join(`\n\n${"-".repeat(80)}\n\n`);
}

/** Returns the folders of everything that a package depends on, wherever it is installed. */
export function dependenciesOf(folder, found = new Set()) {
  for (const name of Object.keys(readJson(join(folder, "package.json")).dependencies ?? {})) {
    const installed = placeOf(name, folder);
    if (installed === null || found.has(installed)) continue;
    found.add(installed);
    dependenciesOf(installed, found);
  }
  return found;
}

function placeOf(name, from) {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const place = join(folder, "node_modules", ...name.split("/"));
    if (existsSync(join(place, "package.json"))) return place;
  }
  return null;
}

function noticeOf(folder, manifest) {
  const licence = manifest.license ?? manifest.licenses?.map(({ type }) => type).join(" or ");
  if (!licence) throw new Error(`${named(manifest)} names no licence`);
  const texts = readdirSync(folder)
    .filter((name) => LICENCE_FILE.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8").trim());
  return [`${named(manifest)} (${licence.type ?? licence})`, ...texts].join("\n\n");
}

function named({ name, version }) {
  return `${name} ${version}`;
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
