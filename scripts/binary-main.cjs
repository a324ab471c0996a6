"use strict";
/**
 * The entry point of the single executable. It holds the files of the package `@parley/parley`, unpacks them once into
 * a folder of the user's cache, and runs the command from there. With `--as-node SCRIPT` it runs a script as Node
 * would,
 * which is how it starts programs of its own (src/lib/own-program.ts).
 */
const { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { homedir, tmpdir, userInfo } = require("node:os");
const { dirname, isAbsolute, join } = require("node:path");
const { getAsset, getAssetKeys, getRawAsset } = require("node:sea");
const { pathToFileURL } = require("node:url");
const { constants, runInThisContext } = require("node:vm");

const AS_NODE = "--as-node";
/** The asset that names what the others are; every other one is a file of the package, by its path there. */
const NAME = "name";

// An executable's own script has no module loader of its own; this is the one that Node's command line has.
const load = runInThisContext("(url) => import(url)", {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});

// The second argument is the executable again, where Node has its script.
if (process.argv[2] === AS_NODE) {
  process.argv.splice(1, 2);
  load(pathToFileURL(process.argv[1]));
} else {
  const folder = unpacked();
  if (folder === null) process.exitCode = 1;
  else createRequire(folder)(join(folder, "bin", "parley.cjs"));
}

/** Returns the folder of the package; null, and says why, where there is no place for it. */
function unpacked() {
  const reasons = [];
  for (const place of places()) {
    try {
      mkdirSync(place, { recursive: true, mode: 0o700 });
      if (!isOurs(place)) throw new Error(`others than this user can write in ${place}`);
      const folder = join(place, getAsset(NAME, "utf8"));
      if (!lstatSync(folder, { throwIfNoEntry: false })) unpack(folder);
      return folder;
    } catch (error) {
      reasons.push(error.message);
    }
  }
  console.error(`parley: its files have no place here (${reasons.join("; ")}); XDG_CACHE_HOME may name another.`);
  return null;
}

/** The user's cache; where that cannot be written, a folder for temporary files. */
function places() {
  const { XDG_CACHE_HOME = "" } = process.env;
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
  return [join(cache, "parley"), join(tmpdir(), `parley-${userInfo().uid}`)];
}

/** Returns whether only this user can write to the place. The files in it are run. */
function isOurs(place) {
  const { uid, mode } = lstatSync(place);
  return uid === process.getuid() && (mode & 0o022) === 0;
}

/** The folder is there whole, also after a loss of power, or not at all. */
function unpack(folder) {
  const { gunzipSync } = require("node:zlib");
  const half = mkdtempSync(`${folder}-`);
  try {
    for (const path of getAssetKeys()) {
      if (path === NAME) continue;
      mkdirSync(dirname(join(half, path)), { recursive: true });
      writeFileSync(join(half, path), gunzipSync(getRawAsset(path)), { flush: true });
    }
    renameSync(half, folder);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    // Another process was first.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  }
}
