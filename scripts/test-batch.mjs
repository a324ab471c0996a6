/**
 * Runs several test files in one process, one after another, each as a suite of its own that bears its path. Shared
 * modules are loaded and compiled once, which saves a third of the time of most files. Whatever a file leaves in the
 * process, such as a variable of the environment, affects the next file.
 */
import { after, describe } from "node:test";
import { fileURLToPath } from "node:url";
import { holdTo } from "./test-size.mjs";
import { endShared, share } from "../test/support/shared.ts";

const ROOT = new URL("../", import.meta.url);

/** Declares the tests of these files, all of one size, which the process is held to. */
export function runTogether(size, files) {
  holdTo(size);
  process.chdir(fileURLToPath(ROOT));
  share();
  after(endShared);
  for (const file of files) {
    describe(file, async () => {
      await import(new URL(file, ROOT).href);
    });
  }
}
