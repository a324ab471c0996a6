/**
 * Prepares the environment of the tests, whichever command runs them: parts beyond npm, a PostgreSQL, temporary files
 * in memory, and Node's compile cache.
 */
import { openMemoryFolder } from "../test/support/memory.ts";
import { MISSING_VARIABLE } from "../test/support/parts.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { bringParts } from "./bring-parts.mjs";
import { COMPILE_CACHE } from "./test-files.mjs";

/**
 * Returns the environment in which test files run, what is missing in it, and how to end it. Parts beyond npm are looked
 * for and brought for large tests alone. A run within a run has what the outer one found and started. With `onDisk`,
 * temporary files stay where the system has them.
 */
export async function openTestEnvironment({ onDisk = false, needsParts = true } = {}) {
  const found = process.env[MISSING_VARIABLE];
  const missing = found === undefined && needsParts ? await bringParts() : [];
  const reasons = found ?? JSON.stringify(Object.fromEntries(missing.map(({ part, why }) => [part.name, why])));
  const given = process.env.TEST_DATABASE_URL;
  const postgres = given ? { url: given, stop: async () => {} } : await startPostgres({ inMemory: true });
  const temporary = found === undefined && !onDisk ? openMemoryFolder() : null;
  const env = {
    ...process.env,
    ...(temporary && { TMPDIR: temporary.path }),
    TEST_DATABASE_URL: postgres.url,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...(needsParts && { [MISSING_VARIABLE]: reasons }),
  };
  const stop = async () => {
    await postgres.stop();
    await temporary?.remove();
  };
  return { env, missing, stop };
}
