/**
 * Loaded into each process of tests: a file that runs alone is held to its size, and one that does not end after its last
 * test, because a program or a socket was left open, fails with a word about it, instead of holding up the whole run.
 */
import { after } from "node:test";
import { holdTo, sizeOf } from "./test-size.mjs";

const ENDS_WITHIN_MS = Number(process.env.TEST_FILE_ENDS_WITHIN_MS ?? 60_000);

if (process.env.NODE_TEST_CONTEXT) {
  const [, program = ""] = process.argv;
  if (program.endsWith(".test.ts")) holdTo(sizeOf(program));
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(", ");
      console.error(`The file did not end within ${ENDS_WITHIN_MS / 1000} s of its last test. Still open: ${open}`);
      process.exit(1);
    }, ENDS_WITHIN_MS).unref();
  });
}
